"""Points to curves: the frontier of every series of every run, and its reading at the speed targets.

Belongs here: the runner of pareto.sql and ladder.sql, which hold the rules. Choosing among series is across.py's,
dollars are pipeline/cost's, and files are a resource's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from pipeline.frontier.queries import run_query, sql_text
from pipeline.frontier.targets import TARGETS_TOK_S_USER
from pipeline.tables.knots import KNOTS
from pipeline.tables.readings import READINGS


@dataclass(frozen=True)
class Curves:
    """What one set of points says: ``knots`` (KNOTS) and ``readings`` (READINGS). Both empty without a valid point."""

    knots: pa.Table
    readings: pa.Table


def derive_curves(
    connection: duckdb.DuckDBPyConnection, agentic: Iterable[str], targets: Iterable[float] = TARGETS_TOK_S_USER
) -> Curves:
    """Frontier and readings of every curve in the relation ``points`` of the connection (POINTS columns).

    A curve is one series of one run on one day, so points of two runs are never joined. ``agentic`` names the
    workloads in whose series the speculative method is no part: there the curve's ``spec_method`` is null unless all
    knots agree. ``targets`` are minimum speeds in tok/s/user; repeated ones count once.

    Throughputs are tok/s/GPU. Between two knots, output and computed input are an estimate: their shares of the
    total, linear in the speed, times the interpolated total; null where either knot does not say.
    """
    knots = run_query(connection, sql_text(__package__, "pareto.sql"), KNOTS, {}, {"agentic": sorted(set(agentic))})
    return Curves(knots=knots, readings=read_curves(connection, knots, targets))


def read_curves(
    connection: duckdb.DuckDBPyConnection, knots: pa.Table, targets: Iterable[float] = TARGETS_TOK_S_USER
) -> pa.Table:
    """READINGS of curves that were derived before: every curve at every target, in tok/s/user, by both readings."""
    speeds_tok_s_user = sorted({float(target) for target in targets})
    return run_query(
        connection,
        sql_text(__package__, "ladder.sql"),
        READINGS,
        {"ladder_knots": knots},
        {"targets": speeds_tok_s_user},
    )
