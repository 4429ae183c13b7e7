"""Rows of the points table to published point records."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from pipeline.pages.curves import engine_name
from pipeline.pages.point_record import Latencies, Latency, PointRecord, Role
from pipeline.pages.reasons import PUBLISHED_READING_NULL, note_sentence, null_reason, reason_sentence
from pipeline.registry.registry import Registry
from pipeline.tables.points import LATENCIES, STATISTICS

PUBLISHED_READING = "published_reading"
"""The note of a point whose numbers were read off a published ladder."""

_COPIED = {field.name for field in dataclasses.fields(PointRecord)}


def finite_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as dicts; NaN and infinities, which JSON cannot hold, are None."""
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        for name, value in row.items():
            if isinstance(value, float) and not math.isfinite(value):
                row[name] = None
    return rows


def point_record(row: Mapping[str, Any], role: Role, series: str, registry: Registry) -> PointRecord:
    """One POINTS row as published."""
    published_reading = any(note.partition("=")[0] == PUBLISHED_READING for note in row["notes"])
    values: dict[str, Any] = {name: value for name, value in row.items() if name in _COPIED}
    for name in ("reasons", "notes", "declared"):
        values[name] = tuple(row[name])
    values["topology"] = None if published_reading else row["topology"] or None
    return PointRecord(
        **values,
        role=role,
        series=series,
        engine_name=engine_name(row["engine"], registry),
        reason_sentences=tuple(reason_sentence(code) for code in row["reasons"]),
        note_sentences=tuple(note_sentence(note) for note in row["notes"]),
        published_reading=published_reading,
        latency=Latencies(**{name: _latency(row, name) for name in LATENCIES}),
        reason=PUBLISHED_READING_NULL if published_reading else null_reason(row["provenance"]),
    )


def _latency(row: Mapping[str, Any], name: str) -> Latency:
    return Latency(**{f"{statistic}_s": row[f"{name}_{statistic}_s"] for statistic in STATISTICS})


def latency_at(latency: Latency, percentile: int) -> float | None:
    """The statistic of the default percentile, in s; None where it was not recorded."""
    value: float | None = getattr(latency, f"p{percentile}_s")
    return value
