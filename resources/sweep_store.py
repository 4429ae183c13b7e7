"""What sweeps left: the files of a point are written before the next one starts, its points file last.

<root>/sweeps/<gpu>/<run_date>/<point>.{requests,repeats,samples,points}.parquet, and <run>.runs.parquet.
A point without its points file is not finished, whatever else is there. Where an object store is named, every finished
point is copied to it, and what is there and not here is copied from it when it is asked for.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import dagster as dg
import pyarrow as pa

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.tables.columns import Table
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES
from resources.atomic_files import TEMP_PREFIX, sha256_of, write_bytes
from resources.result_store import cell_of, error_in, is_newer_folder, parquet_bytes, read_parquet
from resources.sweep_mirror import SweepMirror

EXTENSION = ".parquet"
TABLES = (POINTS, REQUESTS, REPEATS, SAMPLES, RUNS)
MEASURE_AGAIN = (
    "What a sweep left cannot be derived: restore it from a backup. Without one, delete it; a sweep of the same day "
    "then runs what is missing again."
)


class SweepStore(dg.ConfigurableResource):
    """The measured or simulated points under ``root_dir``/sweeps, and at ``results_url`` where one is named."""

    root_dir: str
    results_url: str = ""

    def has(self, cell: GpuRun, fingerprint: str) -> bool:
        """Whether the point is finished."""
        return self._path(cell, fingerprint, POINTS).is_file()

    def put(self, cell: GpuRun, fingerprint: str, point: dict[str, object], beside: Mapping[Table, pa.Table]) -> None:
        """Store one finished point and the tables ``beside`` it: requests, repeats, samples. Raises StoreError.

        An object store that does not answer is only told of: a sweep of hours does not end for it, but in ``push``.
        """
        for table, rows in beside.items():
            write_bytes(self._path(cell, fingerprint, table), parquet_bytes(table.sorted(rows)))
        write_bytes(self._path(cell, fingerprint, POINTS), parquet_bytes(POINTS.from_rows([point])))
        self._try_push(cell, fingerprint)

    def put_run(self, cell: GpuRun, name: str, run: dict[str, object]) -> None:
        """Store what is known of one run, in place of what was known before. Raises StoreError."""
        write_bytes(self._path(cell, name, RUNS), parquet_bytes(RUNS.from_rows([run])))
        self._try_push(cell, name)

    def put_file(self, cell: GpuRun, file: str, content: bytes) -> None:
        """Store one file of a point or run as another host wrote it; the points file comes last. Raises StoreError."""
        write_bytes(self._folder(cell) / file, content)

    def hashes_by_file(self, cell: GpuRun) -> dict[str, str]:
        """Hash of every file of finished points and runs, by file name; a point's points file after its others."""
        return {
            path.name: sha256_of(path.read_bytes()) for name in self._names(cell) for path in self.files(cell, name)
        }

    def files(self, cell: GpuRun, name: str) -> list[Path]:
        """The files of one finished point or run, its points file last."""
        found = sorted(self._folder(cell).glob(f"{name}.*{EXTENSION}"))
        return sorted(found, key=lambda path: path.name.endswith(_suffix(POINTS)))

    def pull(self, cell: GpuRun) -> int:
        """Copy what the object store has and this folder does not; returns how many files. Raises StoreError."""
        return SweepMirror(self.results_url).pull(cell, self._folder(cell)) if self.results_url else 0

    def refuse_bad_address(self) -> None:
        """Raises StoreError where ``results_url`` cannot be an object store; connects to nothing."""
        if self.results_url:
            SweepMirror(self.results_url).refuse_bad_address()

    def push(self, cell: GpuRun) -> int:
        """Copy what is finished and the object store does not have; returns how many points and runs.

        Raises StoreError.
        """
        if not self.results_url:
            return 0
        mirror = SweepMirror(self.results_url)
        return sum(mirror.push(cell, name, self.files(cell, name)) for name in self._names(cell))

    def drop_there(self, files: Iterable[Path]) -> None:
        """Take files of points away from the object store, for they go from this folder too. Raises StoreError."""
        for (folder, name), paths in _by_point(self.root_dir, files if self.results_url else ()).items():
            SweepMirror(self.results_url).drop(cell_of(folder), name, [path.name for path in paths])

    def _try_push(self, cell: GpuRun, name: str) -> None:
        if not self.results_url:
            return
        try:
            SweepMirror(self.results_url).push(cell, name, self.files(cell, name))
        except StoreError as error:
            dg.get_dagster_logger().warning(f"{error} The sweep goes on, and copies it at its end.")

    def keep_only(self, cell: GpuRun, provenance: str, names: Iterable[str]) -> int:
        """Remove the cell's points and runs of a provenance that are of earlier plans; returns how many points.

        ``names`` are the fingerprints of the plan's points and the names of its runs.
        """
        kept, n_stale = set(names), 0
        for table in (POINTS, RUNS):
            for path in self._files(cell, table):
                name = path.name.removesuffix(_suffix(table))
                if name in kept or read_parquet(path, table, MEASURE_AGAIN)["provenance"].to_pylist()[:1] != [
                    provenance
                ]:
                    continue
                self._remove(cell, name)
                n_stale += table is POINTS
        return n_stale

    def read(self, cell: GpuRun, table: Table) -> pa.Table:
        """One table of every finished point of a cell. Raises StoreError for a damaged file."""
        tables = [read_parquet(path, table, MEASURE_AGAIN) for path in self._files(cell, table)]
        return table.sorted(pa.concat_tables(tables)) if tables else table.empty()

    def read_points(self, cell: GpuRun) -> pa.Table:
        """The finished points of a cell. Raises StoreError for a damaged file."""
        return self.read(cell, POINTS)

    def cells(self, gpu: str) -> list[GpuRun]:
        """The cells of a GPU that have a folder here, by run date."""
        folders = sorted((Path(self.root_dir) / "sweeps" / gpu).glob("????-??-??"))
        return [cell_of(folder) for folder in folders]

    def is_newer(self, cell: GpuRun, than: Path) -> bool:
        """Whether a file of the cell came or went after a file was written, or that file is not there."""
        return is_newer_folder(self._folder(cell), than)

    def finished_cells(self) -> set[GpuRun]:
        """Every cell that has a finished point here."""
        found = Path(self.root_dir).glob(f"sweeps/*/????-??-??/*{_suffix(POINTS)}")
        folders = {path.parent for path in found if not path.name.startswith(TEMP_PREFIX)}
        return {cell_of(folder) for folder in folders}

    def damaged(self) -> Iterator[StoreError]:
        """What is wrong with each file of a finished point or run that cannot be read."""
        for table in TABLES:
            for path in sorted(Path(self.root_dir).glob(f"sweeps/*/????-??-??/*{_suffix(table)}")):
                yield from error_in(path, table, MEASURE_AGAIN)

    def hashes(self, cell: GpuRun) -> list[str]:
        """Hash of every file of points and runs of a cell, by name."""
        files = sorted(self._files(cell, POINTS) + self._files(cell, RUNS))
        return [sha256_of(path.read_bytes()) for path in files]

    def _remove(self, cell: GpuRun, name: str) -> None:
        stale = list(self._folder(cell).glob(f"{name}.*"))
        if self.results_url:
            SweepMirror(self.results_url).remove(cell, name, [path.name for path in stale])
        for path in stale:
            path.unlink(missing_ok=True)

    def _names(self, cell: GpuRun) -> list[str]:
        """Names of the finished points and of the runs."""
        return [path.name.removesuffix(_suffix(t)) for t in (POINTS, RUNS) for path in self._files(cell, t)]

    def _files(self, cell: GpuRun, table: Table) -> list[Path]:
        """Files of finished points (or of runs)."""
        found = sorted(self._folder(cell).glob(f"*{_suffix(table)}"))
        found = [path for path in found if not path.name.startswith(TEMP_PREFIX)]
        if table in (POINTS, RUNS):
            return found
        return [path for path in found if self.has(cell, path.name.removesuffix(_suffix(table)))]

    def _folder(self, cell: GpuRun) -> Path:
        return Path(self.root_dir) / "sweeps" / cell.gpu / cell.run_date.isoformat()

    def _path(self, cell: GpuRun, name: str, table: Table) -> Path:
        return self._folder(cell) / f"{name}{_suffix(table)}"


def point_of(path: Path) -> str:
    """The name of the point (or run) that a file is of: that of the file without .<table>.parquet."""
    return path.name.rsplit(".", 2)[0]


def _suffix(table: Table) -> str:
    return f".{table.name}{EXTENSION}"


def _by_point(root_dir: str, files: Iterable[Path]) -> dict[tuple[Path, str], list[Path]]:
    """Those of the files that are of sweeps, by folder and name of their point."""
    found: dict[tuple[Path, str], list[Path]] = {}
    for path in files:
        if path.is_relative_to(Path(root_dir) / "sweeps") and not path.name.startswith(TEMP_PREFIX):
            found.setdefault((path.parent, point_of(path)), []).append(path)
    return found
