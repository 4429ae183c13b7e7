"""Promises about the points of one cell: pure predicates that return violations, empty where kept.

They hold for *valid* points: an invalid one is stored with its reasons and may break any of them.
"""

from __future__ import annotations

import itertools

import pyarrow as pa

from pipeline.measure.validity import MAX_THROUGHPUT_TOK_S_GPU, TPOT_BOUNDS_S, TTFT_BOUNDS_S
from pipeline.tables.columns import Table
from pipeline.tables.points import IDENTITY


def schema_kept(table: Table, rows: pa.Table) -> list[str]:
    """Rows have the columns, types and non-null values of their table."""
    return table.violations(rows)


def identity_unique(points: pa.Table) -> list[str]:
    """No two rows share (identity, attempt); null equals null."""
    columns = (*IDENTITY, "attempt")
    keys = list(zip(*(points[c].to_pylist() for c in columns), points["point_id"].to_pylist(), strict=True))
    seen: dict[tuple[object, ...], str] = {}
    found = []
    for *identity, point_id in keys:
        other = seen.setdefault(tuple(identity), point_id)
        if other != point_id:
            found.append(f"{other} and {point_id} have one identity and attempt")
    ids = points["point_id"].to_pylist()
    return found + ([f"{len(ids) - len(set(ids))} point ids occur twice"] if len(set(ids)) < len(ids) else [])


def outcomes_add_up(points: pa.Table) -> list[str]:
    """Of a valid point, requested = successful + failed + cancelled, wherever all four are known."""
    names = ("point_id", "valid", "n_requested", "n_successful", "n_failed", "n_cancelled")
    found = []
    for point_id, valid, *counts in zip(*(points[n].to_pylist() for n in names), strict=True):
        if valid and None not in counts and counts[0] != sum(counts[1:]):
            found.append(f"{point_id}: requested {counts[0]}, but ok + failed + cancelled = {sum(counts[1:])}")
    return found


def units_plausible(points: pa.Table) -> list[str]:
    """Of a valid point, every TTFT, TPOT and throughput lies within the stated bounds."""
    bounds = {
        "throughput_tok_s_gpu": (0.0, MAX_THROUGHPUT_TOK_S_GPU),
        **{f"ttft_{s}_s": TTFT_BOUNDS_S for s in ("mean", "p50", "p90", "p99")},
        **{f"tpot_{s}_s": TPOT_BOUNDS_S for s in ("mean", "p50", "p90", "p99")},
    }
    ids, valid = points["point_id"].to_pylist(), points["valid"].to_pylist()
    return list(
        itertools.chain.from_iterable(
            _outside(name, low, high, zip(ids, valid, points[name].to_pylist(), strict=True))
            for name, (low, high) in bounds.items()
        )
    )


def _outside(name: str, low: float, high: float, rows: zip[tuple[str, bool, float | None]]) -> list[str]:
    return [
        f"{point_id}: {name} = {value:g}, expected {low:g} to {high:g}"
        for point_id, valid, value in rows
        if valid and value is not None and not low < value <= high
    ]
