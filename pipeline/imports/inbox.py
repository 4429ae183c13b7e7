"""Which files of an inbox are imported next, decided from two looks at it and from what became of earlier imports.

A file is settled when two looks in a row see it unchanged: no clock is asked, so none that is wrong can hide a file
that still grows. Belongs here: the decision and what is remembered between two looks. Not here: looking, and what
became of a file (resources/inbox.py), and the runs (pipeline/automation/inbox_sensor.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from pipeline.imports.outcome import Outcome
from pipeline.imports.source import SourceFile

UNFINISHED_ENDINGS = (".tmp", ".part", ".partial", ".crdownload", ".filepart", ".swp")
"""Names that copying and downloading programs give a file until it is whole."""

N_ATTEMPTS = 3
"""Imports of one file that may end without any answer about it. The first is together with the other new files."""


@dataclass(frozen=True)
class Known:
    """What is remembered of one file: how it looked, the key of its content once it was settled, and how often it was
    asked for. ``told``: its cells were handed on, nothing is left to do.
    """

    look: str
    key: str = ""
    n_asked: int = 0
    told: bool = False


@dataclass(frozen=True)
class Answer:
    """What became of a file: the cells that its rows reached, as keys, or the sentence of its refusal."""

    cells: tuple[str, ...] = ()
    refused: str = ""


def answered(source: SourceFile, outcome: Outcome, cells: Iterable[str]) -> Answer:
    """What is recorded of a file that was read: a refusal too where none of its rows could be imported.

    A file that is passed over is none: its points are in the files beside it.
    """
    refused = ""
    if not outcome.points.num_rows and not outcome.passed_over:
        first = next((f", row {row.row}: {row.code}, {row.detail}" for row in outcome.rejected), "")
        refused = f"{source.name}: none of its rows could be imported{first}"
    return Answer(tuple(sorted(cells)), refused)


@dataclass
class Decision:
    """What to do now. ``together`` and ``alone`` are file names to import, ``given_up`` those that never got an answer.

    ``cells`` are keys to derive. ``n_waiting`` files may still grow.
    """

    known: dict[str, Known] = field(default_factory=dict)
    together: list[str] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    cells: set[str] = field(default_factory=set)
    n_waiting: int = 0


def decide(
    before: Mapping[str, Known],
    looks: Mapping[str, str],
    key_of: Callable[[str], str],
    answer_of: Callable[[str], Answer | None],
) -> Decision:
    """From the last look and this one. ``looks`` are the looks by file name, without files that are unfinished by name.

    ``key_of`` is asked once for every file that has settled, ``answer_of`` for its key until there is an answer.
    """
    decision = Decision()
    for name, look in sorted(looks.items()):
        known = before.get(name)
        if known is None or known.look != look:
            decision.known[name] = Known(look)
            decision.n_waiting += 1
        else:
            decision.known[name] = _settled(name, known, decision, key_of, answer_of)
    return decision


def _settled(
    name: str,
    known: Known,
    decision: Decision,
    key_of: Callable[[str], str],
    answer_of: Callable[[str], Answer | None],
) -> Known:
    if known.told:
        return known
    known = replace(known, key=known.key or key_of(name))
    answer = answer_of(known.key)
    if answer is not None:
        decision.cells |= set(answer.cells)
        return replace(known, told=True)
    if known.n_asked >= N_ATTEMPTS:
        decision.given_up.append(name)
        return replace(known, told=True)
    (decision.alone if known.n_asked else decision.together).append(name)
    return replace(known, n_asked=known.n_asked + 1)


def is_unfinished(name: str) -> bool:
    """Whether the name itself says that the file is not whole yet, or not meant to be seen."""
    return name.startswith((".", "~")) or name.lower().endswith(UNFINISHED_ENDINGS)


def digest(words: Iterable[str]) -> str:
    """16 hex digits over the words in their order."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def remembered(text: str | None) -> dict[str, Known]:
    """What a cursor says; nothing where there is none or it is of another form."""
    try:
        return {name: Known(**body) for name, body in json.loads(text or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def as_cursor(known: Mapping[str, Known]) -> str:
    """As text for the next look."""
    return json.dumps({name: asdict(one) for name, one in known.items()}, sort_keys=True)
