"""GuideLLM's report (benchmarks.json): one point for each benchmark, that is for each strategy and rate of a run.

What is converted, because GuideLLM means something else by it:

* Its time_per_output_token has the first token in it, and is not read. Its inter_token_latency is one value a request,
  (last token − first token) / (output tokens − 1), so it is TPOT and no ITL; but its statistics weigh a request by its
  tokens. From requests TPOT is computed anew; of a report without them it is read only where all outputs are of one
  length, for which both weights are the same, and is null otherwise. ITL is always null.
* Its percentiles are steps (a request's own value), ours are interpolated: means and standard deviations are compared
  with the requests, and percentiles come from those; of a report without requests they are taken as they are.
* Its duration can end long after the last request, and its totals are of all requests that overlap it. The requests
  that it leaves out are kept as warm-up, cool-down too; the window is from the first start to the last end of the
  others. Without requests a trimmed window has no throughput.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any

from pipeline.errors import UnreadableFileError
from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import (
    count,
    duration_ns,
    items,
    mapping,
    moment_from_unix,
    number,
    positive,
    request_rate,
    request_tokens,
    size,
    text,
)
from pipeline.imports.outcome import Outcome, RowRejectedError
from pipeline.imports.recompute import compare_and_fill
from pipeline.tables.points import PERCENTILES

SOURCE_FORMAT = "guidellm"

REPORT = "arguments of the report"
"""The key under which a benchmark gets the arguments that all benchmarks of its report share."""

LATENCIES = {"ttft": ("time_to_first_token_ms", 1e-3), "e2el": ("request_latency", 1.0)}
TPOT = ("inter_token_latency_ms", 1e-3)
OUTCOMES = {"successful": "ok", "errored": "failed", "incomplete": "cancelled"}
TOTALS = {"n_requested": "total", "n_successful": "successful", "n_failed": "errored", "n_cancelled": "incomplete"}
COMPARED = (*TOTALS, "input_tok", "output_tok")
TRIMMED_S = 1e-3
"""A warm-up or cool-down above this is one: with none GuideLLM writes 0."""


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a document is a report."""
    benchmarks = row.get("benchmarks")
    if not isinstance(benchmarks, list):
        return False
    first = mapping(benchmarks[0]) if benchmarks else {}
    return "guidellm_version" in mapping(row.get("metadata")) or first.get("type_") == "generative_benchmark"


def read(job: Job, rows: list[Any]) -> Outcome:
    """All benchmarks of a file. Raises UnreadableFileError for a report without any."""
    benchmarks = [one for report in rows for one in _benchmarks(mapping(report))]
    if not benchmarks:
        raise UnreadableFileError(
            "GuideLLM results without a benchmark",
            where=job.source.name,
            next_step="Its run ended before the first one; run it again.",
        )
    return read_rows(job, SOURCE_FORMAT, benchmarks, _draft)


def _benchmarks(report: Mapping[str, Any]) -> list[Any]:
    shared = mapping(report.get("args")) or mapping(mapping(report.get("config")).get("spec"))
    return [{**one, REPORT: shared} if isinstance(one, dict) else one for one in items(report.get("benchmarks"))]


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not isinstance(row.get("metrics"), dict):
        raise RowRejectedError("not_a_row", "The benchmark has no metrics.")
    metrics = row["metrics"]
    started = _started(row)
    draft = Draft(_recorded(row, started))
    draft.columns |= without_nulls({"run_started_at": started, "window": "whole_run", **_totals(row)})
    _fill_load(draft, row)
    requests = _requests(row)
    if _are_all(draft, requests):
        draft.requests = requests
        draft.columns |= _statistics(metrics, LATENCIES, ("mean", "std"))
        compare_and_fill(draft, COMPARED)
    else:
        _fill_from_summary(draft, row)
        draft.notes |= {"requests_incomplete"} if requests else set()
    draft.lengths = _lengths(row, draft.columns)
    return draft


def _recorded(row: Mapping[str, Any], started: dt.datetime | None) -> Recorded:
    config = mapping(row.get("config"))
    return Recorded(
        model=_model(row, mapping(config.get("backend"))),
        run_date=started.date() if started else None,
        run_id=text(config.get("run_id")) or text(row.get("run_id")),
    )


def _model(row: Mapping[str, Any], backend: Mapping[str, Any]) -> str | None:
    """The model that a benchmark or its report names, in the places where versions of GuideLLM name it."""
    shared = row[REPORT]
    places = (backend, shared, mapping(shared.get("backend_kwargs")), mapping(shared.get("backend")))
    named = [text(place.get("model")) for place in places] + [text(mapping(row.get("worker")).get("backend_model"))]
    return next((model for model in named if model), None)


def _started(row: Mapping[str, Any]) -> dt.datetime | None:
    scheduler = mapping(row.get("scheduler_metrics"))
    return moment_from_unix(scheduler.get("request_start_time")) or moment_from_unix(row.get("start_time"))


def _totals(row: Mapping[str, Any]) -> dict[str, Any]:
    """Counts and tokens; before version 0.4 the counts stand beside the metrics."""
    metrics = row["metrics"]
    counted = mapping(metrics.get("request_totals") or row.get("request_totals"))
    return {
        **{column: count(counted.get(key)) for column, key in TOTALS.items()},
        "input_tok": _token_sum(metrics, "prompt_token_count"),
        "output_tok": _token_sum(metrics, "output_token_count"),
    }


def _token_sum(metrics: Mapping[str, Any], key: str) -> int | None:
    """A sum that GuideLLM makes of floats: 1748.9999999999998 is 1749."""
    found = number(_successful(metrics, key).get("total_sum"))
    return None if found is None else count(round(found))


def _successful(metrics: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return mapping(mapping(metrics.get(key)).get("successful"))


def _fill_load(draft: Draft, row: Mapping[str, Any]) -> None:
    """One stream, a number of streams, a rate, or throughput mode: all at once, up to a limit that may not be said.

    A rate's own limit on requests in flight is no concurrency that is kept.
    """
    strategy = mapping(mapping(row.get("config")).get("strategy") or mapping(row.get("args")).get("strategy"))
    kind = text(strategy.get("type_"))
    if kind == "synchronous":
        draft.columns["concurrency"] = 1
    elif kind == "throughput":
        draft.columns |= without_nulls({"concurrency": size(strategy.get("max_concurrency"))})
        draft.notes.add("throughput_mode")
    elif kind == "concurrent":
        draft.columns |= without_nulls({"concurrency": size(strategy.get("streams"))})
    else:
        draft.columns |= without_nulls({"request_rate_req_s": request_rate(strategy.get("rate"))})


def _requests(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every request of the report as a row of REQUESTS, the successful ones first, as in the file."""
    groups = mapping(row.get("requests"))
    sent = [
        (outcome, request)
        for status, outcome in OUTCOMES.items()
        for request in items(groups.get(status))
        if isinstance(request, dict)
    ]
    starts = [_time(request, "request_start_time", "start_time") for _, request in sent]
    first = min((start for start in starts if start is not None), default=0.0)
    return [
        {
            "request_index": index,
            "phase": "profiling" if _is_measured(row, request) else "warmup",
            "outcome": outcome,
            "error": None if outcome == "ok" else _error(request) or outcome,
            "start_ns": None if start is None else duration_ns(start - first),
            "ttft_ns": _milliseconds_ns(request.get("time_to_first_token_ms")),
            "e2el_ns": duration_ns(request.get("request_latency")),
            "input_tok": request_tokens(request.get("prompt_tokens")),
            "output_tok": request_tokens(request.get("output_tokens")),
            "cached_input_tok": request_tokens(request.get("cached_tokens")),
            "first_chunk_tok": 1,
        }
        for index, ((outcome, request), start) in enumerate(zip(sent, starts, strict=True))
    ]


def _is_measured(row: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    """Whether a request overlaps GuideLLM's measured window: these are the ones that it counts."""
    from_s, to_s = number(row.get("start_time")), number(row.get("end_time"))
    start_s, end_s = _time(request, "request_start_time", "start_time"), _time(request, "request_end_time", "end_time")
    begins_s = end_s if start_s is None else start_s
    too_early = from_s is not None and end_s is not None and end_s < from_s
    too_late = to_s is not None and begins_s is not None and begins_s > to_s
    return not too_early and not too_late


def _time(request: Mapping[str, Any], *keys: str) -> float | None:
    return next((found for found in (positive(request.get(key)) for key in keys) if found is not None), None)


def _error(request: Mapping[str, Any]) -> str | None:
    return text(mapping(request.get("info")).get("error")) or text(request.get("error"))


def _milliseconds_ns(value: object) -> int | None:
    found = number(value)
    return None if found is None else duration_ns(found / 1e3)


def _are_all(draft: Draft, requests: list[dict[str, Any]]) -> bool:
    """Whether the measured requests are as many as the report counts. A report may hold a sample of them, or none."""
    measured = [request for request in requests if request["phase"] == "profiling"]
    stated = draft.columns.get("n_requested")
    return bool(measured) and stated in (None, len(measured))


def _statistics(
    metrics: Mapping[str, Any], keys: Mapping[str, tuple[str, float]], statistics: tuple[str, ...]
) -> dict[str, float]:
    """Statistics of the successful requests, in seconds. GuideLLM writes 0 where there was no request."""
    found: dict[str, float] = {}
    for latency, (key, s_per_unit) in keys.items():
        block = _successful(metrics, key)
        values: dict[str, Any] = {**mapping(block.get("percentiles")), **block, "std": block.get("std_dev")}
        mean = positive(values.get("mean"))
        for statistic in statistics:
            value = number(values.get(statistic))
            if mean is not None and value is not None and (value > 0 or statistic == "std"):
                found[f"{latency}_{statistic}_s"] = value * s_per_unit
    return found


def _fill_from_summary(draft: Draft, row: Mapping[str, Any]) -> None:
    metrics = row["metrics"]
    statistics = ("mean", "std", *(f"p{p}" for p in PERCENTILES))
    of_one_length = number(_successful(metrics, "output_token_count").get("std_dev")) == 0
    draft.columns |= _statistics(metrics, {**LATENCIES, "tpot": TPOT} if of_one_length else LATENCIES, statistics)
    draft.notes |= set() if of_one_length else {"tpot_weighted_by_tokens"}
    in_flight = mapping(mapping(metrics.get("request_concurrency")).get("total"))
    trimmed = [number(row.get(key)) or 0.0 for key in ("warmup_duration", "cooldown_duration")]
    window_s = positive(row.get("duration")) if all(abs(one) < TRIMMED_S for one in trimmed) else None
    draft.columns |= without_nulls({"achieved_concurrency": positive(in_flight.get("mean")), "window_s": window_s})


def _lengths(row: Mapping[str, Any], columns: Mapping[str, Any]) -> Lengths:
    """The lengths of synthetic data, which the arguments name, and the means of any data."""
    n_successful = columns.get("n_successful") or 0
    means = (
        columns.get(key, 0) / n_successful or None if n_successful else None for key in ("input_tok", "output_tok")
    )
    said = json.dumps(row[REPORT].get("data") or mapping(row.get("request_loader")).get("data"))
    prompt, output = (
        re.findall(rf"{key}\W{{0,4}}[=:]\s*(\d{{1,9}})", said) for key in ("prompt_tokens", "output_tokens")
    )
    one_of_each = len(prompt) == len(output) == 1
    return Lengths(size(prompt[0]) if one_of_each else None, size(output[0]) if one_of_each else None, *means)
