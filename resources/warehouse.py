"""DuckDB, in memory, one connection a computation: it reads Parquet and keeps nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import duckdb

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
        with self.connect() as connection:
            try:
                if files:
                    connection.read_parquet([str(f) for f in files]).create_view(table.name)
                else:
                    connection.register(table.name, table.empty())
                yield connection
            except duckdb.IOException as error:
                raise StoreError(
                    f"not a readable Parquet file ({' '.join(str(error).split())})",
                    where=f"{table.name} of {len(files)} cells",
                    next_step="Delete the file that it names and materialize raw_results of its cell again.",
                ) from error
