"""Why a point is invalid: reason codes, each with one sentence for people. An invalid point is stored, never dropped.

Belongs here: the rules that a row of POINTS proves by itself. Not here: notes, which do not invalidate (notes.py),
and what only per-request arrays show (client.py), whose codes arrive in the row's ``reasons`` and are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_FAILED_SHARE_FIXED = 0.05
MAX_FAILED_SHARE_AGENTIC = 0.10
TTFT_BOUNDS_S = (1e-4, 3_600.0)
TPOT_BOUNDS_S = (1e-5, 10.0)
MAX_THROUGHPUT_TOK_S_GPU = 2_000_000.0
"""About five times the largest published peak, which counts cached prompt tokens (406,374 tok/s/GPU)."""

REASONS: Mapping[str, str] = {
    "outcome_sum": "Requested is not successful + failed + cancelled.",
    "no_success": "No request succeeded.",
    "too_many_failed": "Too many requests failed: over 5 % of requested (fixed length) or 10 % of completed (agentic).",
    "interactivity_missing": "The source has no time per output token.",
    "percentile_missing": "The source has no time per output token at the workload's percentile.",
    "n_gpus_unknown": "The number of GPUs held is neither recorded nor declared, so there is no throughput per GPU.",
    "throughput_missing": "The source has no throughput, and no tokens and window to compute it from.",
    "implausible_ttft": "A time to first token outside 0.1 ms to 1 h.",
    "implausible_tpot": "A time per output token outside 10 µs to 10 s.",
    "implausible_throughput": "A throughput per GPU that is not positive, or above 2,000,000 tok/s.",
    "metric_not_finite": "A metric of the source is NaN or infinite.",
    "summary_mismatch": "The source's statistics differ by more than 1 % from its own requests.",
    "tpot_contradicted": "The source's time per output token contradicts its latencies and output lengths.",
    "client_bound": "Whole outputs arrived in one socket read: the client was measured, not the engine.",
    "token_count_mismatch": "Client and server count tokens that differ by over 2 %, or more than sent or allowed.",
    "counters_disagree": "The engine's own token counters and the client's requests differ by over 2 %.",
    "unexpected_cache_hits": "Over 2 % of the input came from the prefix cache, of a load that shares no prefixes.",
    "off_target_concurrency": "Fewer than 90 % of the target concurrency were in flight while the client was sending.",
    "throttled": "The device lowered its clocks for heat or for a hardware fault in over 5 % of the samples.",
    "shared_device": "Processes that are not of this sweep used the device.",
    "engine_ended": "The server ended before the point did.",
    "load_ended": "The load client ended before all repeats were done, and the server went on.",
    "duplicate_row": "The same measurement is already there from another source row.",
}


def reasons_for(row: Mapping[str, Any]) -> list[str]:
    """The reason codes of a row of POINTS columns, sorted; empty for a valid point.

    A missing key reads as null. Codes already in ``row["reasons"]`` are kept. Where nothing succeeded the absent
    metrics have their explanation, and no further code is given for them. The failure rule follows ``percentile``:
    90 is agentic, 50 is fixed length.
    """
    found = set(row.get("reasons") or ())
    found |= _outcome_reasons(row)
    if "no_success" not in found:
        found |= _speed_reasons(row) | _throughput_reasons(row) | _plausibility_reasons(row)
    return sorted(found)


def sentence(code: str) -> str:
    """The sentence of a reason code. Raises KeyError for a code that is none."""
    return REASONS[code]


def _outcome_reasons(row: Mapping[str, Any]) -> set[str]:
    requested, successful, failed = (row.get(key) for key in ("n_requested", "n_successful", "n_failed"))
    found = set()
    if requested is not None and successful is not None and failed is not None:
        ended = successful + failed + (row.get("n_cancelled") or 0)
        found |= {"outcome_sum"} if requested != ended else set()
    if successful == 0:
        found.add("no_success")
    if failed and _failed_share(row, failed) > _max_failed_share(row):
        found.add("too_many_failed")
    return found


def _failed_share(row: Mapping[str, Any], failed: int) -> float:
    completed = (row.get("n_successful") or 0) + failed
    of = completed if _is_agentic(row) else row.get("n_requested") or completed
    return float(failed / of)


def _max_failed_share(row: Mapping[str, Any]) -> float:
    return MAX_FAILED_SHARE_AGENTIC if _is_agentic(row) else MAX_FAILED_SHARE_FIXED


def _is_agentic(row: Mapping[str, Any]) -> bool:
    return row.get("percentile") == 90


def _speed_reasons(row: Mapping[str, Any]) -> set[str]:
    if row.get("interactivity_tok_s_user") is not None:
        return set()
    others = [key for key in row if key.startswith("tpot_") and row[key] is not None]
    return {"percentile_missing" if others else "interactivity_missing"}


def _throughput_reasons(row: Mapping[str, Any]) -> set[str]:
    if row.get("throughput_tok_s_gpu") is not None:
        return set()
    return {"n_gpus_unknown" if row.get("n_gpus") is None else "throughput_missing"}


def _plausibility_reasons(row: Mapping[str, Any]) -> set[str]:
    found = set()
    if _any_outside(row, "ttft", TTFT_BOUNDS_S):
        found.add("implausible_ttft")
    speed = row.get("interactivity_tok_s_user")
    slowest, fastest = 1 / TPOT_BOUNDS_S[1], 1 / TPOT_BOUNDS_S[0]
    if _any_outside(row, "tpot", TPOT_BOUNDS_S) or (speed is not None and not slowest <= speed <= fastest):
        found.add("implausible_tpot")
    throughput = row.get("throughput_tok_s_gpu")
    if throughput is not None and not 0 < throughput <= MAX_THROUGHPUT_TOK_S_GPU:
        found.add("implausible_throughput")
    return found


def _any_outside(row: Mapping[str, Any], latency: str, bounds: tuple[float, float]) -> bool:
    low, high = bounds
    values = [row.get(f"{latency}_{statistic}_s") for statistic in ("mean", "p50", "p75", "p90", "p95", "p99")]
    return any(value is not None and not low <= value <= high for value in values)
