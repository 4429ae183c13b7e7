"""inference-perf's reports: stage_N_lifecycle_metrics.json is one point, statistics only, in seconds.

Its TPOT is (last token − first token) / (tokens − 1) of each request, which is ours; but the tokens are counted by the
time stamps of the client, and versions of it stamp each token about twice. Where a report's mean TPOT is not what its
own latencies and output lengths make of it, TPOT and ITL are left out: the requests are not in the file, so their
percentiles cannot be put right. Its normalized time per output token has the first token in it, and is not read.

Its ITL has a gap of 0 s for each further token of a chunk, ours has none: with a least gap of 0 it is left out.

The window is from the first start to the last end: successes / requests a second. Tokens are rates × window, which
gives back whole numbers. Model, engine, GPU and day are in no report. A report over all stages, and metrics scraped
from the server, are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import count, mapping, number, positive, request_rate, size
from pipeline.imports.latencies import nested_latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError, passed_over

SOURCE_FORMAT = "inference_perf"

LATENCY_KEYS = {"ttft": "time_to_first_token", "e2el": "request_latency"}
PER_TOKEN_KEYS = {"tpot": "time_per_output_token", "itl": "inter_token_latency"}
MAX_TPOT_RATIO = 1.5
"""A mean over requests and a ratio of means differ where lengths do, but not by this; a token stamped twice is 2."""
MIN_RATE_REACHED = 0.95


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a document is a report, of a stage or of more."""
    return isinstance(row.get("load_summary"), dict) and isinstance(row.get("successes"), dict)


def read(job: Job, rows: list[Any]) -> Outcome:
    """The stages of a file; a file without any is passed over."""
    if any(_is_stage(row) for row in rows):
        return read_rows(job, SOURCE_FORMAT, rows, _draft)
    if any("latency" in mapping(mapping(row).get("successes")) for row in rows):
        why = "an inference-perf report over all stages: 0 rows; its points are the stage_N_lifecycle_metrics.json"
    else:
        why = (
            "server metrics beside an inference-perf report: 0 rows; its points are the stage_N_lifecycle_metrics.json"
        )
    return passed_over(SOURCE_FORMAT, why)


def _is_stage(row: object) -> bool:
    load = mapping(mapping(row).get("load_summary"))
    return "requested_rate" in load or "concurrency" in load


def _draft(job: Job, row: Any) -> Draft:
    if not _is_stage(row):
        raise RowRejectedError("not_a_row", "The report is of no stage: it has no requested_rate and no concurrency.")
    load, successes = mapping(row["load_summary"]), mapping(row.get("successes"))
    n_successful, n_failed = count(successes.get("count")), count(mapping(row.get("failures")).get("count"))
    draft = Draft(Recorded())
    draft.columns |= without_nulls(
        {
            "n_requested": count(load.get("count")),
            "n_successful": n_successful,
            "n_failed": n_failed,
            "window": "whole_run",
            **_tokens(row, successes, n_successful),
        }
    )
    _fill_load(draft, load)
    if n_successful:
        latency = mapping(successes.get("latency"))
        draft.columns |= nested_latency_columns(latency, LATENCY_KEYS, 1.0)
        _fill_per_token(draft, latency, successes)
        means = (draft.columns.get(key, 0) / n_successful or None for key in ("input_tok", "output_tok"))
        draft.lengths = Lengths(None, None, *means)
        _fill_achieved(draft, row)
    return draft


def _tokens(row: Mapping[str, Any], successes: Mapping[str, Any], n_successful: int | None) -> dict[str, Any]:
    rates = mapping(successes.get("throughput"))
    req_s = positive(rates.get("requests_per_sec"))
    window_s = positive(row.get("benchmark_time_seconds")) or (n_successful / req_s if n_successful and req_s else None)
    return {
        "window_s": window_s,
        "input_tok": _total(rates.get("input_tokens_per_sec"), window_s),
        "output_tok": _total(rates.get("output_tokens_per_sec"), window_s),
    }


def _total(tok_s: object, window_s: float | None) -> int | None:
    rate = number(tok_s)
    total = None if rate is None or window_s is None else number(rate * window_s)
    return None if total is None else count(round(total))


def _fill_load(draft: Draft, load: Mapping[str, Any]) -> None:
    """A kept concurrency, or a rate. With a concurrency the requested rate is only how fast a queue was filled."""
    concurrency, rate = size(load.get("concurrency")), request_rate(load.get("requested_rate"))
    draft.columns |= without_nulls({"concurrency": concurrency} if concurrency else {"request_rate_req_s": rate})
    achieved = positive(load.get("achieved_rate"))
    if not concurrency and rate and achieved and achieved < MIN_RATE_REACHED * rate:
        draft.notes.add(f"rate_not_reached={achieved:.4g}")


def _fill_per_token(draft: Draft, latency: Mapping[str, Any], successes: Mapping[str, Any]) -> None:
    """TPOT and ITL, unless the report's own latencies and output lengths make another TPOT."""
    one_token_chunks = number(mapping(latency.get(PER_TOKEN_KEYS["itl"])).get("min")) != 0
    keys = PER_TOKEN_KEYS if one_token_chunks else {"tpot": PER_TOKEN_KEYS["tpot"]}
    found = nested_latency_columns(latency, keys, 1.0)
    mean_tok = positive(mapping(successes.get("output_len") or successes.get("output_tokens")).get("mean"))
    first_s, end_s = draft.columns.get("ttft_mean_s"), draft.columns.get("e2el_mean_s")
    stated_s = found.get("tpot_mean_s")
    if first_s and end_s and stated_s and mean_tok and mean_tok > 1 and end_s > first_s:
        ratio = (end_s - first_s) / (mean_tok - 1) / stated_s
        if not 1 / MAX_TPOT_RATIO <= ratio <= MAX_TPOT_RATIO:
            draft.reasons.add("tpot_contradicted")
            draft.notes.add(f"tpot_left_out={ratio:.3g}")
            return
    draft.columns |= found


def _fill_achieved(draft: Draft, row: Mapping[str, Any]) -> None:
    """Mean requests in flight = seconds of all requests / window; null where those of failed ones are not known."""
    columns, failures = draft.columns, mapping(row.get("failures"))
    n_failed = columns.get("n_failed") or 0
    failed_s = number(mapping(failures.get("request_latency")).get("mean")) if n_failed else 0.0
    mean_s, window_s = columns.get("e2el_mean_s"), columns.get("window_s")
    if mean_s and window_s and failed_s is not None:
        columns["achieved_concurrency"] = (mean_s * columns["n_successful"] + failed_s * n_failed) / window_s
