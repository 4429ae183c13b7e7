"""Whether a sweep of a day that is past may be made: only when it is asked for, with every build named.

A measurement is of its day. One that was asked for on its day, and waited in the queue until after midnight, is still
of that day: its rows say when it ran. Measured again later, its points are only of the build that they were measured
with, so that has to be said. The load generator needs no name: there is none but that of its lock. Nor does a
simulation: it is of its day in name alone, and its simulator is pinned (plan.SIMULATOR_PINS).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.cell import GpuRun
from pipeline.errors import SweepRefusedError
from pipeline.pages.formats import listed

GRACE_H = 24
"""A night's queue of one GPU is through within a day. What starts later would be the next night's, twice measured."""


@dataclass(frozen=True)
class Asked:
    """What was asked for: whether to measure again, the version named for each build, and how the recipes are chosen.

    ``chosen`` are the options of frontier sweep that chose them, ``builds`` the engine builds of the recipes with the
    registry's version; none of a simulation. ``at`` is when it was asked for (UTC), None where that is not known.
    """

    measure_again: bool
    versions: Mapping[str, str]
    builds: Mapping[str, str]
    chosen: tuple[str, ...] = ()
    at: dt.datetime | None = None

    def is_of(self, day: dt.date) -> bool:
        """Whether it was asked for on that day."""
        return self.at is not None and self.at.date() == day

    def waited_too_long(self, now: dt.datetime) -> bool:
        """Whether it was asked for more than ``GRACE_H`` ago; False where that is not known."""
        return self.at is not None and now - self.at > dt.timedelta(hours=GRACE_H)


def refuse_past(cell: GpuRun, now: dt.datetime, asked: Asked) -> None:
    """Raises SweepRefusedError for a past day that it was not asked for on, or too long ago.

    Measuring a past day again is refused with a build whose version is not named. The sentence says what to type.
    """
    unnamed = [slug for slug in asked.builds if not asked.versions.get(slug)]
    if cell.run_date >= now.date() or (asked.measure_again and not unnamed):
        return
    if asked.is_of(cell.run_date) and not asked.waited_too_long(now):
        return
    if asked.measure_again:
        what = f"the run date is past, and it is not said which version of {listed(unnamed)} measures it again"
    elif asked.is_of(cell.run_date):
        what = f"it starts more than {GRACE_H} h after it was asked for, and a sweep says what is true on its day"
    else:
        what = "the run date is past, and a sweep says what is true on its day"
    raise SweepRefusedError(
        what,
        where=f"sweep {cell.key}",
        expected=now.date().isoformat(),
        found=cell.run_date.isoformat(),
        next_step=f"Sweep today, or measure it again: {command(cell, asked)} (in the UI: {_config(asked)}).",
    )


def command(cell: GpuRun, asked: Asked) -> str:
    """The command that measures a past day again, with the named versions, and the registry's for the others."""
    pins = [f"--build {slug}={version}" for slug, version in _pins(asked).items()]
    return " ".join(["frontier sweep", cell.gpu, f"--run-date {cell.run_date}", "--again", *asked.chosen, *pins])


def _config(asked: Asked) -> str:
    versions = ", ".join(f'{slug}: "{version}"' for slug, version in _pins(asked).items())
    return "measure_again: true" + (f", versions: {{{versions}}}" if versions else "")


def _pins(asked: Asked) -> dict[str, str]:
    return {slug: asked.versions.get(slug) or version for slug, version in asked.builds.items()}
