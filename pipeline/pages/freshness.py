"""How old a section's numbers are, and when they are due again: dates handed in, no clock.

Measured sections have a cadence, that of their GPU. Imported ones are as old as their file, and a simulation changes
with its tables only: neither is ever overdue.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from pipeline.pages.highlights import in_use
from pipeline.pages.page import Freshness, Page, Provenance
from pipeline.pages.point_record import PointRecord
from pipeline.registry.entries import Gpu

NOTHING_VALID = "No point of this page is valid."
NOT_DUE = {
    "imported": "Imported results are as old as their files; they are not measured again here.",
    "simulated": "A simulation gives the same numbers until its tables change.",
}
RETIRED = "The GPU is retired: it is not measured again."


def freshness(records: Sequence[PointRecord], gpu: Gpu, provenance: Provenance, as_of: dt.date) -> Freshness:
    """The freshness of a section on the day that it is made for."""
    last = max((record.run_date for record in in_use(records)), default=None)
    if last is None:
        return Freshness(None, None, None, overdue=False, reason=NOTHING_VALID)
    age_days = (as_of - last).days
    reason = RETIRED if gpu.retired and provenance == "measured" else NOT_DUE.get(provenance)
    if reason:
        return Freshness(last, age_days, None, overdue=False, reason=reason)
    due_on = due_after(last, gpu)
    return Freshness(last, age_days, due_on, overdue=as_of > due_on, reason=None)


def due_after(last: dt.date, gpu: Gpu) -> dt.date:
    """The day until which a GPU that was measured last on a day is to be measured again."""
    return last + dt.timedelta(days=gpu.stale_after_days)


def freshness_sentence(page: Page) -> str | None:
    """The section's age in words; None where nothing is valid."""
    fresh = page.freshness
    if fresh.last_run_date is None:
        return None
    last = fresh.last_run_date.isoformat()
    if fresh.due_on is None:
        return f"{_UNDATED[page.provenance]} {last}. {fresh.reason}"
    return f"Measured on {last}; due again by {fresh.due_on.isoformat()}."


def overdue_sentence(page: Page) -> str | None:
    """What an overdue section says first; None for the others. The reader's own calendar is page.js's."""
    fresh = page.freshness
    if not fresh.overdue or fresh.due_on is None:
        return None
    return f"Overdue: these numbers were due to be measured again by {fresh.due_on.isoformat()}."


_UNDATED = {
    "measured": "Measured on",
    "imported": "The newest imported run is of",
    "simulated": "Simulated on",
}
