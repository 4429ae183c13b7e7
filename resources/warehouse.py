"""DuckDB, in memory, one connection a computation: it reads Parquet and keeps nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import duckdb
import pyarrow as pa

from pipeline.errors import StoreError
from pipeline.tables.columns import Table


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
        return table.cast(connection.read_parquet([str(f) for f in files]).to_arrow_table())


@contextmanager
def _damage_named(table: Table, files: Sequence[Path]) -> Iterator[None]:
    try:
        yield
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        raise StoreError(
            f"not a readable Parquet file ({' '.join(str(error).split())})",
            where=f"{table.name} of {len(files)} cells",
            next_step="Delete the file that it names and materialize raw_results of its cell again.",
        ) from error
