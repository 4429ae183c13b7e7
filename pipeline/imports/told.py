"""What the person who imports is told beside the counts: why points do not count, what a file overruled, split sweeps.

Belongs here: counting over the points of files, and the sentences. Not here: the codes and their sentences (measure/).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.measure.notes import note_sentence
from pipeline.measure.validity import sentence
from pipeline.pages.formats import counted
from pipeline.tables.series import SERIES

CONTRADICTED = ("declared_contradicts_file", "name_says_")
"""Beginnings of the notes on what was declared, or is in the name, where the content says otherwise and holds."""

Report = Mapping[str, Any]


def told_of(points: pa.Table) -> dict[str, Any]:
    """Of one file's points (POINTS): reasons and contradictions with the number of points, and valid points by day.

    ``days`` has [series in words, run date, number of valid points].
    """
    valid = points.filter(pc.field("valid"))
    rows = valid.select([*(column.name for column in SERIES), "run_date"]).to_pylist()
    days = Counter((_series_words(row), row["run_date"].isoformat()) for row in rows)
    said = (note for found in points["notes"].to_pylist() for note in found if note.startswith(CONTRADICTED))
    return {
        "reasons": dict(Counter(code for found in points["reasons"].to_pylist() for code in found)),
        "contradictions": dict(Counter(said)),
        "days": [[series, day, n_points] for (series, day), n_points in sorted(days.items())],
    }


def told_words(reports: Iterable[Report]) -> list[str]:
    """One sentence a reason, a contradiction and a split sweep, over all files of an import."""
    reasons, contradictions, days = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for report in reports:
        reasons.update(report["reasons"])
        contradictions.update(report["contradictions"])
        days.update({(series, day): n_points for series, day, n_points in report["days"]})
    return [
        *(f"{_points(n)} invalid, {code}: {sentence(code)}" for code, n in sorted(reasons.items())),
        *(f"{_points(n)}, {_code(note)}: {note_sentence(note)}" for note, n in sorted(contradictions.items())),
        *_split(days),
    ]


def _split(days: Mapping[tuple[str, str], int]) -> Iterable[str]:
    """Series whose newest day has fewer points than an older one: the page would show those few alone."""
    for series in sorted({series for series, _ in days}):
        by_day = {day: n_points for (one, day), n_points in days.items() if one == series}
        newest = max(by_day)
        if by_day[newest] < max(by_day.values()):
            found = ", ".join(f"{_points(n_points)} of {day}" for day, n_points in sorted(by_day.items()))
            yield (
                f"{series}: {found}. A page reads the newest run of a series alone. Where they are one sweep that went "
                "on over midnight, import again with --run-date and the day on which it began."
            )


def _code(note: str) -> str:
    return note.partition("=")[0]


def _points(n_points: int) -> str:
    return counted(n_points, "point")


def _series_words(row: Mapping[str, Any]) -> str:
    """Engine, format, model, GPU and workload, and what is out of the ordinary."""
    named = ("engine", "precision", "model", "gpu", "workload")
    others = [column.name for column in SERIES if column.name not in (*named, "provenance")]
    more = [f"{name} {row[name]}" for name in others if row[name] not in (None, False, "none")]
    return ", ".join([" ".join(str(row[name]) for name in named), *more])
