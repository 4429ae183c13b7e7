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
    rows = zip(*(ordered[name].to_pylist() for name in ("gpu", "run_date")), strict=True)
    counts = {GpuRun(*cell): len(list(group)) for cell, group in itertools.groupby(rows)}
    starts = itertools.accumulate(counts.values(), initial=0)
    together = table.take(ordered["row"])
    return {cell: together.slice(start, n) for (cell, n), start in zip(counts.items(), starts, strict=False)}
