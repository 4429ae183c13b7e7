"""Repeats of one point: the requests of each to one REPEATS row, and those rows to the mean and spread of the point.

Belongs here: statistics within a repeat and over repeats. Not here: identity, counters, device and validity of the
point (pipeline/sweep/measured.py).
"""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import duckdb

from pipeline.measure.rates import cache_hit_share, interactivity, throughputs, tpot_column
from pipeline.measure.summary import summarize
from pipeline.measure.target import Target, loads
from pipeline.tables.points import LATENCIES, STATISTICS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS

Row = dict[str, Any]

SUMS = (
    *("n_requested", "n_successful", "n_failed", "n_cancelled", "n_warmup"),
    *("input_tok", "output_tok", "cached_input_tok", "window_s", "steady_window_s"),
)
"""Columns of a point that are sums over the repeats that have the value; null where none has it."""

MEANS = (
    *("achieved_concurrency", "steady_throughput_tok_s_gpu", "interactivity_tok_s_user"),
    *(f"{latency}_{statistic}_s" for latency in LATENCIES for statistic in STATISTICS),
)
"""Columns of a point that are means over the repeats that have the value. Throughputs are means too."""


class Repeat(Protocol):
    """One repeat as the load client answered: its seed, its REQUESTS rows, and when the first measured one started."""

    @property
    def seed(self) -> int:
        """Seed of the load."""

    @property
    def started_at(self) -> dt.datetime | None:
        """Start of the first measured request (UTC); None where none was sent."""

    @property
    def requests(self) -> Sequence[Mapping[str, Any]]:
        """REQUESTS rows without point_id."""


def repeat_rows(connection: duckdb.DuckDBPyConnection, repeats: Sequence[Repeat], target: Target) -> list[Row]:
    """One REPEATS row a repeat, in order, without point_id; started_at is None where nothing was sent.

    Latencies, counts and tokens are those of summary.py over the measured requests; the window is the whole run. A
    repeat without successful requests has zero counts and null statistics.
    """
    summaries = _summaries(connection, repeats)
    return [_repeat_row(index, repeat, summaries.get(index, {}), target) for index, repeat in enumerate(repeats)]


def _summaries(connection: duckdb.DuckDBPyConnection, repeats: Sequence[Repeat]) -> dict[int, Row]:
    rows = [{**row, "point_id": str(i)} for i, repeat in enumerate(repeats) for row in repeat.requests]
    connection.register("repeat_requests", REQUESTS.from_rows(rows))
    try:
        return {int(row["point_id"]): row for row in summarize(connection, "repeat_requests").to_pylist()}
    finally:
        connection.unregister("repeat_requests")


def _repeat_row(index: int, repeat: Repeat, summary: Row, target: Target) -> Row:
    row = {name: summary.get(name) for name in REPEATS.names} | {
        "repeat_index": index,
        "seed": repeat.seed,
        "started_at": repeat.started_at,
        "percentile": target.workload.percentile,
        "n_gpus": target.n_gpus,
    }
    row |= {name: summary.get(name) or 0 for name in SUMS if name.startswith("n_")}
    row["interactivity_tok_s_user"] = interactivity(row)
    row["throughput_tok_s_gpu"] = throughputs(row).get("throughput_tok_s_gpu")
    row |= loads(repeat.requests, target)
    return {name: row[name] for name in REPEATS.names if name != "point_id"}


def over_repeats(rows: Sequence[Mapping[str, Any]], target: Target) -> Row:
    """POINTS columns of the repeats together: SUMS, MEANS, throughputs, their spread, and how many repeats there are.

    ``n_repeats`` counts the repeats in which a request succeeded. The spread is the sample standard deviation (n − 1)
    over them; null for fewer than two. Interactivity is computed in each repeat, 1 / TPOT at the workload's percentile,
    and then averaged; its spread is that of these speeds, and not the reciprocal of a spread.
    """
    counted = [{**row, "n_gpus": target.n_gpus, "percentile": target.workload.percentile} for row in rows]
    point: Row = {name: _total(counted, name) for name in SUMS} | {name: _mean(counted, name) for name in MEANS}
    point |= {name: point[name] or 0 for name in SUMS if name.startswith("n_")}
    rates = [throughputs(row) for row in counted]
    point |= {name: _mean(rates, name) for name in sorted({name for row in rates for name in row})}
    point["cache_hit_share"] = cache_hit_share(point)
    point["n_repeats"] = sum(row["n_successful"] > 0 for row in counted)
    point["throughput_std_tok_s_gpu"] = _spread(rates, "throughput_tok_s_gpu")
    point["interactivity_std_tok_s_user"] = _spread(counted, "interactivity_tok_s_user")
    if point["interactivity_tok_s_user"] is not None:
        point["interactivity_source"] = f"{tpot_column(target.workload.percentile)} of each repeat"
    return {**point, "window": "whole_run"}


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows if row.get(name) is not None]


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> Any:
    values = _values(rows, name)
    return sum(values) if values else None


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = _values(rows, name)
    return statistics.fmean(values) if values else None


def _spread(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = _values(rows, name)
    return statistics.stdev(values) if len(values) > 1 else None
