"""What a sweep on another host says back, beside its lines: files that are finished there, and how it ended.

Belongs here: the three messages, written and read strictly, for they come from outside. Not here: how they travel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.errors import FrontierError, HostError

FILE = re.compile(r"[A-Za-z0-9][^/\x00-\x1f]{0,250}\.parquet")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Finished:
    """Files that are whole over there, with their hashes; a point's points file comes after its others."""

    files: Mapping[str, str]

    def message(self) -> dict[str, Any]:
        """As it is sent."""
        return {"finished": dict(self.files)}


@dataclass(frozen=True)
class Ended:
    """The sweep ended well: every file of the cell, and how many points this sitting measured."""

    files: Mapping[str, str]
    n_points_measured_now: int

    def message(self) -> dict[str, Any]:
        """As it is sent."""
        return {"ended": dict(self.files), "n_points_measured_now": self.n_points_measured_now}


@dataclass(frozen=True)
class Failed:
    """The sweep failed, with this error over there."""

    error: FrontierError

    def message(self) -> dict[str, Any]:
        """As it is sent."""
        error = self.error
        said = {"what": error.what, "where": error.where, "expected": error.expected, "found": error.found}
        kind = {"kind": error.kind} if error.kind else {}
        return {"failed": type(error).__name__, **said, "next_step": error.next_step, **kind}


Message = Finished | Ended | Failed


def read_message(said: object, host: str) -> Message:
    """A message as it came. Raises HostError for one that is none of ours."""
    match said:
        case {"finished": dict(files)} if _are_files(files):
            return Finished(files)
        case {"ended": dict(files), "n_points_measured_now": int(n_now)} if _are_files(files):
            return Ended(files, n_now)
        case {"failed": str(name), **words} if all(isinstance(word, str) for word in words.values()):
            return Failed(_error(name, {str(key): str(word) for key, word in words.items()}, host))
    raise HostError(
        "said something that no sweep says",
        where=host,
        found=repr(said)[:100],
        next_step="Bring its checkout to the version of this one.",
        kind="",
    )


def _are_files(files: Mapping[Any, Any]) -> bool:
    return all(FILE.fullmatch(str(file)) and SHA256.fullmatch(str(sha)) for file, sha in files.items())


def _error(name: str, words: Mapping[str, str], host: str) -> FrontierError:
    """The error of that class, its place on the host; a class that is unknown here is a HostError."""
    kinds = {kind.__name__: kind for kind in _kinds(FrontierError)}
    kept = {key: words.get(key, "") for key in ("what", "expected", "found", "next_step")}
    kind = kinds.get(name, HostError)
    return kind(**kept, where=f"{host}: {words.get('where', '')}", kind=words.get("kind", ""))


def _kinds(kind: type[FrontierError]) -> Iterator[type[FrontierError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)
