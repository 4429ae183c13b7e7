"""What imports left: for every source file its rows by cell, and one report. Replacing is by file hash.

<root>/imports/reports/<sha256>.json and <root>/imports/<gpu>/<run_date>/<sha256>.{points,requests}.parquet.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.imports.lengths import guessed_workloads
from pipeline.imports.outcome import Outcome
from pipeline.imports.source import SourceFile
from pipeline.imports.told import told_of
from pipeline.pages.formats import counted
from pipeline.tables.by_cell import by_cell
from pipeline.tables.columns import Table
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.atomic_files import write_bytes
from resources.result_store import cell_of, error_in, is_newer_folder, parquet_bytes, read_parquet


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
        stored = sum(_n_rows(self._path(c, source.sha256, POINTS)) for c in stale)
        if outcome.points.num_rows < stored:
            raise StoreError(
                "the same file was imported before and gave more points; those stay",
                where=source.name,
                expected=counted(stored, "point"),
                found=f"{outcome.points.num_rows}, and {counted(outcome.n_rejected, 'row')} rejected",
                next_step="Declare what you declared then (gpu, engine, …), and import it again.",
            )

    def read(self, cell: GpuRun) -> Imported:
        """Everything imported for one cell. Raises StoreError for a damaged file."""
        return Imported(self._read_all(cell, POINTS), self._read_all(cell, REQUESTS))

    def cells(self) -> set[GpuRun]:
        """Every cell that has imported rows."""
        folders = {p.parent for p in self.root.glob(f"*/????-??-??/*.{POINTS.name}.parquet")}
        return {cell_of(folder) for folder in folders}

    def read_points(self, cell: GpuRun) -> pa.Table:
        """The points imported for one cell. Raises StoreError for a damaged file."""
        return self._read_all(cell, POINTS)

    def is_newer(self, cell: GpuRun, than: Path) -> bool:
        """Whether an import of the cell came or went after a file was written, or that file is not there."""
        return is_newer_folder(self._folder(cell), than)

    def damaged(self) -> Iterator[StoreError]:
        """What is wrong with each imported file that cannot be read."""
        for table in (POINTS, REQUESTS):
            for path in sorted(self.root.glob(f"*/????-??-??/*.{table.name}.parquet")):
                if not path.name.startswith("."):
                    yield from error_in(path, table, _again(path))

    def _read_all(self, cell: GpuRun, table: Table) -> pa.Table:
        files: Iterable[Path] = sorted(self._folder(cell).glob(f"*.{table.name}.parquet"))
        tables = [_read(f, table) for f in files if not f.name.startswith(".")]
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
        return {cell_of(p.parent) for p in self.root.glob(f"*/????-??-??/{sha256}.{POINTS.name}.parquet")}


def _read(path: Path, table: Table) -> pa.Table:
    return read_parquet(path, table, _again(path))


def _n_rows(path: Path) -> int:
    """Rows of a stored file of any version; 0 of a damaged one, which the same import replaces."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return 0


def _again(path: Path) -> str:
    report = path.parents[2] / "reports" / f"{path.name.partition('.')[0]}.json"
    return (
        f"To replace it, import its source file again ({report} names that); of an older version, all files at once. "
        "Nothing else can give its rows back."
    )


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
        "guessed_workloads": guessed_workloads(outcome.points),
        **told_of(outcome.points),
        "rejections": [{"row": r.row, "code": r.code, "detail": r.detail} for r in outcome.rejected],
    }
