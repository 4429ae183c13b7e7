"""Curves of many days to what a page reads: the newest curve of every series, and the best series at every target.

Belongs here: the runners of newest.sql, combined.sql and across.sql, which hold the rules. Every function takes the
curves of any number of days, models, workloads and provenances, and never mixes the latter three.
"""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from pipeline.frontier.queries import run_query, sql_text
from pipeline.tables.across import ACROSS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS


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
