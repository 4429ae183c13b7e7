"""Backups of a home folder: one archive whose every file is held against a hash when it is restored.

Belongs here: what is taken along, reading it while others write, and the archive. Not here: what becomes of runs that
were going on (interrupted_runs.py). The archive is a gzipped tar of regular files; its last member is the list of them
with sizes and hashes, so that a truncated one is never taken for a whole one.
"""

import datetime as dt
import hashlib
import io
import json
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pipeline.errors import StoreError
from resources.atomic_files import TEMP_PREFIX, put_in_place, write_with
from resources.file_lock import cannot_be_written, held

LIST = "backup.json"
FORMAT = 1
PRICES, COST_INPUTS = "prices.csv", "tco.toml"
BESIDE = (PRICES, COST_INPUTS)
"""What prices are read from, wherever it is: in an archive, and in a restored home, it has these names."""
COMMANDS_LOCK, SITE_LOCK = ".frontier.lock", ".site.lock"
"""What every frontier command, and every publisher of the home's site, holds."""
HISTORY = "dagster"
LEFT_OUT = frozenset({"builds", "models", "servers", "load", "simulator"})
"""Folders that are made again from the registry, or hold only what is going on."""
DEVICES, KEPT_OF_DEVICES = "devices", ".quarantine.json"
"""Of the devices only the quarantine is kept: who holds one is true of this moment and this host."""
PARTS_OF_DATABASES = ("-wal", "-shm", "-journal")
"""Their contents are in the copy of the database."""
COMPRESSION = 3
CHUNK_BYTES = 2**20
Waiting = Callable[[], None]
DAMAGE = (tarfile.TarError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError)


@dataclass
class BackedUp:
    """What an archive holds: hash and size in bytes by relative path, and the moment it was begun (UTC)."""

    made_at: dt.datetime
    files: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """Bytes of all files, as they are in the home folder."""
        return sum(size for _, size in self.files.values())

    def text(self) -> bytes:
        """The list of the archive."""
        files = {name: {"sha256": sha256, "bytes": size} for name, (sha256, size) in sorted(self.files.items())}
        return json.dumps({"format": FORMAT, "made_at": self.made_at.isoformat(), "files": files}, indent=1).encode()


def write_backup(
    home: Path, beside: Mapping[str, Path], archive: Path, made_at: dt.datetime, waiting: Waiting
) -> BackedUp:
    """Write the home folder, and files of BESIDE by name, into a new archive, or nothing. Raises StoreError.

    ``waiting`` is called where another command or a publisher is at work: its end is waited for. Every file is whole,
    however many sweeps run meanwhile: tables are replaced by rename, and databases are copied by SQLite itself. The
    history goes first: what is finished after that is in the store and not yet in the history, never the reverse.
    """
    _refuse_target(home, archive)
    done = BackedUp(made_at)
    with _alone(home, waiting):
        write_with(archive, lambda temp: _fill(temp, home, beside, done))
    return done


@contextmanager
def _alone(home: Path, waiting: Waiting) -> Iterator[None]:
    """No command and no publisher beside this one. Raises StoreError."""
    with ExitStack() as stack:
        try:
            for name in (COMMANDS_LOCK, SITE_LOCK):
                stack.enter_context(held(home / name, waiting))
        except OSError as error:
            raise cannot_be_written(home, error) from error
        yield


def _refuse_target(home: Path, archive: Path) -> None:
    if archive.exists():
        raise StoreError("is there already", where=str(archive), next_step="Name a new file, or remove that one.")
    if archive.resolve().is_relative_to(home.resolve()):
        raise StoreError(
            "a backup inside the folder that it is of is lost with it",
            where=str(archive),
            next_step=f"Name a file outside {home}, best on another disk.",
        )
    if not home.is_dir() or not any(home.glob("*/")):
        raise StoreError("nothing is stored", where=str(home), next_step="Check --home or FRONTIER_HOME.")


def _fill(temp: Path, home: Path, beside: Mapping[str, Path], done: BackedUp) -> None:
    with tarfile.open(temp, "w:gz", compresslevel=COMPRESSION, format=tarfile.PAX_FORMAT) as tar:
        for path in _files(home):
            _add(tar, done, path.relative_to(home).as_posix(), path)
        for name, path in beside.items():
            _add(tar, done, name, path)
        listed = done.text()
        _add_bytes(tar, LIST, len(listed), io.BytesIO(listed))


def _files(home: Path) -> Iterator[Path]:
    """What is backed up, the history first. Links below the home's own folders are not followed."""
    tops = sorted(home.iterdir(), key=lambda path: (path.name != HISTORY, path.name))
    for top in tops:
        if top.name in (*LEFT_OUT, *BESIDE) or top.name.startswith("."):
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and not path.is_symlink() and not _is_passing(path.relative_to(home)):
                yield path


def _is_passing(name: Path) -> bool:
    if name.parts[0] == DEVICES and not name.name.endswith(KEPT_OF_DEVICES):
        return True
    return any(part.startswith(TEMP_PREFIX) for part in name.parts) or name.name.endswith(PARTS_OF_DATABASES)


def _add(tar: tarfile.TarFile, done: BackedUp, name: str, path: Path) -> None:
    """One file as it is at this moment; one that was removed since it was listed is left out."""
    with suppress(FileNotFoundError), _opened(path) as content:
        reading = _Hashing(content)
        size = content.seek(0, io.SEEK_END)
        content.seek(0)
        _add_bytes(tar, name, size, reading)
        done.files[name] = (reading.sha256.hexdigest(), size)


def _add_bytes(tar: tarfile.TarFile, name: str, size: int, content: Any) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    tar.addfile(member, content)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes; of a database, those of a copy that SQLite makes while others write. Raises StoreError."""
    if path.suffix != ".db":
        with path.open("rb") as content:
            yield content
        return
    with tempfile.NamedTemporaryFile(prefix=TEMP_PREFIX, suffix=".db") as copy:
        try:
            source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=60)
            with closing(source), closing(sqlite3.connect(copy.name)) as target:
                source.backup(target)
        except sqlite3.Error as error:
            raise StoreError(
                f"not a readable database ({error})",
                where=str(path),
                next_step="Stop what uses it and try again; if it stays, move it away: it is history, and no number.",
            ) from error
        yield copy.file


@dataclass
class _Hashing:
    """Reads a file and hashes what was read."""

    content: IO[bytes]
    sha256: Any = field(default_factory=hashlib.sha256)

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = self.content.read(size)
        self.sha256.update(found)
        return found


def read_backup(archive: Path, home: Path, waiting: Waiting) -> BackedUp:
    """Put an archive's files into an empty or absent home folder, all of them or none. Raises StoreError.

    Nothing is in its place before every file was held against the archive's list. A refused one leaves no new folder.
    """
    if not archive.is_file():
        what = "is a folder" if archive.is_dir() else "no such file"
        raise StoreError(
            what, where=str(archive), expected="a file that frontier backup wrote", next_step="Check the path."
        )
    _refuse_home(home)
    with _removed_if_new(home), _alone(home, waiting):
        _refuse_home(home)
        new = home / f"{TEMP_PREFIX}restore"
        shutil.rmtree(new, ignore_errors=True)  # one that was killed
        try:
            done = _extracted(archive, new)
            for path in sorted(new.iterdir()):
                put_in_place(path, home / path.name)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return done


@contextmanager
def _removed_if_new(home: Path) -> Iterator[None]:
    """Where the block fails, take away the folders that it made for the home, and the locks in it."""
    made = [folder for folder in (home, *home.parents) if not folder.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for name in (COMMANDS_LOCK, SITE_LOCK) if made else ():
                (home / name).unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()
        raise


def _refuse_home(home: Path) -> None:
    if home.exists() and not home.is_dir():
        raise StoreError("is no folder", where=str(home), next_step="Name an empty or a new folder with --home.")
    found = [path.name for path in home.iterdir() if not path.name.startswith(".")] if home.exists() else []
    if found:
        raise StoreError(
            "holds something, and a backup never overwrites",
            where=str(home),
            found=", ".join(sorted(found)[:5]),
            next_step="Name an empty or a new folder with --home.",
        )


def _extracted(archive: Path, folder: Path) -> BackedUp:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            found, listed = _unpacked(tar, folder)
            while tar.fileobj.read(CHUNK_BYTES):  # to the end marker and checksum of gzip, which tar does not need
                pass
    except OSError as error:
        if error.errno is not None:  # of the disk; the archive's own have none
            raise StoreError(
                f"cannot restore ({error.strerror})", where=str(error.filename or folder), next_step="Correct that."
            ) from error
        raise _damaged(archive, str(error)) from error
    except DAMAGE as error:
        raise _damaged(archive, str(error) or type(error).__name__) from error
    if listed is None:
        raise _damaged(archive, "its end is missing")
    wrong = sorted(name for name in found.keys() | listed.files.keys() if found.get(name) != listed.files.get(name))
    if wrong:
        raise _damaged(archive, f"{wrong[0]} is not what the backup's list says")
    return listed


def _unpacked(tar: tarfile.TarFile, folder: Path) -> tuple[dict[str, tuple[str, int]], BackedUp | None]:
    """Every file with its hash and size, and the list at the end. Raises ValueError for what no backup holds."""
    found: dict[str, tuple[str, int]] = {}
    listed = None
    for member in tar:
        content = tar.extractfile(member) if member.isreg() else None
        if content is None or listed or not _is_inside(member.name) or member.name in found:
            raise ValueError(f"{member.name!r} is nothing that a backup holds")
        if member.name == LIST:
            listed = _listed(content.read())
            continue
        path = folder / member.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as target:
            reading = _Hashing(content)
            shutil.copyfileobj(reading, target)
        found[member.name] = (reading.sha256.hexdigest(), member.size)
    return found, listed


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name


def _listed(text: bytes) -> BackedUp:
    body = json.loads(text)
    if body["format"] != FORMAT:
        raise ValueError(f"it is of format {body['format']}, and this version reads {FORMAT}")
    files = {name: (entry["sha256"], entry["bytes"]) for name, entry in body["files"].items()}
    return BackedUp(dt.datetime.fromisoformat(body["made_at"]), files)


def _damaged(archive: Path, why: str) -> StoreError:
    return StoreError(
        "is damaged, or no backup; nothing was restored",
        where=str(archive),
        found=why,
        next_step="Take another backup.",
    )
