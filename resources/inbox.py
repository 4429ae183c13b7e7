"""The inbox: a folder into which people and programs put result files, and what became of each of them.

Files stay where they are and are never written to. <file>.refused beside one says why it could not be imported;
<root>/inbox/<key>.json is the record, by path, content and what is declared or described beside it: the same file is
not imported twice, and one whose import.toml was corrected is tried again. Not here: which file is next
(pipeline/imports/inbox.py).
"""

import dataclasses
import hashlib
import json
from contextlib import suppress
from pathlib import Path

import dagster as dg

from pipeline.errors import StoreError
from pipeline.imports.companions import companion_names
from pipeline.imports.inbox import Answer, is_unfinished
from resources.atomic_files import write_bytes
from resources.result_files import IMPORT_TOML

NOTE = ".refused"
MAX_MIB = 512
"""A larger file is known by its looks alone: reading it would keep the others waiting, and its import is refused."""


class Inbox(dg.ConfigurableResource):
    """The folder ``folder``, whether it exists or not, with its records under ``root_dir``/inbox."""

    folder: str
    root_dir: str

    def looks(self) -> dict[str, str]:
        """Every file that may be a result, by its path in the inbox: size and times of it and of what belongs to it."""
        found = {}
        for path in sorted(Path(self.folder).rglob("*")):
            parts = path.relative_to(self.folder).parts
            is_ours = path.name == IMPORT_TOML or path.name.endswith(NOTE)
            if not is_ours and not any(map(is_unfinished, parts)) and path.is_file():
                found["/".join(parts)] = _look(path)
        return found

    def key(self, name: str) -> str:
        """Of one file: over its path, its content and that of its import.toml and of the files that belong to it."""
        path = Path(self.folder) / name
        parts = [name, *map(_content, _with_companions(path))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def answer(self, key: str) -> Answer | None:
        """What became of a file, None where nothing is known. A record that cannot be read is none."""
        try:
            said = json.loads(self._record(key).read_text(encoding="utf-8"))
            return Answer(tuple(said["cells"]), said["refused"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def place(self, name: str) -> Path:
        """Where a file of the inbox is."""
        return Path(self.folder).resolve() / name

    def record(self, path: Path, answer: Answer) -> None:
        """Record what became of a file, and say a refusal beside it. Of a file that is elsewhere nothing is recorded.

        Raises StoreError.
        """
        folder, place = Path(self.folder).resolve(), path.parent.resolve() / path.name
        if not place.is_relative_to(folder):
            return
        name = place.relative_to(folder).as_posix()
        record = {"file": name, **dataclasses.asdict(answer)}
        write_bytes(self._record(self.key(name)), (json.dumps(record, indent=1) + "\n").encode())
        note = path.with_name(path.name + NOTE)
        with suppress(StoreError, OSError):  # the inbox may be read-only to us; the record is what counts
            if answer.refused:
                write_bytes(note, f"{answer.refused}\n".encode())
            else:
                note.unlink(missing_ok=True)

    def _record(self, key: str) -> Path:
        return Path(self.root_dir) / "inbox" / f"{key}.json"


def _look(path: Path) -> str:
    """Size and times; change times cannot be set by a copying program, so a file that grows always looks different."""
    looks = []
    for file in _with_companions(path):
        with suppress(OSError):
            stat = file.stat()
            looks.append(f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}")
    return ", ".join(looks)


def _with_companions(path: Path) -> list[Path]:
    return [path, path.parent / IMPORT_TOML, *(path.with_name(name) for name in companion_names(path.name))]


def _content(path: Path) -> str:
    """Hash of a file; its looks where it is too large or cannot be read, nothing where it is not there."""
    try:
        if path.stat().st_size > MAX_MIB * 2**20:
            return _look(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return _look(path)
