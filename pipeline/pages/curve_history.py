"""HISTORY rows to the runs of every series as published. Which runs are read, and their spread, is history.sql's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.pages.curve_record import CurveHistory, CurveReading

Row = Mapping[str, Any]


def curve_histories(rows: Sequence[Row], label: Callable[[Row], str]) -> tuple[CurveHistory, ...]:
    """One entry a curve: by series, then run date. ``label`` names the series of a row."""
    ordered = sorted(rows, key=lambda row: (row["curve_id"], row["target_tok_s_user"]))
    curves = [_curve(list(group), label) for _, group in itertools.groupby(ordered, key=lambda row: row["curve_id"])]
    return tuple(sorted(curves, key=lambda curve: (curve.series, curve.run_date, curve.curve_id)))


def _curve(rows: Sequence[Row], label: Callable[[Row], str]) -> CurveHistory:
    first = rows[0]
    names = ("curve_id", "engine", "precision", "spec_method", "run_id", "run_date", "in_use")
    return CurveHistory(
        series=label(first), readings=tuple(map(_reading, rows)), **{name: first[name] for name in names}
    )


def _reading(row: Row) -> CurveReading:
    names = ("target_tok_s_user", "throughput_tok_s_gpu", "throughput_std_tok_s_gpu", "delivered_tok_s_user")
    lists = ("engine_builds", "topologies", "point_ids")
    values: dict[str, Any] = {name: row[name] for name in (*names, "basis", "n_repeats", "reason")}
    values |= {name: tuple(row[name] or ()) for name in lists}
    return CurveReading(**values)


def spread_by_reading(rows: Sequence[Row]) -> dict[tuple[object, ...], float]:
    """Standard deviation in tok/s/GPU by curve and target; readings without one are absent."""
    return {
        (row["curve_id"], row["target_tok_s_user"]): row["throughput_std_tok_s_gpu"]
        for row in rows
        if row["throughput_std_tok_s_gpu"] is not None
    }
