"""What imports left: for every source file its rows by cell, and one report. Replacing is by file hash.

<root>/imports/reports/<sha256>.json and <root>/imports/<gpu>/<run_date>/<sha256>.{points,requests}.parquet.
"""

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.imports.outcome import Outcome
from pipeline.imports.source import SourceFile
from pipeline.tables.by_cell import by_cell
from pipeline.tables.columns import Table
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.atomic_files import write_bytes
from resources.result_store import parquet_bytes, read_parquet


@dataclass(frozen=True)
class Imported:
    """One cell's imported rows."""

    points: pa.Table
    requests: pa.Table


class ImportStore(dg.ConfigurableResource):
    """The imported rows under ``root_dir``/imports."""

    root_dir: str

    @property
    def root(self) -> Path:
        """The folder of the imports."""
        return Path(self.root_dir) / "imports"

    def put(self, source: SourceFile, outcome: Outcome) -> set[GpuRun]:
        """Store one file's outcome in place of an earlier one of the same bytes.

        Returns every cell that it touches: those of the new rows, and those that the earlier outcome had.
        Raises StoreError.
        """
        stale = self._cells_of(source.sha256)
        fresh = by_cell(outcome.points)
        self._refuse_loss(source, outcome, stale)
        for cell, rows in fresh.items():
            mine = pc.is_in(outcome.requests["point_id"], value_set=rows["point_id"].combine_chunks())
            self._write(cell, source.sha256, POINTS, rows)
            self._write(cell, source.sha256, REQUESTS, outcome.requests.filter(mine))
        for cell in stale - fresh.keys():
            for table in (POINTS, REQUESTS):
                self._path(cell, source.sha256, table).unlink(missing_ok=True)
        report = report_of(source, outcome) | {"cells": [str(c.key) for c in sorted(fresh)]}
        write_bytes(self._report(source.sha256), (json.dumps(report, indent=1) + "\n").encode())
        return fresh.keys() | stale

    def _refuse_loss(self, source: SourceFile, outcome: Outcome, stale: set[GpuRun]) -> None:
        """An import that gives fewer points than the same bytes gave before takes nothing away."""
        stored = sum(read_parquet(self._path(c, source.sha256, POINTS), POINTS).num_rows for c in stale)
        if outcome.points.num_rows < stored:
            raise StoreError(
                "the same file was imported before and gave more points; those stay",
                where=source.name,
                expected=f"{stored} points",
                found=f"{outcome.points.num_rows}, and {outcome.n_rejected} rows rejected",
                next_step="Declare what you declared then (gpu, engine, …), and import it again.",
            )

    def read(self, cell: GpuRun) -> Imported:
        """Everything imported for one cell. Raises StoreError for a damaged file."""
        return Imported(self._read_all(cell, POINTS), self._read_all(cell, REQUESTS))

    def cells(self) -> set[GpuRun]:
        """Every cell that has imported rows."""
        folders = {p.parent for p in self.root.glob(f"*/????-??-??/*.{POINTS.name}.parquet")}
        return {GpuRun(f.parent.name, dt.date.fromisoformat(f.name)) for f in folders}

    def _read_all(self, cell: GpuRun, table: Table) -> pa.Table:
        files: Iterable[Path] = sorted(self._folder(cell).glob(f"*.{table.name}.parquet"))
        tables = [read_parquet(f, table) for f in files if not f.name.startswith(".")]
        return pa.concat_tables(tables).combine_chunks() if tables else table.empty()

    def _folder(self, cell: GpuRun) -> Path:
        return self.root / cell.gpu / cell.run_date.isoformat()

    def _path(self, cell: GpuRun, sha256: str, table: Table) -> Path:
        return self._folder(cell) / f"{sha256}.{table.name}.parquet"

    def _report(self, sha256: str) -> Path:
        return self.root / "reports" / f"{sha256}.json"

    def _write(self, cell: GpuRun, sha256: str, table: Table, rows: pa.Table) -> None:
        write_bytes(self._path(cell, sha256, table), parquet_bytes(table.sorted(rows)))

    def _cells_of(self, sha256: str) -> set[GpuRun]:
        return {
            GpuRun(p.parent.parent.name, dt.date.fromisoformat(p.parent.name))
            for p in self.root.glob(f"*/????-??-??/{sha256}.{POINTS.name}.parquet")
        }


def report_of(source: SourceFile, outcome: Outcome) -> dict[str, object]:
    """The import report of one file: imported + invalid + rejected = rows read."""
    return {
        "file": source.name,
        "sha256": source.sha256,
        "format": outcome.source_format,
        "rows_read": outcome.n_rows_read,
        "imported": outcome.n_valid,
        "invalid": outcome.n_invalid,
        "rejected": outcome.n_rejected,
        "requests": outcome.requests.num_rows,
        "notes": list(outcome.notes),
        "rejections": [{"row": r.row, "code": r.code, "detail": r.detail} for r in outcome.rejected],
    }
