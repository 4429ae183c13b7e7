"""The object store that finished points are copied to and from, where hosts share no disk.

<url>/sweeps/<gpu>/<run_date>/ holds the sweep store's files under their names, and for every point (or run)
<name>.sha256: its files and their hashes, written last and removed first. A file that none names is not there.
<name>.removed says of a point that it was of an earlier plan. Credentials come from the environment, not from the url.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from resources.atomic_files import sha256_of, write_bytes

LISTED, REMOVED = ".sha256", ".removed"
IN_MEMORY, FOLDERS = "memory", ("file", "local")
"""Protocols whose addresses need no name at all, or a folder; those of all others begin with a bucket."""
N_LOOKS = 3
"""A file that is written again while it is read does not fit its list once; it does on the second look."""


@dataclass(frozen=True)
class SweepMirror:
    """Finished points at a url of fsspec: s3://bucket/prefix, file:///folder, memory://name, …"""

    url: str

    def push(self, cell: GpuRun, name: str, files: Sequence[Path]) -> bool:
        """Copy one point up, its points file last. Returns whether anything had to be. Raises StoreError."""
        contents = {path.name: path.read_bytes() for path in files}
        listed = _as_list({file: sha256_of(content) for file, content in contents.items()})
        with self._at(cell) as (system, folder):
            there = folder + name
            if system.exists(there + LISTED):
                if system.cat_file(there + LISTED) == listed:
                    return False
                system.rm_file(there + LISTED)
            for file, content in contents.items():
                system.pipe_file(folder + file, content)
            system.pipe_file(there + LISTED, listed)
            if system.exists(there + REMOVED):
                system.rm_file(there + REMOVED)
        return True

    def remove(self, cell: GpuRun, name: str, files: Sequence[str]) -> None:
        """Take one point away there, and say so to those who copied it. Raises StoreError."""
        with self._at(cell) as (system, folder):
            system.pipe_file(folder + name + REMOVED, b"")
            _take_away(system, folder, (name + LISTED, *files))

    def drop(self, cell: GpuRun, name: str, files: Sequence[str]) -> None:
        """Take some files of one point away there, its list first; the point stays. Raises StoreError."""
        with self._at(cell) as (system, folder):
            there = folder + name
            if system.exists(there + LISTED):
                kept = {file: sha for file, sha in _listed(system, there).items() if file not in files}
                system.pipe_file(there + LISTED, _as_list(kept))
            _take_away(system, folder, files)

    def pull(self, cell: GpuRun, into: Path) -> int:
        """Copy down what is finished there and not here, and remove what was removed; returns how many files came.

        Raises StoreError, also for a file that is not the one of its list.
        """
        with self._at(cell) as (system, folder):
            names = [path.rsplit("/", 1)[-1] for path in _files(system, folder)]
            listed = {name.removesuffix(LISTED) for name in names if name.endswith(LISTED)}
            for name in {name.removesuffix(REMOVED) for name in names if name.endswith(REMOVED)} - listed:
                for stale in into.glob(f"{name}.*"):
                    stale.unlink()
            return sum(_pull_one(system, folder, name, into) for name in sorted(listed))

    def read(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        """The bytes of some files by name. Raises StoreError."""
        with self._at(cell) as (system, folder):
            return {file: system.cat_file(folder + file) for file in files}

    def refuse_bad_address(self) -> None:
        """Raises StoreError for credentials, an unknown protocol, and no bucket or folder. Connects to nothing."""
        if re.search(r"//[^/]*@", self.url):
            raise StoreError(
                "holds credentials",
                where="FRONTIER_RESULTS",
                expected="a bucket and a prefix; credentials are read from the environment",
                next_step="Remove them from it, and from where it was written down.",
            )
        head, mark, place = self.url.partition("://")
        protocol = head.rpartition("::")[2]
        if not mark or protocol not in {*fsspec.available_protocols(), *fsspec.registry}:
            raise _bad_address(f"{protocol} is no known protocol" if mark else "names no protocol")
        if protocol != IN_MEMORY and not (place.strip("/") if protocol in FOLDERS else place.partition("/")[0]):
            raise _bad_address(f"{protocol}:// names no {'folder' if protocol in FOLDERS else 'bucket'}")

    @contextmanager
    def _at(self, cell: GpuRun) -> Iterator[tuple[Any, str]]:
        """The file system and the cell's folder on it, with a slash. Its errors are told without their words."""
        self.refuse_bad_address()
        made = {"auto_mkdir": True} if self.url.startswith("file:") else {}
        try:
            system, root = fsspec.url_to_fs(self.url, **made)
            system.invalidate_cache()
            yield system, f"{root.rstrip('/')}/sweeps/{cell.gpu}/{cell.run_date.isoformat()}/"
        except StoreError:
            raise
        except Exception as error:  # every file system raises its own; their words may hold keys and signed addresses
            raise StoreError(
                f"the object store does not answer as it should ({type(error).__name__})",
                where=f"{self.url.partition('?')[0]} {cell.key}",
                next_step="Check its address and the credentials in the environment, then run the same command again.",
            ) from None


def _bad_address(what: str) -> StoreError:
    return StoreError(
        what,
        where="FRONTIER_RESULTS",
        expected="an address such as s3://bucket/prefix or file:///folder",
        next_step="Correct it, or unset it.",
    )


def _files(system: Any, folder: str) -> list[str]:
    try:
        return sorted(system.ls(folder.rstrip("/"), detail=False))
    except FileNotFoundError:
        return []


def _pull_one(system: Any, folder: str, name: str, into: Path) -> int:
    """Copy the files of one list that are not here yet, in its order: the points file comes last."""
    for _ in range(N_LOOKS):
        try:
            missing = {file: sha for file, sha in _listed(system, folder + name).items() if not _same(into / file, sha)}
            contents = {file: system.cat_file(folder + file) for file in missing}
        except FileNotFoundError:  # taken away or written again since it was listed
            continue
        if all(sha256_of(contents[file]) == sha for file, sha in missing.items()):
            for file, content in contents.items():
                write_bytes(into / file, content)
            return len(contents)
    if not system.exists(folder + name + LISTED):
        return 0
    raise StoreError(
        "its files are not the ones that its list of hashes names",
        where=f"{folder}{name}",
        next_step="Run its sweep again on the host that measured it, or remove its .sha256 there.",
    )


def _take_away(system: Any, folder: str, files: Iterable[str]) -> None:
    for file in files:
        if system.exists(folder + file):
            system.rm_file(folder + file)


def _as_list(hashes: Mapping[str, str]) -> bytes:
    return "".join(f"{sha}  {file}\n" for file, sha in hashes.items()).encode()


def _listed(system: Any, there: str) -> Mapping[str, str]:
    lines = system.cat_file(there + LISTED).decode().splitlines()
    return {Path(file).name: sha for sha, _, file in (line.partition("  ") for line in lines)}


def _same(path: Path, sha256: str) -> bool:
    return path.is_file() and sha256_of(path.read_bytes()) == sha256
