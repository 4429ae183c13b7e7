"""What may be deleted from the store: the rules. Finding and deleting files is resources/store_files.py's.

Nothing that a published page or download is made of is ever among it: points, repeats, runs, knots, readings, costs and
the log of changes stay for ever. Rows of requests and samples were summed up into points when they were stored.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Set

import pyarrow as pa

from pipeline.cell import GpuRun
from pipeline.errors import FrontierError
from pipeline.tables.requests import REQUESTS
from pipeline.tables.samples import SAMPLES

MAX_DAYS = 36_500
"""A hundred years: nothing that is stored is older, and the calendar reaches further back."""

PER_REQUEST = (REQUESTS, SAMPLES)
"""Tables of single requests and seconds: the evidence below a point, most of the bytes, and on no page."""


def first_kept_day(today: dt.date, older_than_days: int) -> dt.date:
    """What is of an earlier day is older.

    Raises FrontierError for less than one day, as today may still be written, and for more than MAX_DAYS.
    """
    if not 1 <= older_than_days <= MAX_DAYS:
        raise FrontierError(
            "today's results may still be written" if older_than_days < 1 else "nothing is that old",
            where=f"--older-than {older_than_days}",
            expected=f"1 to {MAX_DAYS:,} days",
            next_step="Name more days." if older_than_days < 1 else "Name fewer days.",
        )
    return today - dt.timedelta(older_than_days)


def cells_of(points: pa.Table) -> set[GpuRun]:
    """The cells that some POINTS rows are of."""
    return set(map(GpuRun, points["gpu"].to_pylist(), points["run_date"].to_pylist()))


def prunable(cells: Iterable[GpuRun], behind_pages: Set[GpuRun], first_kept: dt.date) -> list[GpuRun]:
    """Cells whose rows of requests may go, in order: older ones, without those that a page stands on.

    A page stands on the newest valid curve of every series, or where there is none on the series' newest run.
    """
    return sorted(cell for cell in set(cells) if cell.run_date < first_kept and cell not in behind_pages)
