"""Old files of the store: which there are, and deleting them. Which may go is pipeline/retention.py's.

raw/<gpu>/<run_date>/{requests,samples}.parquet              rows of requests of a cell
imports/<gpu>/<run_date>/<sha256>.requests.parquet           the same, as they were imported
sweeps/<gpu>/<run_date>/<point>.{requests,samples}.parquet   the same, as they were measured
sweeps/<gpu>/<run_date>/<point>.*.parquet                    no points file beside: never finished, or of an old plan
.tmp-*, anywhere                                             what a killed writer left
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from pipeline.cell import GpuRun
from pipeline.retention import PER_REQUEST
from pipeline.tables.points import POINTS
from pipeline.tables.runs import RUNS
from resources.atomic_files import TEMP_PREFIX, write_bytes
from resources.result_store import cell_of
from resources.sweep_store import point_of

REQUEST_ROWS = "rows of requests"
NEVER_FINISHED = "points that were never finished"
KILLED_WRITER = "what killed writers left"

FOLDERS = ("raw", "imports", "sweeps")
KNOWN = tuple(f".{table.name}.parquet" for table in (POINTS, RUNS))
"""Endings of what a sweep's readers list: without one of them the other files of a name are never read."""


@dataclass(frozen=True)
class OldFile:
    """One file that may go, and what it is."""

    path: Path
    kind: str
    n_bytes: int


class StoreFiles(dg.ConfigurableResource):
    """The files under ``root_dir``."""

    root_dir: str

    def cells(self) -> set[GpuRun]:
        """Every cell that has a folder of raw results, imports or sweeps."""
        folders = (path for name in FOLDERS for path in (self._root / name).glob("*/????-??-??"))
        return {cell_of(folder) for folder in folders}

    def request_rows(self, cells: Iterable[GpuRun], written_before_s: float) -> Iterator[OldFile]:
        """Files of single requests and samples of some cells, written before a moment (seconds since 1970)."""
        endings = tuple(f"{table.name}.parquet" for table in PER_REQUEST)
        for cell in cells:
            for name in FOLDERS:
                folder = self._root / name / cell.gpu / cell.run_date.isoformat()
                found = [path for path in _files(folder) if path.name.endswith(endings)]
                yield from (_old(p, REQUEST_ROWS) for p in found if p.stat().st_mtime < written_before_s)

    def never_finished(self, written_before_s: float) -> Iterator[OldFile]:
        """Files beside a point that has no points file, written before a moment (seconds since 1970)."""
        for folder in sorted((self._root / "sweeps").glob("*/????-??-??")):
            files = _files(folder)
            known = {path.name.removesuffix(end) for path in files for end in KNOWN if path.name.endswith(end)}
            for path in files:
                if point_of(path) not in known and path.stat().st_mtime < written_before_s:
                    yield _old(path, NEVER_FINISHED)

    def left_over(self, written_before_s: float) -> Iterator[OldFile]:
        """Temporary files that nobody renamed, written before a moment (seconds since 1970)."""
        for path in sorted(self._root.rglob(f"{TEMP_PREFIX}*")):
            if path.is_file() and path.stat().st_mtime < written_before_s:
                yield _old(path, KILLED_WRITER)

    def remove(self, files: Iterable[OldFile]) -> None:
        """Delete them; the manifest of a raw cell says from then on which of its files are gone. Raises OSError."""
        gone: dict[Path, list[str]] = {}
        for file in files:
            gone.setdefault(file.path.parent, []).append(file.path.name)
            file.path.unlink(missing_ok=True)
        for folder, names in gone.items():
            _note_pruned(folder / "manifest.json", names)

    @property
    def _root(self) -> Path:
        return Path(self.root_dir)


def _note_pruned(manifest: Path, names: Iterable[str]) -> None:
    if not manifest.is_file():
        return
    said = json.loads(manifest.read_bytes())
    said["pruned"] = sorted({*said.get("pruned", []), *names})
    write_bytes(manifest, (json.dumps(said, indent=1) + "\n").encode())


def _files(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def _old(path: Path, kind: str) -> OldFile:
    return OldFile(path, kind, path.stat().st_size)
