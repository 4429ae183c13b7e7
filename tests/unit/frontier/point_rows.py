"""Points by hand for the frontier's tests: two numbers, a curve, and everything else by default."""

import datetime as dt

import duckdb
import pyarrow as pa

from pipeline.frontier.derive import Curves, derive_curves
from pipeline.frontier.targets import TARGETS_TOK_S_USER
from pipeline.tables.points import POINTS

AGENTIC = ("agentx",)
DAY = dt.date(2026, 10, 2)


def point(x: float | None, y: float | None, **columns: object) -> dict[str, object]:
    """A valid agentic point at speed x (tok/s/user) with throughput y (tok/s/GPU); any column can be replaced."""
    row: dict[str, object] = {
        "model": "m",
        "gpu": "b300",
        "workload": "agentx",
        "engine": "vllm",
        "precision": "fp4",
        "provenance": "measured",
        "engine_family": "vllm",
        "topology": "tp8",
        "concurrency": 8,
        "run_id": "run1",
        "run_date": DAY,
        "attempt": 1,
        "valid": True,
        "reasons": [],
        "notes": [],
        "percentile": 90,
        "interactivity_tok_s_user": x,
        "throughput_tok_s_gpu": y,
        "declared": [],
        "source_format": "test",
        "source_file": "test.json",
        "source_sha256": "0",
        "source_row": 0,
    }
    return row | columns


def curve(*pairs: tuple[float, float], **columns: object) -> list[dict[str, object]]:
    """Points of one curve, slowest name first: p0, p1, … with a prefix from ``run_id`` where one is given."""
    prefix = columns.get("run_id", "p")
    return [point(x, y, point_id=f"{prefix}{i}", concurrency=i, **columns) for i, (x, y) in enumerate(pairs)]


def points_table(rows: list[dict[str, object]]) -> pa.Table:
    """Rows as POINTS in the order given; a row without a name is called by its place."""
    named = [{"point_id": f"p{i}", **row} for i, row in enumerate(rows)]
    assert not {name for row in named for name in row} - set(POINTS.names)
    return pa.Table.from_pylist(named, schema=POINTS.schema)


def derived(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, object]], targets=TARGETS_TOK_S_USER) -> Curves:
    """The curves of rows, through the SQL."""
    connection.register("points", points_table(rows))
    try:
        return derive_curves(connection, AGENTIC, targets)
    finally:
        connection.unregister("points")


def knot_pairs(knots: pa.Table) -> list[tuple[float, float]]:
    """(x, y) of knots in stored order."""
    names = ("interactivity_tok_s_user", "throughput_tok_s_gpu")
    return list(zip(*(knots[name].to_pylist() for name in names), strict=True))


def reading_of(readings: pa.Table, reading: str, target: float) -> dict[str, object]:
    """The only row of one reading at one target."""
    (row,) = [r for r in readings.to_pylist() if (r["reading"], r["target_tok_s_user"]) == (reading, target)]
    return row
