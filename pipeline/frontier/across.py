"""Curves of many days to what a page reads: the newest curve of every series, the best series, and all older ones.

Belongs here: the runners of newest.sql, combined.sql, across.sql and history.sql, which hold the rules. Every function
takes the curves of any number of days, models, workloads and provenances, and never mixes the latter three.
"""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from pipeline.frontier.queries import run_query, sql_text
from pipeline.frontier.targets import PRIMARY_TARGET_TOK_S_USER
from pipeline.tables.across import ACROSS
from pipeline.tables.history import HISTORY
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS

RUN = ["run_id", "run_date", "topology"]
"""What names a row of RUNS."""

N_RUNS = 60
N_WHOLE_RUNS = 2


def newest_curves(connection: duckdb.DuckDBPyConnection, knots: pa.Table) -> pa.Table:
    """KNOTS rows, unchanged, of the newest curve of every series: run date, then run start, then run id.

    A run whose start is unknown is older than any run of that day whose start is known.
    """
    return run_query(connection, sql_text(__package__, "newest.sql"), KNOTS, {"all_knots": knots}, {})


def read_across(connection: duckdb.DuckDBPyConnection, knots: pa.Table, readings: pa.Table) -> pa.Table:
    """ACROSS: at every target the best of the newest curves, per model, GPU, workload, provenance and reading.

    ``at_least`` takes the largest throughput in tok/s/GPU of any series. ``at_target`` follows the fixed order of the
    reference pages. The basis is that of the winning reading; where no series has a value, the throughput and
    everything that names a series are null and ``reason`` says why. Empty without a curve.
    """
    tables = {"newest_knots": newest_curves(connection, knots), "across_readings": readings}
    return run_query(connection, sql_text(__package__, "across.sql"), ACROSS, tables, {})


def combined_frontier(connection: duckdb.DuckDBPyConnection, knots: pa.Table) -> pa.Table:
    """KNOTS rows, unchanged, that no newest curve of the same model, GPU, workload and provenance dominates.

    ``knot_index`` and ``slope`` stay those of the point's own curve. Sorted as KNOTS is: for a line over all series
    sort by ``interactivity_tok_s_user`` within model, GPU, workload and provenance.
    """
    newest = newest_curves(connection, knots)
    return run_query(connection, sql_text(__package__, "combined.sql"), KNOTS, {"newest_knots": newest}, {})


def page_points(
    connection: duckdb.DuckDBPyConnection, points: pa.Table, knots: pa.Table, agentic: Iterable[str]
) -> pa.Table:
    """The POINTS rows that a page stands on: of every series, the run of its newest valid curve, else its newest run.

    ``agentic`` names the workloads in whose series the speculative method is no part, as in derive_curves.
    """
    tables = {"all_points": points, "newest_knots": newest_curves(connection, knots)}
    return run_query(
        connection, sql_text(__package__, "page_points.sql"), POINTS, tables, {"agentic": sorted(set(agentic))}
    )


def runs_behind(runs: pa.Table, points: pa.Table) -> pa.Table:
    """The RUNS rows, unchanged, of the runs that the points come from; empty where they come from imports alone."""
    return runs.join(points.select(RUN), RUN, join_type="left semi")


def curve_history(
    connection: duckdb.DuckDBPyConnection, knots: pa.Table, readings: pa.Table, points: pa.Table
) -> pa.Table:
    """HISTORY: the at_least readings of the newest runs, with the builds, the repeats and the spread of the raw rows.

    The two newest runs of a series are read at every target, up to N_RUNS older ones at the primary target only: a
    page shows a year of it and stays small. The spread is null where a raw row was not repeated. Empty without a curve.
    """
    return _history(connection, knots, readings, points, (N_RUNS, N_WHOLE_RUNS))


def whole_history(
    connection: duckdb.DuckDBPyConnection, knots: pa.Table, readings: pa.Table, points: pa.Table
) -> pa.Table:
    """As curve_history, but every run at every target."""
    return _history(connection, knots, readings, points, (readings.num_rows, readings.num_rows))


def _history(
    connection: duckdb.DuckDBPyConnection,
    knots: pa.Table,
    readings: pa.Table,
    points: pa.Table,
    n_runs: tuple[int, int],
) -> pa.Table:
    tables = {"newest_knots": newest_curves(connection, knots), "all_readings": readings, "all_points": points}
    limits = {"n_runs": n_runs[0], "n_whole_runs": n_runs[1], "primary": float(PRIMARY_TARGET_TOK_S_USER)}
    return run_query(connection, sql_text(__package__, "history.sql"), HISTORY, tables, limits)
