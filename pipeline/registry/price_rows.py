"""The price book's CSV: its columns, strict parsing of its rows, writing one. Reads no file: the resource does.

Belongs here: what makes a row, and rows together, wrong. What only looks odd is pipeline/cost/price_warnings.py's,
and changing the book is pipeline/cost/price_edits.py's.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import ValidationError

from pipeline.errors import PriceError
from pipeline.registry.entries import COMPUTED_TIER, Price
from pipeline.registry.loader import nearest

PRICE_COLUMNS = ("gpu", "tier", "usd_per_gpu_hour", "valid_from", "valid_to", "source")
CORRECTION_COLUMNS = ("recorded_on", "corrected_on", "correction_reason")
"""A book without a correction may do without these."""


@dataclass(frozen=True)
class PriceRow:
    """A price and the line of the file that it stands on (1: the header)."""

    line: int
    price: Price


@dataclass(frozen=True)
class PriceFile:
    """Every row that can be read, in the file's order, and every fault of the file, one sentence each."""

    rows: tuple[PriceRow, ...]
    faults: tuple[PriceError, ...]


NONE: Mapping[str, str] = MappingProxyType({})


def read_price_file(
    text: str, file: str, *, gpus: Iterable[str], tiers: Iterable[str], renamed: Mapping[str, str] = NONE
) -> PriceFile:
    """The price book's CSV, with all that is wrong in it. A wrong header is the only fault of its file.

    ``renamed``: today's slugs of GPUs by former ones; a row of a former one is one of today's.
    """
    reader = csv.DictReader(io.StringIO(text))
    header = tuple(reader.fieldnames or ())
    if header not in (PRICE_COLUMNS, PRICE_COLUMNS + CORRECTION_COLUMNS):
        return PriceFile((), (_wrong_header(header, file),))
    known_gpus, known_tiers = set(gpus), set(tiers)
    rows, faults = [], []
    for body in reader:
        where = f"{file} line {reader.line_num}"
        try:
            today = {**body, "gpu": renamed.get(str(body["gpu"]), body["gpu"])}
            rows.append(PriceRow(reader.line_num, _price(today, where, known_gpus, known_tiers)))
        except PriceError as error:
            faults.append(error)
    return PriceFile(tuple(rows), (*faults, *_overlaps(rows, file)))


def parse_prices(
    text: str, file: str, *, gpus: Iterable[str], tiers: Iterable[str], renamed: Mapping[str, str] = NONE
) -> tuple[Price, ...]:
    """The price book's rows sorted by GPU, tier and date, replaced ones first. Raises PriceError: the first fault."""
    found = read_price_file(text, file, gpus=gpus, tiers=tiers, renamed=renamed)
    if found.faults:
        raise found.faults[0]
    return tuple(sorted((row.price for row in found.rows), key=_order))


def _order(price: Price) -> tuple[object, ...]:
    return (price.gpu, price.tier, price.valid_from, price.corrected_on or dt.date.max)


def _wrong_header(header: Sequence[str], file: str) -> PriceError:
    expected = ",".join(PRICE_COLUMNS)
    return PriceError(
        "wrong header",
        where=f"{file} line 1",
        expected=f"{expected}, where there are corrections followed by {','.join(CORRECTION_COLUMNS)}",
        found=",".join(header) or "nothing",
        next_step="Restore the header line.",
    )


def _price(row: Mapping[str, str | None], where: str, gpus: set[str], tiers: set[str]) -> Price:
    if None in row or None in row.values():
        n_columns = len([name for name in row if name is not None])
        raise PriceError("wrong number of fields", where=where, expected=str(n_columns), next_step="Correct the line.")
    body = {key: value for key, value in row.items() if value != ""}
    body.setdefault("valid_to", None)
    price = validated_price(body, where)
    check_price(price, where, gpus, tiers)
    return price


def validated_price(body: Mapping[str, object], where: str) -> Price:
    """The row of a mapping. Raises PriceError: the first value that is none of its kind."""
    try:
        return Price.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ").lower()
        raise PriceError(
            f"{key}: {message}", where=where, found=repr(body.get(key)), next_step=f"Correct {key}."
        ) from None


def check_price(price: Price, where: str, gpus: Iterable[str], tiers: Iterable[str]) -> None:
    """Refuse an unknown GPU or tier, an empty interval and half a correction. Raises PriceError."""
    if price.tier == COMPUTED_TIER:
        raise PriceError(
            f"the tier {COMPUTED_TIER} is computed, never quoted",
            where=where,
            expected="a quoted tier",
            next_step="Remove the row; the inputs of that tier are in tco.toml.",
        )
    for key, value, known in (("gpu", price.gpu, gpus), ("tier", price.tier, tiers)):
        if value not in set(known):
            raise PriceError(f"unknown {key} {value!r}", where=where, next_step=nearest(value, known))
    if price.valid_to is not None and price.valid_to <= price.valid_from:
        raise PriceError(
            "the interval is empty",
            where=where,
            expected=f"valid_to after {price.valid_from}",
            found=str(price.valid_to),
            next_step="Correct the dates.",
        )
    _check_correction(price, where)


def _check_correction(price: Price, where: str) -> None:
    if price.replaced != (price.correction_reason is not None):
        raise PriceError(
            "half a correction",
            where=where,
            expected="both corrected_on and correction_reason, or neither",
            next_step="Complete the row, or clear both.",
        )
    if price.corrected_on and price.recorded_on and price.corrected_on < price.recorded_on:
        raise PriceError(
            "the row was corrected before it was recorded",
            where=where,
            expected=f"corrected_on on or after {price.recorded_on}",
            found=str(price.corrected_on),
            next_step="Correct the dates.",
        )


def _overlaps(rows: Sequence[PriceRow], file: str) -> list[PriceError]:
    """Pairs of rows of one GPU and tier that hold on the same day, later rows against the ones before them."""
    series: dict[tuple[str, str], list[PriceRow]] = {}
    for row in sorted(rows, key=lambda row: _order(row.price)):
        series.setdefault((row.price.gpu, row.price.tier), []).append(row)
    return [
        _overlap(earlier, later, file)
        for group in series.values()
        for n, later in enumerate(group)
        for earlier in group[:n]
        if earlier.price.overlaps(later.price)
    ]


def _overlap(earlier: PriceRow, later: PriceRow, file: str) -> PriceError:
    first, second = earlier.price, later.price
    return PriceError(
        f"{first.price_id} and {second.price_id} overlap",
        where=f"{file} lines {earlier.line} and {later.line}",
        expected=f"the earlier one to end on or before {second.valid_from}",
        found=str(first.valid_to or "no end"),
        next_step="Give the earlier row that valid_to, or remove one of them.",
    )


def price_line(price: Price, n_columns: int = len(PRICE_COLUMNS)) -> str:
    """A price as one CSV line of a book with so many columns, with its newline."""
    body = price.model_dump()
    body["usd_per_gpu_hour"] = f"{price.usd_per_gpu_hour:.10g}"
    fields = ["" if body[name] is None else body[name] for name in (*PRICE_COLUMNS, *CORRECTION_COLUMNS)]
    return csv_line(fields[:n_columns])


def csv_line(fields: Sequence[object]) -> str:
    """Fields as one CSV line, with its newline."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(fields)
    return out.getvalue()
