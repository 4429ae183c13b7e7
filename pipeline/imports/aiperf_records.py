"""AIPerf's per-request records (profile_export.jsonl): all lines of a file are the requests of one point.

The records name neither model, GPU nor engine, and not the load's concurrency: the former are declared, the latter
stays null beside the achieved one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import (
    MAX_NS,
    count,
    epoch_ns,
    flag,
    items,
    mapping,
    moment_from_unix,
    number,
    request_tokens,
    text,
)
from pipeline.imports.outcome import Outcome, RowRejectedError
from pipeline.imports.recompute import compare_and_fill

SOURCE_FORMAT = "aiperf_records"

NS_PER_UNIT = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a record is of this format."""
    metadata = row.get("metadata")
    return isinstance(metadata, dict) and "benchmark_phase" in metadata and "metrics" in row


def read(job: Job, rows: list[Any]) -> Outcome:
    """One point of all records."""
    return read_rows(job, SOURCE_FORMAT, [rows], _draft)


def _draft(job: Job, records: Any) -> Draft:
    if not all(isinstance(record, dict) and matches(record) for record in records):
        raise RowRejectedError("not_a_row", "A line is no AIPerf record with metadata and metrics.")
    starts = [record_start_ns(record) for record in records]
    known = [start for start in starts if start is not None]
    first_ns = min(known, default=0)
    started = moment_from_unix(first_ns / 1e9)
    draft = Draft(Recorded(run_date=started.date() if started else None))
    draft.columns |= without_nulls({"run_started_at": started, "window": "whole_run"})
    draft.requests = [
        request_row(index, record, None if start is None else start - first_ns)
        for index, (record, start) in enumerate(zip(records, starts, strict=True))
    ]
    compare_and_fill(draft)
    n_successful = draft.columns.get("n_successful")
    if n_successful:
        means = (draft.columns.get(key, 0) / n_successful or None for key in ("input_tok", "output_tok"))
        draft.lengths = Lengths(None, None, *means)
    if any(_counts_differ(mapping(record["metrics"])) for record in records):
        draft.notes.add("input_tokens_counted_by_client")
    return draft


def record_start_ns(record: Mapping[str, Any]) -> int | None:
    """When a request was sent, in ns since 1970."""
    return epoch_ns(mapping(record["metadata"]).get("request_start_ns"))


def request_row(index: int, record: Mapping[str, Any], start_ns: int | None) -> dict[str, Any]:
    """One record as a row of REQUESTS, without the point and repeat that it is of."""
    metadata, metrics = mapping(record["metadata"]), mapping(record["metrics"])
    cancelled, error = flag(metadata.get("was_cancelled")), record.get("error")
    outcome = "cancelled" if cancelled else "failed" if error else "ok"
    itl_ns = [
        gap
        for gap in (_scaled(value, _unit(metrics, "inter_chunk_latency")) for value in _gaps(metrics))
        if gap is not None
    ]
    return {
        "request_index": index,
        "phase": "profiling" if metadata.get("benchmark_phase") == "profiling" else "warmup",
        "outcome": outcome,
        "error": None if outcome == "ok" else _error_text(error) or outcome,
        "session_id": text(metadata.get("conversation_id")) or text(metadata.get("x_correlation_id")),
        "turn_index": count(metadata.get("turn_index")),
        "start_ns": start_ns,
        "ttft_ns": _duration_ns(metrics, "time_to_first_token"),
        "e2el_ns": _duration_ns(metrics, "request_latency"),
        "input_tok": _value_count(metrics, "input_sequence_length"),
        "output_tok": _value_count(metrics, "output_sequence_length"),
        "cached_input_tok": _value_count(metrics, "usage_prompt_cache_read_tokens"),
        "first_chunk_tok": _first_chunk_tok(metrics),
        "itl_ns": itl_ns or None,
    }


def _first_chunk_tok(metrics: Mapping[str, Any]) -> int:
    """Tokens of the first chunk: AIPerf divides by the tokens after it where the server counts chunk by chunk.

    output − (end − first token) / inter_token_latency; 1 where it does not come out as a whole number.
    """
    output_tok = _value_count(metrics, "output_sequence_length")
    keys = ("time_to_first_token", "request_latency", "inter_token_latency")
    first, end, gap = (number(mapping(metrics.get(key)).get("value")) for key in keys)
    if output_tok is None or first is None or end is None or not gap or len({_unit(metrics, key) for key in keys}) > 1:
        return 1
    exact = output_tok - (end - first) / gap
    return round(exact) if 1 <= exact < output_tok and abs(exact - round(exact)) < 0.01 else 1


def _error_text(error: object) -> str | None:
    """The words of an error, which is an object with a message, or text."""
    said = mapping(error)
    return text(said.get("message")) or text(said.get("type")) or text(error)


def _gaps(metrics: Mapping[str, Any]) -> list[Any]:
    return items(mapping(metrics.get("inter_chunk_latency")).get("value"))


def _unit(metrics: Mapping[str, Any], key: str) -> float | None:
    return NS_PER_UNIT.get(text(mapping(metrics.get(key)).get("unit")) or "")


def _duration_ns(metrics: Mapping[str, Any], key: str) -> int | None:
    return _scaled(mapping(metrics.get(key)).get("value"), _unit(metrics, key))


def _scaled(value: object, ns_per_unit: float | None) -> int | None:
    found = number(value)
    if found is None or ns_per_unit is None or not 0 <= found * ns_per_unit < MAX_NS:
        return None
    return round(found * ns_per_unit)


def _value_count(metrics: Mapping[str, Any], key: str) -> int | None:
    return request_tokens(mapping(metrics.get(key)).get("value"))


def _counts_differ(metrics: Mapping[str, Any]) -> bool:
    """Whether client and server count a prompt's tokens differently by over 1 %."""
    client, server = _value_count(metrics, "input_sequence_length"), _value_count(metrics, "usage_prompt_tokens")
    return bool(client and server and abs(client - server) > 0.01 * server)
