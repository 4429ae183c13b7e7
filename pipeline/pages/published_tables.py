"""The tables that a site publishes as files, and their texts: CSV, the list of columns, checksums.

A new download is one entry of PUBLISHED. Writing files is a resource's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pipeline.tables.changes import CHANGES
from pipeline.tables.columns import Table
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.prices import PRICES
from pipeline.tables.readings import READINGS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.runs import RUNS
from pipeline.tables.verdicts import VERDICTS

DATABASE = "published.duckdb"
COLUMNS_FILE = "columns.csv"
CHECKSUMS_FILE = "SHA256SUMS"
LIST_SEPARATOR = " "
N_ROWS_AT_ONCE = 1000
"""Rows whose lists are texts at a time."""


@dataclass(frozen=True)
class Published:
    """One table and the name of its files, without ending."""

    table: Table
    file: str


PUBLISHED = (
    Published(POINTS, "points"),
    Published(REPEATS, "repeats"),
    Published(RUNS, "runs"),
    Published(KNOTS, "frontier"),
    Published(READINGS, "readings"),
    Published(COSTS, "costs"),
    Published(PRICES, "prices"),
    Published(CHANGES, "changes"),
    Published(VERDICTS, "verdicts"),
)


def write_csv(rows: pa.Table, sink: IO[bytes]) -> None:
    """Rows as CSV: column names end in their unit, a list is its values with spaces between, null is empty."""
    types = [pa.string() if pa.types.is_list(field.type) else field.type for field in rows.schema]
    schema = pa.schema(zip(rows.column_names, types, strict=True))
    with pyarrow.csv.CSVWriter(sink, schema, write_options=pyarrow.csv.WriteOptions(quoting_style="needed")) as writer:
        for batch in rows.to_batches(max_chunksize=N_ROWS_AT_ONCE):
            writer.write(pa.record_batch([_plain(column) for column in batch.columns], schema=schema))


def _plain(column: pa.Array) -> pa.Array:
    if not pa.types.is_list(column.type):
        return column
    return pc.binary_join(column.cast(pa.list_(pa.string())), LIST_SEPARATOR)


def columns_csv() -> str:
    """Every column of every download: file, name, type, unit and meaning."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["file", "column", "type", "unit", "meaning"])
    for published in PUBLISHED:
        for column in published.table.columns:
            writer.writerow([published.file, column.name, column.type, column.unit, column.description])
    return out.getvalue()


def checksums(hashes: Mapping[str, str]) -> str:
    """SHA-256 by file name as sha256sum reads it."""
    return "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(hashes.items()))
