"""The price book as a table: what it says on a day, its version, what was corrected.

Changing its text is price_edits.py's, what looks odd in it price_warnings.py's. Reading and writing is the resource's.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
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
    """One correction of a published price: when, from what, to what, in USD per GPU-hour, and why."""

    corrected_on: dt.date
    was_usd_per_gpu_hour: float
    became_usd_per_gpu_hour: float
    reason: str


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
    """Every correction of a book (PRICES) by price_id, the first one first; prices without one are left out."""
    said: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(prices.to_pylist(), key=_when_said):
        said.setdefault(row["price_id"], []).append(row)
    return {price_id: tuple(_corrections(rows)) for price_id, rows in said.items() if len(rows) > 1}


def _when_said(row: Mapping[str, Any]) -> tuple[dt.date, dt.date]:
    return (row["recorded_on"] or dt.date.min, row["corrected_on"] or dt.date.max)


def _corrections(rows: list[dict[str, Any]]) -> Iterator[PriceCorrection]:
    for old, new in itertools.pairwise(rows):
        yield PriceCorrection(
            corrected_on=old["corrected_on"],
            was_usd_per_gpu_hour=old["usd_per_gpu_hour"],
            became_usd_per_gpu_hour=new["usd_per_gpu_hour"],
            reason=old["correction_reason"],
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
