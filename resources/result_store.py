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
from typing import IO

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.pages.formats import counted
from pipeline.registry.shipped import shipped_renamed
from pipeline.tables.columns import Table
from resources.atomic_files import sha256_of, write_bytes

RAW = "raw"
"""The stage of what was measured, simulated or imported."""


@dataclass(frozen=True)
class Stored:
    """One stored file: where, how many rows, the hash of its bytes, and whether this write changed it."""

    path: Path
    n_rows: int
    sha256: str
    changed: bool


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as Parquet bytes; the same table gives the same bytes.

    Snappy: on files of some ten rows it is as small as zstd, at half the CPU. Every page carries its checksum: without
    one, a flipped bit of a number is another number (39 of 168 flips in a small file were; with it, 1 was).
    """
    sink = io.BytesIO()
    write_parquet(table, sink)
    return sink.getvalue()


def write_parquet(table: pa.Table, sink: IO[bytes]) -> None:
    """The same bytes into an open file. Raises OSError."""
    pq.write_table(table, sink, compression="snappy", version="2.6", store_schema=True, write_page_checksum=True)


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

    def write_some(self, stage: str, cell: GpuRun, tables: Mapping[Table, pa.Table]) -> list[Stored]:
        """Write those tables of one cell that have rows; the others have no file. Raises StoreError."""
        for table, rows in tables.items():
            if not rows.num_rows:
                self.path(stage, cell, table).unlink(missing_ok=True)
        return [self.write(stage, cell, table, rows) for table, rows in tables.items() if rows.num_rows]

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

    def hashes(self, files: Iterable[Path]) -> dict[str, str]:
        """Hash of the bytes of files of this store, by their name below its folder. Raises StoreError."""
        try:
            return {path.relative_to(self.root).as_posix(): sha256_of(path.read_bytes()) for path in files}
        except OSError as error:
            raise StoreError(
                f"cannot be read ({error.strerror or error})",
                where=str(error.filename),
                next_step="Correct its permissions, or derive its cell again.",
            ) from error

    def gpus(self, stage: str) -> list[str]:
        """Every GPU that has a folder in the stage, none under a former slug."""
        found = sorted(path.name for path in (self.root / stage).glob("*") if path.is_dir())
        return [gpu for gpu in found if gpu not in shipped_renamed().gpus]

    def newest(self, stage: str, gpu: str, table: Table, n_days: int) -> pa.Table:
        """One table of the newest run dates of one GPU that have it. Raises StoreError for a damaged file."""
        tables = [read_parquet(path, table) for path in self.paths(stage, gpu, table)[-n_days:]]
        return pa.concat_tables(tables) if tables else table.empty()

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
        """Every cell that has a folder in the stage, by GPU and date; none of a GPU's former slug."""
        renamed = shipped_renamed().gpus
        return (cell for cell in self.all_cells(stage) if cell.gpu not in renamed)

    def all_cells(self, stage: str) -> Iterator[GpuRun]:
        """The same with those that were derived under a former slug."""
        for folder in sorted((self.root / stage).glob("*/????-??-??")):
            yield cell_of(folder)


def cell_of(folder: Path) -> GpuRun:
    """The cell of a folder <gpu>/<run_date>, of whichever store."""
    return GpuRun(folder.parent.name, dt.date.fromisoformat(folder.name))


def is_newer_folder(folder: Path, than: Path) -> bool:
    """Whether something in a folder came or went after a file was written, or that file is not there."""
    return folder.is_dir() and (not than.exists() or folder.stat().st_mtime >= than.stat().st_mtime)


SMALL_FILE_BYTES = 2**20
DERIVE_AGAIN = "Delete it, then run frontier publish: it is derived again from its imports and sweeps."


def read_parquet(path: Path, table: Table, damaged: str = DERIVE_AGAIN) -> pa.Table:
    """One Parquet file, checked against its schema. Raises StoreError that names the file.

    ``damaged`` says what to do about an unreadable one, or one of another schema: only what can be derived may be
    deleted.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error, damaged) from error
    return parquet_rows(content, path, table, damaged)


def parquet_rows(content: bytes, path: Path, table: Table, damaged: str = DERIVE_AGAIN) -> pa.Table:
    """The rows in the bytes of one Parquet file, as read_parquet. ``path`` is where they are from."""
    try:
        # Not pq.read_table: its data set costs more than the whole file of a cell.
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        rows = file.read(use_threads=len(content) > SMALL_FILE_BYTES)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise _unreadable(path, error, damaged) from error
    violations = table.violations(rows)
    if violations:
        more = f", and {counted(len(violations) - 1, 'more column')} of another version" if violations[1:] else ""
        raise StoreError(f"{violations[0]}{more}", where=str(path), next_step=damaged)
    return table.filled(rows)


def error_in(path: Path, table: Table, damaged: str) -> Iterator[StoreError]:
    """The error of a file that cannot be read, with what to do about it; none for a good one, or one that is gone."""
    try:
        if path.is_file():
            read_parquet(path, table, damaged)
    except StoreError as error:
        yield error


def _unreadable(path: Path, error: Exception, damaged: str) -> StoreError:
    return StoreError(f"not a readable Parquet file ({error})", where=str(path), next_step=damaged)
