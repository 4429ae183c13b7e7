"""The engine's own counters, from its Prometheus text before and after a point, and whether the client agrees.

Belongs here: vLLM's and SGLang's names, differences, reconciliation. Not here: fetching the text (the server's
resource), and what becomes of a disagreement in a point (pipeline/sweep/measured.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from pipeline.measure.client import TEMPLATE_TOK

MAX_DISAGREEMENT = 0.02
MAX_UNEXPECTED_HIT_SHARE = 0.02

COUNTERS: Mapping[str, tuple[str, ...]] = {
    "input_tok": ("vllm:prompt_tokens_total", "sglang:prompt_tokens_total"),
    "output_tok": ("vllm:generation_tokens_total", "sglang:generation_tokens_total"),
    "cached_input_tok": (
        *("vllm:prompt_tokens_cached_total", "sglang:cached_tokens_total"),
        "vllm:prefix_cache_hits_total",
    ),
    "n_preemptions": ("vllm:num_preemptions_total", "sglang:num_retracted_requests_total"),
    "n_requests": ("vllm:time_to_first_token_seconds_count", "sglang:num_requests_total"),
}
"""Sample names of each counter; the first that is there counts, summed over its labels (ranks, cache tiers).

Requests are counted where their tokens are: by vLLM at the first token, by SGLang at the end, a cancelled one included.
"""

N_WAITING = ("vllm:num_requests_waiting", "sglang:num_queue_reqs")
KV_USAGE_SHARE = ("vllm:kv_cache_usage_perc", "sglang:token_usage")
LAZY = "sglang:"
"""The engine whose counters appear with their first count: beside others of it, an absent one is 0."""


@dataclass(frozen=True)
class Counters:
    """One reading of /metrics. None: the engine does not say. The gauges are of the moment of the reading."""

    input_tok: int | None
    output_tok: int | None
    cached_input_tok: int | None
    n_preemptions: int | None
    n_waiting: int | None
    kv_usage_share: float | None
    n_requests: int | None = None


@dataclass(frozen=True)
class Rise:
    """What the counters rose by over a point, warm-up included; None: not said, or the engine started anew."""

    input_tok: int | None = None
    output_tok: int | None = None
    cached_input_tok: int | None = None
    n_preemptions: int | None = None
    n_requests: int | None = None


def read_counters(text: str) -> Counters:
    """The counters of one Prometheus text. A text that cannot be parsed says nothing: every value is None."""
    samples = _samples(text)
    counts = {name: _counted(samples, spellings) for name, spellings in COUNTERS.items()}
    waiting, usage = _first(samples, N_WAITING), _first(samples, KV_USAGE_SHARE)
    return Counters(
        **counts,
        n_waiting=None if waiting is None else round(sum(waiting)),
        kv_usage_share=None if usage is None else max(usage),
    )


def rise(before: Counters | None, after: Counters | None) -> Rise:
    """After − before. A counter that fell is None: it belongs to another start of the engine."""
    if before is None or after is None:
        return Rise()
    return Rise(**{name: _difference(getattr(before, name), getattr(after, name)) for name in COUNTERS})


def disagreement(counted: Rise, requests: Iterable[Mapping[str, Any]]) -> tuple[set[str], set[str]]:
    """Reasons and notes from the engine's counters beside the client's requests, warm-up included in both.

    Where every request ended ok the two must agree within 2 %; otherwise the engine also counted what failed or was
    cancelled, so that the client's sum is a lower bound: below it is a reason, above it a note with the share. The
    load client drops what it cancels at the end of a phase: where the engine served more requests than were recorded,
    that is noted, and the sum is a lower bound too. More cached than sent is a reason. No reason and no note where the
    engine does not say.
    """
    rows = list(requests)
    n_unrecorded = max(0, (counted.n_requests or 0) - len(rows))
    all_ok = not n_unrecorded and all(row["outcome"] == "ok" for row in rows)
    reasons: set[str] = set()
    notes = {f"requests_unrecorded={n_unrecorded}"} if n_unrecorded else set()
    for name in ("input_tok", "output_tok"):
        share = _excess_share(getattr(counted, name), rows, name)
        if share is None or abs(share) <= MAX_DISAGREEMENT:
            continue
        if all_ok or share < 0:
            reasons.add("counters_disagree")
        else:
            notes.add(f"counters_above_requests={share:.0%}")
    if counted.cached_input_tok and counted.cached_input_tok > (counted.input_tok or counted.cached_input_tok):
        reasons.add("counters_disagree")
    return reasons, notes


def unexpected_hits(input_tok: int | None, cached_input_tok: int | None, n_requests: int) -> bool:
    """True where over 2 % of the input of a load without shared prefixes came from the cache: unexpected_cache_hits.

    The first tokens of every prompt, the chat template, may be shared: up to 32 a request do not count.
    """
    if not input_tok or not cached_input_tok:
        return False
    return cached_input_tok - TEMPLATE_TOK * n_requests > MAX_UNEXPECTED_HIT_SHARE * input_tok


def _samples(text: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found.setdefault(sample.name, []).append(sample.value)
    except ValueError:
        return {}
    return found


def _counted(samples: Mapping[str, list[float]], spellings: tuple[str, ...]) -> int | None:
    values = _first(samples, spellings)
    if values is not None:
        return round(sum(values))
    return 0 if any(name.startswith(LAZY) for name in samples) else None


def _first(samples: Mapping[str, list[float]], spellings: tuple[str, ...]) -> list[float] | None:
    return next((samples[name] for name in spellings if name in samples), None)


def _difference(before: int | None, after: int | None) -> int | None:
    if before is None or after is None or after < before:
        return None
    return after - before


def _excess_share(counted: int | None, rows: list[Mapping[str, Any]], name: str) -> float | None:
    """How far the engine counted above the successful requests, as a share of those. None without either."""
    ours = sum(row.get(name) or 0 for row in rows if row["outcome"] == "ok")
    return (counted - ours) / ours if counted is not None and ours else None
