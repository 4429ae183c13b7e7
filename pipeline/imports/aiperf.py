"""AIPerf's summary (profile_export_aiperf.json): one object of metrics with a unit and statistics each.

AIPerf's inter_token_latency is TPOT, and its inter_chunk_latency is ITL. Requests that failed or were cancelled are
not in its statistics.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import (
    count,
    day,
    items,
    mapping,
    moment_from_unix,
    number,
    positive,
    request_rate,
    size,
    text,
)
from pipeline.imports.latencies import nested_latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "aiperf"

LATENCY_KEYS = {
    "ttft": "time_to_first_token",
    "tpot": "inter_token_latency",
    "itl": "inter_chunk_latency",
    "e2el": "request_latency",
}
S_PER_UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return isinstance(row.get("request_latency"), dict) and isinstance(row.get("input_config"), dict)


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no request_latency and input_config.")
    config = mapping(row["input_config"])
    started = moment_from_unix((_average(row, "min_request_timestamp") or 0) / 1e9)
    draft = Draft(_recorded(row, config, started))
    for latency, key in LATENCY_KEYS.items():
        factor = S_PER_UNIT.get(text(mapping(row.get(key)).get("unit")) or "")
        if factor:
            draft.columns |= nested_latency_columns(row, {latency: key}, factor)
    draft.columns |= without_nulls({"run_started_at": started, **_counts(row), **_load(config)})
    draft.lengths = _lengths(row, config)
    _fill_device(draft, row)
    if row.get("was_cancelled") is True:
        draft.notes.add("was_cancelled")
    return draft


def _recorded(row: Mapping[str, Any], config: Mapping[str, Any], started: Any) -> Recorded:
    models = items(mapping(config.get("endpoint")).get("model_names"))
    return Recorded(
        model=text(models[0]) if len(models) == 1 else None,
        run_date=started.date() if started else day(row.get("start_time")),
    )


def _counts(row: Mapping[str, Any]) -> dict[str, Any]:
    """request_count is of successful requests; without an error count none failed."""
    successful, failed = count(_average(row, "request_count")), count(_average(row, "error_request_count")) or 0
    seconds = _average(row, "benchmark_duration")
    return {
        "n_requested": None if successful is None else successful + failed,
        "n_successful": successful,
        "n_failed": failed,
        "window": "whole_run",
        "window_s": positive(seconds),
        "input_tok": count(_average(row, "total_isl")),
        "output_tok": count(_average(row, "total_osl") or _average(row, "total_output_tokens")),
    }


def _load(config: Mapping[str, Any]) -> dict[str, Any]:
    load = mapping(config.get("loadgen"))
    return {
        "concurrency": size(load.get("concurrency")),
        "request_rate_req_s": request_rate(load.get("request_rate")),
        "n_warmup": count(load.get("warmup_request_count")),
    }


def _lengths(row: Mapping[str, Any], config: Mapping[str, Any]) -> Lengths:
    prompt = mapping(mapping(config.get("input")).get("prompt"))
    return Lengths(
        size(mapping(prompt.get("input_tokens")).get("mean")),
        size(mapping(prompt.get("output_tokens")).get("mean")),
        positive(_average(row, "input_sequence_length")),
        positive(_average(row, "output_sequence_length")),
    )


def _fill_device(draft: Draft, row: Mapping[str, Any]) -> None:
    """The GPU that telemetry names, where it names one; how many of them served is not said."""
    endpoints = mapping(mapping(row.get("telemetry_data")).get("endpoints"))
    gpus = [mapping(gpu) for endpoint in endpoints.values() for gpu in mapping(mapping(endpoint).get("gpus")).values()]
    names = {name for name in (text(gpu.get("gpu_name")) for gpu in gpus) if name}
    if len(names) == 1:
        name = names.pop()
        draft.columns["device_name"] = name
        draft.recorded = dataclasses.replace(draft.recorded, gpu=name)
    elif names:
        draft.notes.add("device_name_ambiguous")


def _average(row: Mapping[str, Any], key: str) -> float | None:
    return number(mapping(row.get(key)).get("avg"))
