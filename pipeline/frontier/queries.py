"""Running one shipped SQL file on a connection that somebody else opened. The rules are in the .sql files.

Arrow tables are visible to the file under the names that its header gives, for the length of one query. Values reach
the SQL as bound parameters only; no identifier is ever built from data.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

import duckdb
import pyarrow as pa

from pipeline.tables.columns import Table

Tables = Mapping[str, pa.Table]
Parameters = Mapping[str, object]


@functools.cache
def sql_text(package: str, file: str) -> str:
    """The text of an SQL file that ships in a package, e.g. ("pipeline.frontier", "pareto.sql"). Read once."""
    return resources.files(package).joinpath(file).read_text(encoding="utf-8")


def run_query(
    connection: duckdb.DuckDBPyConnection, sql: str, result: Table, tables: Tables, parameters: Parameters
) -> pa.Table:
    """The rows of one query in the schema and the stored order of ``result``. Zero rows give an empty table.

    ``tables`` are registered under their names and taken back afterwards, also when the query fails.
    """
    for name, table in tables.items():
        connection.register(name, table)
    try:
        rows = connection.sql(sql, params=dict(parameters) or None).to_arrow_table()
    finally:
        for name in tables:
            connection.unregister(name)
    return result.sorted(result.cast(rows))
