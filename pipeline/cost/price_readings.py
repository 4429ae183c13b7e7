"""Readings to costs: the runner of cost.sql and as_of.sql, which hold the rules.

Belongs here: joining readings with a price table handed in. The price book itself is pipeline/registry's, the
arithmetic of one number is kinds.py's, and the format of a printed cost is pipeline/pages'.
"""

from __future__ import annotations

import datetime as dt

import duckdb
import pyarrow as pa

from pipeline.cost.price_book import ALL_CORRECTIONS
from pipeline.frontier.queries import run_query, sql_text
from pipeline.tables.costs import COSTS


def price_readings(connection: duckdb.DuckDBPyConnection, readings: pa.Table, prices: pa.Table) -> pa.Table:
    """COSTS: every reading (READINGS) with a throughput, at every price row (PRICES) of its GPU that still counts.

    A price row counts when it held, and was not corrected yet, on some day on or after the run date, so a new row of
    the book adds rows here and re-prices none. All of history is kept: costs_as_of picks one day. USD per million
    tokens; a GPU without a price gives no row.
    """
    tables = {"cost_readings": readings, "cost_prices": prices}
    return run_query(connection, sql_text(__package__, "cost.sql"), COSTS, tables, {})


def costs_as_of(
    connection: duckdb.DuckDBPyConnection, costs: pa.Table, as_of: dt.date, known_on: dt.date = ALL_CORRECTIONS
) -> pa.Table:
    """The COSTS rows whose price row holds on ``as_of``: valid_from <= as_of < valid_to.

    Corrections made after ``known_on`` are left out: the row that they replaced is read instead.

    At most one row a reading and tier, because the book has no overlaps. A day before the first ``valid_from`` of a
    tier, or in a gap between two rows, or after the last ``valid_to``, has no row of that tier. A run dated after
    ``as_of`` keeps its cost while the price row of that day also held on the run date or later; if the price had
    changed by then, it has none: such a price never applied to the run.
    """
    days = {"as_of": as_of, "known_on": known_on}
    return run_query(connection, sql_text(__package__, "as_of.sql"), COSTS, {"all_costs": costs}, days)
