"""DuckDB, in memory, one connection a computation: it reads Parquet and keeps nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.tables.columns import Table
from resources.result_store import DERIVE_AGAIN, error_in


class Warehouse(dg.ConfigurableResource):
    """Fresh DuckDB connections. ``threads`` bounds one connection's cores (0: as many as there are)."""

    threads: int = 0

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that is closed at the end."""
        settings: dict[str, str | bool | int | float | list[str]] = {"threads": self.threads} if self.threads else {}
        with duckdb.connect(":memory:", config=settings) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection

    @contextmanager
    def over(self, table: Table, files: Sequence[Path]) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with one view named after the table, over an explicit list of Parquet files.

        Raises StoreError for a damaged one.
        """
        with self.connect() as connection, _damage_named(table, files):
            if files:
                connection.read_parquet([str(f) for f in files]).create_view(table.name)
            else:
                connection.register(table.name, table.empty())
            yield connection

    def read(self, table: Table, files: Sequence[Path]) -> pa.Table:
        """As read_files, on a connection of its own."""
        with self.connect() as connection:
            return read_files(connection, table, files)


def read_files(connection: duckdb.DuckDBPyConnection, table: Table, files: Sequence[Path]) -> pa.Table:
    """The rows of many Parquet files of one table, in the order of the list. Raises StoreError for a damaged one."""
    if not files:
        return table.empty()
    with _damage_named(table, files):
        return table.cast(_rows(connection, table, [str(f) for f in files]))


def _rows(connection: duckdb.DuckDBPyConnection, table: Table, files: list[str]) -> pa.Table:
    """The columns of the first file, which is cheap, or of all where older files may lack some.

    Trap: without union_by_name a column that the first file lacks is dropped from every other one, silently.
    """
    try:
        rows = connection.read_parquet(files).to_arrow_table()
    except duckdb.InvalidInputException:
        if not table.added_later:
            raise
    else:
        if set(table.added_later) <= set(rows.schema.names):
            return rows
    _refuse_strange(table, files)
    return connection.read_parquet(files, union_by_name=True).to_arrow_table()


def _refuse_strange(table: Table, files: list[str]) -> None:
    """Raises KeyError for a file that lacks more than what was added later: read by name its rows would be nulls."""
    needed = set(table.names) - set(table.added_later)
    for file in files:
        if lacking := needed - set(pq.read_schema(file).names):
            raise KeyError(f"{file} lacks {sorted(lacking)}")


@contextmanager
def _damage_named(table: Table, files: Sequence[Path]) -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except (duckdb.Error, pa.ArrowException, KeyError) as error:  # damage has many classes, of all three
        damaged = next((found for path in files for found in error_in(path, table, DERIVE_AGAIN)), None)
        if damaged is None:
            raise
        raise damaged from error  # its sentence: theirs name every column of the file, or none
