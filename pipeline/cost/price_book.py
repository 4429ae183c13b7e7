"""The price book as a table: what it says on a day, its version, what was corrected.

Changing its text is price_edits.py's, what looks odd in it price_warnings.py's. Reading and writing is the resource's.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.registry.entries import Price
from pipeline.tables.prices import PRICES

ALL_CORRECTIONS = dt.date.max
"""As known now: every correction is made."""


@dataclass(frozen=True)
class PriceCorrection:
    """One correction of a published price: when, from what, to what, in USD per GPU-hour and days, and why.

    A price holds from ``valid_from`` until before ``valid_to``; None: until the next row.
    """

    corrected_on: dt.date
    was_usd_per_gpu_hour: float
    became_usd_per_gpu_hour: float
    reason: str
    was_valid_from: dt.date
    became_valid_from: dt.date
    was_valid_to: dt.date | None = None
    became_valid_to: dt.date | None = None


def price_table(prices: Iterable[Price]) -> pa.Table:
    """Price rows as the PRICES table."""
    return PRICES.from_rows([{"price_id": p.price_id, **p.model_dump()} for p in prices])


def prices_as_of(prices: pa.Table, as_of: dt.date, known_on: dt.date = ALL_CORRECTIONS) -> pa.Table:
    """The rows that hold on a day, valid_from <= as_of < valid_to, corrections made after ``known_on`` left out."""
    held = pc.and_(_begun(prices["valid_from"], as_of), pc.invert(_ended(prices["valid_to"], as_of)))
    said = pc.and_(_begun(prices["recorded_on"], known_on), pc.invert(_ended(prices["corrected_on"], known_on)))
    return prices.filter(pc.and_(held, said))


def _begun(first: pa.ChunkedArray, day: dt.date) -> pa.ChunkedArray:
    return pc.fill_null(pc.less_equal(first, pa.scalar(day)), True)


def _ended(end: pa.ChunkedArray, day: dt.date) -> pa.ChunkedArray:
    return pc.fill_null(pc.less_equal(end, pa.scalar(day)), False)


def corrections_of(prices: pa.Table) -> dict[str, tuple[PriceCorrection, ...]]:
    """Every correction of a book (PRICES) by price_id, the first one first; prices without one are left out.

    A price whose first day was corrected has another price_id since: both have all of its corrections.
    """
    rows = sorted(prices.to_pylist(), key=_when_said)
    was = _was(rows)
    found: dict[str, set[int]] = {}
    for index, row in enumerate(rows):
        found.setdefault(row["price_id"], set()).update(_links_to(index, was))
        if index in was:
            found.setdefault(rows[was[index]]["price_id"], set()).add(index)
    return {
        price_id: tuple(_correction(rows[was[index]], rows[index]) for index in sorted(links))
        for price_id, links in found.items()
        if links
    }


def _when_said(row: Mapping[str, Any]) -> tuple[dt.date, dt.date]:
    return (row["recorded_on"] or dt.date.min, row["corrected_on"] or dt.date.max)


def _was(rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """For the index of each row that a correction made, that of the row it was: with the same first day, or else the
    nearest one that no row with its first day follows.
    """
    made = {index: olds for index in range(len(rows)) if (olds := _corrected_into(rows, index))}
    was: dict[int, int] = {}
    for index, olds in made.items():
        same = [old for old in olds if rows[old]["price_id"] == rows[index]["price_id"] and old not in was.values()]
        if same:
            was[index] = same[0]
    followed = set(was.values())
    for index in made.keys() - was.keys():
        olds = [old for old in made[index] if old not in followed] or made[index]
        was[index] = min(olds, key=lambda old: abs(rows[old]["valid_from"] - rows[index]["valid_from"]))
    return was


def _corrected_into(rows: Sequence[Mapping[str, Any]], index: int) -> list[int]:
    """Earlier rows of the same GPU and tier that were corrected on the day since which this one is said."""
    row = rows[index]
    key = (row["gpu"], row["tier"], row["recorded_on"])
    return [
        old
        for old, other in enumerate(rows[:index])
        if row["recorded_on"] and (other["gpu"], other["tier"], other["corrected_on"]) == key
    ]


def _links_to(index: int, was: Mapping[int, int]) -> Iterator[int]:
    while index in was:
        yield index
        index = was[index]


def _correction(old: Mapping[str, Any], new: Mapping[str, Any]) -> PriceCorrection:
    return PriceCorrection(
        corrected_on=old["corrected_on"],
        was_usd_per_gpu_hour=old["usd_per_gpu_hour"],
        became_usd_per_gpu_hour=new["usd_per_gpu_hour"],
        reason=old["correction_reason"],
        was_valid_from=old["valid_from"],
        became_valid_from=new["valid_from"],
        was_valid_to=old["valid_to"],
        became_valid_to=new["valid_to"],
    )


def costs_of_book(costs: pa.Table, prices: pa.Table) -> pa.Table:
    """The COSTS rows whose price row stands in the book with that rate: a page never prints another price's cost."""
    rates = set(rows_of(prices, *IDENTITY))
    return costs.filter(pa.array([row in rates for row in rows_of(costs, *IDENTITY)], pa.bool_()))


IDENTITY = ("price_id", "recorded_on", "usd_per_gpu_hour")
"""What tells a price row, and the costs at it, from every other row and from what an edit made of it."""


def rows_of(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    """The values of some columns, row by row."""
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def version_of(prices: pa.Table) -> str:
    """Hash of the rows' values: equal rows, equal version."""
    rows = [tuple(str(v) for v in row.values()) for row in prices.to_pylist()]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]
