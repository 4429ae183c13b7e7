"""Changing the price book's text: adding a price, correcting one, and its first day.

Every other line stays as it was, byte for byte. Writing the file is the resource's.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import PriceError
from pipeline.registry.entries import Price
from pipeline.registry.price_rows import (
    CORRECTION_COLUMNS,
    PRICE_COLUMNS,
    PriceRow,
    check_price,
    csv_line,
    parse_prices,
    price_line,
    read_price_file,
    validated_price,
)
from pipeline.registry.registry import Registry

N_COLUMNS = len(PRICE_COLUMNS + CORRECTION_COLUMNS)


@dataclass(frozen=True)
class Edit:
    """A change of the book: its new row, the row that it came from or that held on its first day, and the book's text.

    ``neighbour``: the row before the new one, where its last day changed with the new one's first.
    """

    price: Price
    before: Price | None
    text: str
    neighbour: Price | None = None


def added(text: str, body: Mapping[str, Any], file: str, registry: Registry) -> Edit:
    """One new price, from ``valid_from`` until ``valid_to``; only the days between change. Raises PriceError.

    Without a ``valid_to`` it holds for the rest of the row, or of the gap between two rows, that its first day falls
    into; that row ends there, and goes on after a ``valid_to`` that is within it. A first day that has a row, and an
    end beyond the row or the gap, are refused. Where the days had a price that was corrected, the new row counts as
    said since that correction.
    """
    price = validated_price({"valid_to": None, **body}, "new price")
    check_price(price, "new price", registry.gpus, registry.tiers)
    rows = _series(text, price, file, registry)
    live = sorted((row for row in rows if not row.price.replaced), key=lambda row: row.price.valid_from)
    _refuse_taken_day(price, live, file)
    around = next((row for row in live if _covers(row.price, price.valid_from)), None)
    room_end = around.price.valid_to if around else _next_day(price, live)
    _refuse_beyond(price, room_end, file)
    price = price.model_copy(update={"valid_to": price.valid_to or room_end})
    price = price.model_copy(update={"recorded_on": _corrected_last(price, rows)})
    lines = _lines(text)
    new = [price]
    if around:
        lines[around.line - 1] = _with(lines[around.line - 1], valid_to=price.valid_from)
        if price.valid_to != around.price.valid_to:
            new.append(around.price.model_copy(update={"valid_from": price.valid_to}))
    return _finished(lines, new, Edit(price, around.price if around else None, ""), file, registry)


def corrected(text: str, body: Mapping[str, Any], file: str, registry: Registry, today: dt.date) -> Edit:
    """Another rate for the row that begins on ``valid_from``; the row as it was stays, marked with day and reason.

    The new row holds on the same days and counts from ``today`` on. Raises PriceError, also for a day without a row
    and for a correction that changes nothing.
    """
    row, wanted, _ = _to_correct(text, body, file, registry)
    old = row.price
    if _said(old) == _said(wanted):
        raise PriceError(
            "the row says that already",
            where=f"{file} line {row.line}",
            found=f"{old.usd_per_gpu_hour:g} USD per GPU-hour ({old.source})",
            next_step="Nothing is to be corrected.",
        )
    lines = _marked(text, [row], body["correction_reason"], today)
    new = wanted.model_copy(update={"valid_to": old.valid_to, "recorded_on": today})
    return _finished(lines, [new], Edit(new, old, ""), file, registry)


def moved(
    text: str, body: Mapping[str, Any], first_day: dt.date, file: str, registry: Registry, today: dt.date
) -> Edit:
    """As corrected, and the row begins on ``first_day``.

    The row before it holds until then: where it ended on the day that was wrong, and where it would reach beyond the
    new one; it is corrected too. Raises PriceError, also where a whole row would have to go.
    """
    row, wanted, live = _to_correct(text, body, file, registry)
    old = row.price
    if first_day == old.valid_from:
        return corrected(text, body, file, registry, today)
    _refuse_row_between(first_day, old, live, file)
    days = {"valid_from": first_day, "valid_to": old.valid_to, "recorded_on": today}
    rows, new, neighbour = [row], [wanted.model_copy(update=days)], None
    before = _neighbour(first_day, old, live)
    if before:
        neighbour = before.price.model_copy(update={"valid_to": first_day, "recorded_on": today})
        rows.append(before)
        new.append(neighbour)
    lines = _marked(text, rows, body["correction_reason"], today)
    return _finished(lines, new, Edit(new[0], old, "", neighbour), file, registry)


def _to_correct(
    text: str, body: Mapping[str, Any], file: str, registry: Registry
) -> tuple[PriceRow, Price, list[PriceRow]]:
    """The row that begins on ``valid_from``, what it shall say, and all rows that are said of its GPU and tier."""
    given = {key: value for key, value in body.items() if key != "correction_reason"}
    wanted = validated_price({"valid_to": None, **given}, "correction")
    check_price(wanted, "correction", registry.gpus, registry.tiers)
    live = [row for row in _series(text, wanted, file, registry) if not row.price.replaced]
    row = next((row for row in live if row.price.valid_from == wanted.valid_from), None)
    if row is None:
        raise _no_such_row(wanted, live, file)
    return row, wanted, live


def _neighbour(first_day: dt.date, old: Price, live: Iterable[PriceRow]) -> PriceRow | None:
    """The row before one that moves, where the two meet on either day."""
    earlier = [row for row in live if row.price.valid_from < old.valid_from]
    row = max(earlier, key=lambda row: row.price.valid_from, default=None)
    end = row.price.valid_to if row else None
    return row if end and (end == old.valid_from or end > first_day) else None


def _marked(text: str, rows: Iterable[PriceRow], reason: object, today: dt.date) -> list[str]:
    """The book's lines, some rows marked as corrected today. Raises PriceError."""
    marks = {"corrected_on": today, "correction_reason": reason}
    lines = [_wide(line, n) for n, line in enumerate(_lines(text))]
    for row in rows:
        check_price(
            validated_price(row.price.model_dump() | marks, "correction"),
            "correction",
            {row.price.gpu},
            {row.price.tier},
        )
        lines[row.line - 1] = _with(lines[row.line - 1], **marks)
    return lines


def _refuse_row_between(first_day: dt.date, old: Price, live: Iterable[PriceRow], file: str) -> None:
    """A row that would have to begin after its end, or go, is not moved by the move of another one."""
    for row in live:
        if first_day <= row.price.valid_from < old.valid_from:
            raise PriceError(
                f"{row.price.price_id} begins on or after that day",
                where=f"{file} line {row.line}",
                expected=f"a first day after {row.price.valid_from}",
                found=str(first_day),
                next_step="Correct that row first, or give a later day.",
            )


def _said(price: Price) -> tuple[str, str]:
    """Rate and source as they are written down: two that are written alike are one."""
    return f"{price.usd_per_gpu_hour:.10g}", " ".join(price.source.split())


def _series(text: str, price: Price, file: str, registry: Registry) -> list[PriceRow]:
    """The rows of a price's GPU and tier, replaced ones too. Raises the first fault of the file, of whichever row."""
    found = read_price_file(text, file, gpus=registry.gpus, tiers=registry.tiers, renamed=registry.renamed_gpus)
    if found.faults:
        raise found.faults[0]
    return [row for row in found.rows if (row.price.gpu, row.price.tier) == (price.gpu, price.tier)]


def _covers(row: Price, day: dt.date) -> bool:
    return row.valid_from < day and (row.valid_to is None or day < row.valid_to)


def _next_day(price: Price, live: Sequence[PriceRow]) -> dt.date | None:
    return min((row.price.valid_from for row in live if row.price.valid_from > price.valid_from), default=None)


def _corrected_last(price: Price, rows: Iterable[PriceRow]) -> dt.date | None:
    """The day since which nothing that was corrected stands in the way of a price."""
    days = [row.price.corrected_on for row in rows if row.price.replaced and row.price.overlaps(price)]
    return max((day for day in days if day), default=None)


def _refuse_taken_day(price: Price, live: Sequence[PriceRow], file: str) -> None:
    for row in live:
        if row.price.valid_from == price.valid_from:
            raise PriceError(
                f"{price.price_id} exists already, at {row.price.usd_per_gpu_hour:g} USD per GPU-hour "
                f"({row.price.source})",
                where=f"{file} line {row.line}",
                expected="a first day of its own",
                next_step="Give the day from which the new price holds; to correct that row: frontier prices correct.",
            )


def _refuse_beyond(price: Price, room_end: dt.date | None, file: str) -> None:
    if price.valid_to and room_end and price.valid_to > room_end:
        raise PriceError(
            f"the new price reaches beyond {room_end}, where another row or a gap begins",
            where=file,
            expected=f"an end on or before {room_end}",
            found=str(price.valid_to),
            next_step="Add one price for each row that it changes.",
        )


def _no_such_row(wanted: Price, live: Sequence[PriceRow], file: str) -> PriceError:
    days = ", ".join(sorted(str(row.price.valid_from) for row in live))
    return PriceError(
        f"no price of {wanted.gpu}, {wanted.tier} begins on {wanted.valid_from}",
        where=file,
        expected=days or "a row of that GPU and tier",
        found=str(wanted.valid_from),
        next_step="Give the first day of the row to correct: frontier prices list shows them.",
    )


def _lines(text: str) -> list[str]:
    return (text if text.endswith("\n") else text + "\n").splitlines(keepends=True)


def _wide(line: str, n: int) -> str:
    """A line of the book with the columns of corrections; the header is line 0, and an empty line stays empty."""
    fields = next(csv.reader([line]), [])
    missing = N_COLUMNS - len(fields)
    if not fields or not missing:
        return line
    more = CORRECTION_COLUMNS if n == 0 else ("",) * missing
    return f"{line.rstrip()},{','.join(more)}\n"


def _with(line: str, **changes: object) -> str:
    """A line of the book with some of its fields changed."""
    fields: list[object] = list(next(csv.reader([line])))
    names = PRICE_COLUMNS + CORRECTION_COLUMNS
    for name, value in changes.items():
        fields[names.index(name)] = value
    return csv_line(fields)


def _finished(lines: Sequence[str], new: Iterable[Price], edit: Edit, file: str, registry: Registry) -> Edit:
    """The edit with its text, which is checked as a whole. Raises PriceError."""
    n_columns = len(next(csv.reader(lines[:1])))
    text = "".join([*lines, *(price_line(price, n_columns) for price in new)])
    parse_prices(text, file, gpus=registry.gpus, tiers=registry.tiers, renamed=registry.renamed_gpus)
    return dataclasses.replace(edit, text=text)
