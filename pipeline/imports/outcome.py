"""What an import gives: points, requests and refused rows, which add up to the rows read."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.errors import UnreadableFileError
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS


class RowRejectedError(Exception):
    """A row cannot become a point. Never leaves this package: it becomes a Rejected of the outcome."""

    def __init__(self, code: str, detail: str):
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")


@dataclass(frozen=True)
class Rejected:
    """One row that is no point: its 0-based position, why as a code, and a sentence with the next step."""

    row: int
    code: str
    detail: str


@dataclass(frozen=True)
class Outcome:
    """One file, read. ``points`` has the schema POINTS and holds valid and invalid points; ``requests`` is REQUESTS.

    ``passed_over``: the file is known and holds no points of its own; the one note says why.
    """

    source_format: str
    n_rows_read: int
    points: pa.Table
    requests: pa.Table
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]
    passed_over: bool = False

    def __post_init__(self) -> None:
        if self.n_valid + self.n_invalid + self.n_rejected != self.n_rows_read:
            raise AssertionError(
                f"{self.source_format}: {self.n_valid} valid + {self.n_invalid} invalid + "
                f"{self.n_rejected} rejected is not {self.n_rows_read} read"
            )

    @property
    def n_valid(self) -> int:
        """Points without a reason against them."""
        return int(pc.sum(self.points["valid"]).as_py() or 0)

    @property
    def n_invalid(self) -> int:
        """Points with reason codes."""
        return int(self.points.num_rows - self.n_valid)

    @property
    def n_rejected(self) -> int:
        """Rows that are no points."""
        return len(self.rejected)


def passed_over(source_format: str, why: str) -> Outcome:
    """A file of 0 rows that belongs to others, with the sentence that says so."""
    return Outcome(source_format, 0, POINTS.empty(), REQUESTS.empty(), (), (why,), passed_over=True)


def refuse_days_outside(points: pa.Table, first: dt.date, last: dt.date, where: str) -> None:
    """Refuse a file with a run date that has no cell. Raises UnreadableFileError."""
    for day in points["run_date"].to_pylist():
        if not first <= day <= last:
            raise UnreadableFileError(
                "a run date outside the days that can be stored",
                where=where,
                expected=f"{first} to {last} (today, UTC)",
                found=str(day),
                next_step="Correct the date; of a file dated ahead of UTC, import it tomorrow.",
            )
