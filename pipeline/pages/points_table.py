"""The table of every point, arranged to be read: groups of one configuration and run, and notes said once.

What a point is, is point_record.py's; how a value is written, the template's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.pages.point_record import PointRecord

N_INLINE = 60
"""A page shows all points up to this number; above it the best only, and a page of its own shows all."""


@dataclass(frozen=True)
class PointRow:
    """One point, its place among the page's points, and the numbers of its notes."""

    place: int
    point: PointRecord
    note_numbers: tuple[int, ...]


@dataclass(frozen=True)
class PointGroup:
    """Points of one series, engine build, speculative method and run: what is said once above them."""

    first: PointRecord
    rows: tuple[PointRow, ...]


@dataclass(frozen=True)
class PointsTable:
    """Groups of points and the notes that they number. ``n_left_out`` points are on the page of all points."""

    groups: tuple[PointGroup, ...]
    notes: tuple[str, ...]
    n_left_out: int


def points_table(points: Sequence[PointRecord]) -> PointsTable:
    """Every point."""
    return _table(points, list(enumerate(points)))


def short_points_table(points: Sequence[PointRecord], best: Iterable[str], cited: Iterable[str]) -> PointsTable:
    """Every point where they are few; else the ``best`` as far as there is room, and the ``cited`` ones, by id."""
    shown = list(enumerate(points))
    if len(points) > N_INLINE:
        wanted = {*itertools.islice(best, N_INLINE), *cited}
        shown = [(n, p) for n, p in shown if p.point_id in wanted]
    return _table(points, shown)


def _table(points: Sequence[PointRecord], shown: Sequence[tuple[int, PointRecord]]) -> PointsTable:
    numbers: dict[str, int] = {}
    groups: dict[tuple[str, ...], list[PointRow]] = {}
    for place, point in shown:
        noted = tuple(numbers.setdefault(text, len(numbers) + 1) for text in _notes(point))
        groups.setdefault(_group_key(point), []).append(PointRow(place, point, noted))
    found = tuple(PointGroup(rows[0].point, tuple(rows)) for _, rows in sorted(groups.items()))
    return PointsTable(found, tuple(numbers), len(points) - len(shown))


def _group_key(point: PointRecord) -> tuple[str, ...]:
    return tuple(map(str, (point.series, point.engine_build, point.spec_method, point.run_date, point.run_id)))


def _notes(point: PointRecord) -> tuple[str, ...]:
    return (*point.reason_sentences, *point.note_sentences, *filter(None, [declared_words(point)]))


def declared_words(point: PointRecord) -> str | None:
    """What a person declared because the file does not say; None where nothing was."""
    return f"Declared by a person, not recorded in the file: {', '.join(point.declared)}." if point.declared else None
