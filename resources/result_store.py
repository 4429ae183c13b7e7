"""The Parquet store: where a cell's tables are, writing them whole, listing them.

Belongs here: paths, Parquet bytes, manifests. Not here: what a table means (pipeline/tables), imports by
source file (import_store.py), SQL (warehouse.py).
"""

import datetime as dt
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.tables.columns import Table
from resources.atomic_files import sha256_of, write_bytes


@dataclass(frozen=True)
class Stored:
    """One stored file: where, how many rows, the hash of its bytes, and whether this write changed it."""

    path: Path
    n_rows: int
    sha256: str
    changed: bool


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as Parquet bytes; the same table gives the same bytes.

    Snappy: on files of some ten rows it is as small as zstd, at half the CPU.
    """
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="snappy", version="2.6", store_schema=True)
    return sink.getvalue()


class ResultStore(dg.ConfigurableResource):
    """Parquet files of every cell under ``root_dir``: <stage>/<gpu>/<run_date>/<table>.parquet."""

    root_dir: str

    @property
    def root(self) -> Path:
        """The folder of the store."""
        return Path(self.root_dir)

    def path(self, stage: str, cell: GpuRun, table: Table) -> Path:
        """Where one table of one cell is, whether it exists or not."""
        return self.root / stage / cell.gpu / cell.run_date.isoformat() / f"{table.name}.parquet"

    def write(self, stage: str, cell: GpuRun, table: Table, rows: pa.Table) -> Stored:
        """Write one table of one cell, whole. Raises StoreError, also for rows that break the schema."""
        violations = table.violations(rows)
        path = self.path(stage, cell, table)
        if violations:
            raise StoreError(violations[0], where=str(path), next_step="This is a defect of the stage that wrote it.")
        content = parquet_bytes(table.sorted(rows))
        return Stored(path, rows.num_rows, sha256_of(content), write_bytes(path, content))

    def read(self, stage: str, cell: GpuRun, table: Table) -> pa.Table:
        """One table of one cell; no rows where it was never written. Raises StoreError for a damaged file."""
        path = self.path(stage, cell, table)
        return read_parquet(path, table) if path.exists() else table.empty()

    def paths(self, stage: str, gpu: str, table: Table) -> list[Path]:
        """The files of one table of one GPU, by run date."""
        return sorted((self.root / stage / gpu).glob(f"????-??-??/{table.name}.parquet"))

    def existing(self, stage: str, cells: Iterable[GpuRun], table: Table) -> list[Path]:
        """The files of one table of some cells, in their order; cells without one are left out."""
        return [path for path in (self.path(stage, cell, table) for cell in cells) if path.exists()]

    def all_paths(self, stage: str, table: Table) -> list[Path]:
        """The files of one table of every GPU, by GPU and run date."""
        return sorted((self.root / stage).glob(f"*/????-??-??/{table.name}.parquet"))

    def write_manifest(self, stage: str, cell: GpuRun, files: Iterable[Stored], sources: Mapping[str, str]) -> Path:
        """Write the cell's manifest: every file with rows and hash, and the hash of every source file by name."""
        folder = self.root / stage / cell.gpu / cell.run_date.isoformat()
        manifest = {
            "gpu": cell.gpu,
            "run_date": cell.run_date.isoformat(),
            "files": [{"file": f.path.name, "rows": f.n_rows, "sha256": f.sha256} for f in files],
            "sources": [{"sha256": sha, "file": name} for sha, name in sorted(sources.items())],
        }
        path = folder / "manifest.json"
        write_bytes(path, (json.dumps(manifest, indent=1) + "\n").encode())
        return path

    def cells(self, stage: str) -> Iterator[GpuRun]:
        """Every cell that has a folder in the stage, by GPU and date."""
        for folder in sorted((self.root / stage).glob("*/????-??-??")):
            yield GpuRun(folder.parent.name, dt.date.fromisoformat(folder.name))


def read_parquet(path: Path, table: Table) -> pa.Table:
    """One Parquet file, checked against its schema. Raises StoreError that names the file."""
    try:
        rows = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"not a readable Parquet file ({error})",
            where=str(path),
            next_step="Delete it and materialize its cell again.",
        ) from error
    violations = table.violations(rows)
    if violations:
        raise StoreError(violations[0], where=str(path), next_step="Materialize its cell again with this version.")
    return rows
