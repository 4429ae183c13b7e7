"""Attempts and duplicates among the points of one cell. Pure, and independent of the order of the rows handed in.

Belongs here: numbering rows of equal identity, and refusing the same measurement twice. Not here: whether one row is
valid by itself (validity.py).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from typing import Any

import pyarrow as pa

from pipeline.tables.points import IDENTITY, POINTS

Row = dict[str, Any]

NOT_MEASURED = frozenset(
    (
        *IDENTITY,
        *("point_id", "attempt", "valid", "reasons", "notes", "declared", "run_id", "run_started_at", "run_url"),
        *("source_format", "source_file", "source_sha256", "source_row", "engine_family"),
    )
)
"""Columns that may differ between two rows that are one measurement."""

_LONG_AGO = dt.datetime.min.replace(tzinfo=dt.UTC)


def number_attempts(points: pa.Table) -> pa.Table:
    """One cell's points with attempts 1..n for each identity, sorted as POINTS is.

    Rows of equal IDENTITY (null equals null) are numbered by run_started_at (nulls first), source_file, the attempt
    that a sweep says of itself, source_sha256, source_row. A row whose measured values all equal those of an earlier
    valid row of its identity becomes invalid with reason duplicate_row; the earlier one stays as it is. Doing it again
    changes nothing.
    """
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in points.to_pylist():
        groups[tuple(row[name] for name in IDENTITY)].append(row)
    rows = [row for group in groups.values() for row in _numbered(group)]
    rows.sort(key=lambda row: str(row["point_id"]))
    return POINTS.from_rows(rows)


def _numbered(group: list[Row]) -> list[Row]:
    seen: set[tuple[object, ...]] = set()
    numbered = []
    for attempt, row in enumerate(sorted(group, key=_by_start), start=1):
        measured = tuple(row[name] for name in POINTS.names if name not in NOT_MEASURED)
        judged = _judged(row, attempt, is_duplicate=measured in seen)
        numbered.append(judged)
        if judged["valid"]:
            seen.add(measured)
    return numbered


def _by_start(row: Row) -> tuple[object, ...]:
    started = row["run_started_at"]
    source = (row["source_file"], row["attempt"], row["source_sha256"], row["source_row"], row["point_id"])
    return (started is not None, started or _LONG_AGO, *source)


def _judged(row: Row, attempt: int, *, is_duplicate: bool) -> Row:
    reasons = [code for code in row["reasons"] if code != "duplicate_row"]
    if is_duplicate:
        reasons = sorted({*reasons, "duplicate_row"})
    return {**row, "attempt": attempt, "reasons": reasons, "valid": not reasons}
