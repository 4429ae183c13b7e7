"""Requests to per-point statistics: the runner of summary.sql and summary_itl.sql over a connection handed in.

Belongs here: what the columns of a summary are called and in which unit. Not here: whether a point is valid
(validity.py) or which stretch of time counts (window.py).
"""

from __future__ import annotations

from importlib import resources

import duckdb
import pyarrow as pa

from pipeline.tables.columns import Column, Table, count, number, text
from pipeline.tables.points import LATENCIES, PERCENTILES, STATISTICS

_PER_LATENCY = {"ttft": "scalar", "tpot": "scalar", "e2el": "scalar", "itl": "itl"}


def _statistic_columns() -> tuple[Column, ...]:
    names = [(latency, statistic) for latency in LATENCIES for statistic in STATISTICS]
    return tuple(number(f"{latency}_{statistic}_s", "s", f"{statistic} of {latency}") for latency, statistic in names)


SUMMARY = Table(
    name="summary",
    grain="one point: its profiling requests counted and their latencies as statistics; columns named as in POINTS",
    columns=(
        text("point_id", "the point", nullable=False),
        count("n_requested", "requests of the profiling phase", nullable=False),
        count("n_successful", "outcome ok", nullable=False),
        count("n_failed", "outcome failed", nullable=False),
        count("n_cancelled", "outcome cancelled", nullable=False),
        count("n_warmup", "requests of other phases, in no other number here", nullable=False),
        count("input_tok", "input tokens of successful requests", unit="tok"),
        count("output_tok", "output tokens of successful requests", unit="tok"),
        count("cached_input_tok", "cached input tokens of successful requests", unit="tok"),
        count("first_start_ns", "earliest start of a profiling request", unit="ns"),
        count("last_end_ns", "latest end of a profiling request", unit="ns"),
        number("window_s", "s", "whole run: latest end − earliest start"),
        *_statistic_columns(),
    ),
    order=("point_id",),
)


def summarize(connection: duckdb.DuckDBPyConnection, requests_relation: str) -> pa.Table:
    """Per-point statistics of a relation of REQUESTS columns, as a SUMMARY table sorted by point_id.

    Latencies are in seconds over successful profiling requests; percentiles are linearly interpolated at rank
    (n−1)·p/100; the standard deviation is the population's, as in the load clients. A point with warm-up requests
    only has zero counts and null statistics. An empty relation gives an empty table.
    """
    result = connection.sql(_query(requests_relation)).to_arrow_table()
    return SUMMARY.sorted(SUMMARY.cast(result))


def _query(relation: str) -> str:
    spread = [_spread(latency, source) for latency, source in _PER_LATENCY.items()]
    counts = [f"coalesce(scalar.{n}, 0) AS {n}" for n in ("n_requested", "n_successful", "n_failed", "n_cancelled")]
    plain = [f"scalar.{n}" for n in ("input_tok", "output_tok", "cached_input_tok", "first_start_ns", "last_end_ns")]
    return f"""
        WITH everyone AS (
          SELECT point_id, count_if(phase <> 'profiling') AS n_warmup FROM {relation} GROUP BY point_id
        ),
        scalar AS ({_sql("summary.sql", relation)}),
        itl AS ({_sql("summary_itl.sql", relation)})
        SELECT everyone.point_id, everyone.n_warmup, {", ".join(counts + plain)},
          (scalar.last_end_ns - scalar.first_start_ns) / 1e9 AS window_s, {", ".join(spread)}
        FROM everyone LEFT JOIN scalar USING (point_id) LEFT JOIN itl USING (point_id)
    """


def _spread(latency: str, source: str) -> str:
    """The quantile list of one latency as one column a percentile."""
    picks = [f"{source}.{latency}_mean_s", f"{source}.{latency}_std_s"]
    picks += [f"{source}.{latency}_quantiles_s[{i}] AS {latency}_p{p}_s" for i, p in enumerate(PERCENTILES, start=1)]
    return ", ".join(picks)


def _sql(file: str, relation: str) -> str:
    text_ = resources.files("pipeline.measure").joinpath(file).read_text(encoding="utf-8")
    return text_.replace("{requests}", relation)
