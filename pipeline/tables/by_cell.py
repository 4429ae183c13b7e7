"""One table of many cells, split into one table a cell."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pyarrow as pa

from pipeline.cell import GpuRun


def by_cell(table: pa.Table) -> Mapping[GpuRun, pa.Table]:
    """Rows of a table with ``gpu`` and ``run_date`` columns by cell; rows keep their order. No rows, no cells."""
    cells = table.select(["gpu", "run_date"]).append_column("row", pa.array(range(table.num_rows), pa.int64()))
    ordered = cells.sort_by([("gpu", "ascending"), ("run_date", "ascending"), ("row", "ascending")])
    rows = zip(*(ordered[name].to_pylist() for name in ("gpu", "run_date", "row")), strict=True)
    grouped = itertools.groupby(rows, key=lambda row: (row[0], row[1]))
    return {GpuRun(*cell): table.take([row for *_, row in group]) for cell, group in grouped}
