"""The price book as a table, its version, and adding a row to its text. Reading and writing is the resource's."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from pipeline.errors import PriceError
from pipeline.registry.entries import Price
from pipeline.registry.loader import check_price, parse_prices, price_line
from pipeline.registry.registry import Registry
from pipeline.tables.prices import PRICES


def price_table(prices: Iterable[Price]) -> pa.Table:
    """Price rows as the PRICES table."""
    return PRICES.from_rows([{"price_id": p.price_id, **p.model_dump()} for p in prices])


def prices_as_of(prices: pa.Table, as_of: dt.date) -> pa.Table:
    """The rows that hold on a day: valid_from <= as_of < valid_to."""
    day = pa.scalar(as_of)
    ended = pc.fill_null(pc.less_equal(prices["valid_to"], day), False)
    return prices.filter(pc.and_(pc.less_equal(prices["valid_from"], day), pc.invert(ended)))


def costs_of_book(costs: pa.Table, prices: pa.Table) -> pa.Table:
    """The COSTS rows whose price row stands in the book with that rate: a page never prints another price's cost."""
    rates = set(zip(prices["price_id"].to_pylist(), prices["usd_per_gpu_hour"].to_pylist(), strict=True))
    used = zip(costs["price_id"].to_pylist(), costs["usd_per_gpu_hour"].to_pylist(), strict=True)
    return costs.filter(pa.array([row in rates for row in used], pa.bool_()))


def version_of(prices: pa.Table) -> str:
    """Hash of the rows' values: equal rows, equal version."""
    rows = [tuple(str(v) for v in row.values()) for row in prices.to_pylist()]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def added(text: str, body: Mapping[str, Any], file: str, registry: Registry) -> tuple[Price, str]:
    """One new row and the book's text with it; history stays as it is.

    A row of the same GPU and tier without an end ends on the new row's first day: that is what a new price
    means. Everything else that overlaps is refused. Raises PriceError.
    """
    try:
        price = Price.model_validate({**body, "valid_to": None})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise PriceError(
            f"{key}: {first['msg'].lower()}", where="new price", found=repr(body.get(key)), next_step="Correct it."
        ) from None
    check_price(price, "new price", registry.gpus, registry.tiers)
    current = parse_prices(text, file, gpus=registry.gpus, tiers=registry.tiers)
    if any((p.gpu, p.tier, p.valid_to) == (price.gpu, price.tier, None) for p in current):
        text = "".join(_ended(line, price) for line in text.splitlines(keepends=True))
    text = (text if text.endswith("\n") else text + "\n") + price_line(price)
    parse_prices(text, file, gpus=registry.gpus, tiers=registry.tiers)
    return price, text


def _ended(line: str, price: Price) -> str:
    """The line as it was, or with the new price's first day as its end if it is that price's open row."""
    fields = next(csv.reader([line]), [])
    if fields[:2] != [price.gpu, price.tier] or fields[4] or fields[3] >= str(price.valid_from):
        return line
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([*fields[:4], price.valid_from, fields[5]])
    return out.getvalue()
