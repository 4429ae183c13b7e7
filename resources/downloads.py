"""The site's data folder: every stored row as Parquet, and the same tables in one read-only DuckDB file."""

from collections.abc import Mapping
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline.tables.columns import Table
from resources.atomic_files import write_bytes
from resources.result_store import parquet_bytes


def write_downloads(folder: Path, tables: Mapping[Table, tuple[str, pa.Table]]) -> None:
    """Write <file>.parquet for each table and published.duckdb with all of them, columns commented with their units."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, (file, rows) in tables.items():
        write_bytes(folder / f"{file}.parquet", parquet_bytes(table.sorted(rows)))
    with duckdb.connect(str(folder / "published.duckdb")) as connection:
        for table, (file, _) in tables.items():
            parquet = str(folder / f"{file}.parquet")
            connection.read_parquet(parquet).create(table.name)
            for column in table.columns:
                said = f"{column.description} [{column.unit}]" if column.unit else column.description
                quoted = said.replace("'", "''")
                connection.execute(f"COMMENT ON COLUMN {table.name}.{column.name} IS '{quoted}'")
