"""What sweeps left: one Parquet file a point, written before the next point starts.

<root>/sweeps/<gpu>/<run_date>/<fingerprint>.points.parquet.
"""

from collections.abc import Iterable
from pathlib import Path

import dagster as dg
import pyarrow as pa

from pipeline.cell import GpuRun
from pipeline.tables.points import POINTS
from resources.atomic_files import sha256_of, write_bytes
from resources.result_store import parquet_bytes, read_parquet

SUFFIX = f".{POINTS.name}.parquet"


class SweepStore(dg.ConfigurableResource):
    """The measured or simulated points under ``root_dir``/sweeps."""

    root_dir: str

    def has(self, cell: GpuRun, fingerprint: str) -> bool:
        """Whether the point is finished."""
        return self._path(cell, fingerprint).is_file()

    def put(self, cell: GpuRun, fingerprint: str, row: dict[str, object]) -> None:
        """Store one finished point, whole. Raises StoreError."""
        write_bytes(self._path(cell, fingerprint), parquet_bytes(POINTS.from_rows([row])))

    def keep_only(self, cell: GpuRun, fingerprints: Iterable[str]) -> int:
        """Remove the points of earlier plans of the cell; returns how many: one cell holds one plan's points."""
        stale = set(self._files(cell)) - {self._path(cell, fingerprint) for fingerprint in fingerprints}
        for path in stale:
            path.unlink()
        return len(stale)

    def read(self, cell: GpuRun) -> pa.Table:
        """Every finished point of a cell. Raises StoreError for a damaged file."""
        tables = [read_parquet(path, POINTS) for path in self._files(cell)]
        return POINTS.sorted(pa.concat_tables(tables)) if tables else POINTS.empty()

    def hashes(self, cell: GpuRun) -> list[str]:
        """Hash of every file of a cell, by name."""
        return [sha256_of(path.read_bytes()) for path in self._files(cell)]

    def _files(self, cell: GpuRun) -> list[Path]:
        return sorted(p for p in self._folder(cell).glob(f"*{SUFFIX}") if not p.name.startswith("."))

    def _folder(self, cell: GpuRun) -> Path:
        return Path(self.root_dir) / "sweeps" / cell.gpu / cell.run_date.isoformat()

    def _path(self, cell: GpuRun, fingerprint: str) -> Path:
        return self._folder(cell) / f"{fingerprint}{SUFFIX}"
