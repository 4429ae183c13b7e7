"""Strict parsing of the registry's texts into entries. Reads no file: shipped.py and the resources do.

An unknown key or value is a RegistryError that names the file, the key and the nearest known name.
"""

from __future__ import annotations

import csv
import datetime as dt
import difflib
import io
import itertools
import tomllib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.errors import PriceError, RegistryError
from pipeline.registry.entries import Entry, Price

E = TypeVar("E", bound=Entry)

PRICE_COLUMNS = ("gpu", "tier", "usd_per_gpu_hour", "valid_from", "valid_to", "source")


def nearest(word: str, known: Iterable[str]) -> str:
    """The sentence that names the closest known word, or lists them all where none is close."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(names)}."


def parse_entries(text: str, kind: type[E], file: str) -> dict[str, E]:
    """One TOML table per entry, keyed by slug. Raises RegistryError."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RegistryError(f"not TOML ({error})", where=file, next_step="Correct the line that it names.") from None
    entries: dict[str, E] = {}
    for slug, body in raw.items():
        if not slug.replace("_", "").isalnum() or slug != slug.lower():
            raise RegistryError(
                "bad slug", where=f"{file} [{slug}]", expected="[a-z0-9_]+", found=slug, next_step="Rename the block."
            )
        entries[slug] = _entry(body, kind, f"{file} [{slug}]")
    _refuse_shared_aliases(entries, file)
    return entries


def _entry(body: object, kind: type[E], where: str) -> E:
    if not isinstance(body, dict):
        raise RegistryError("not a block", where=where, next_step="Write it as a [slug] block.")
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        raise registry_error(error, kind, where) from None


def registry_error(error: ValidationError, kind: type[BaseModel], where: str) -> RegistryError:
    """One complaint of a validation as a sentence: an unknown key with the nearest known one, else the first."""
    complaints = error.errors()
    first = next((c for c in complaints if c["type"] == "extra_forbidden"), complaints[0])
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return RegistryError(f"unknown key {key!r}", where=where, next_step=_nearest_key(first["loc"], kind))
    found = "nothing" if first["type"] == "missing" else repr(first["input"])
    return RegistryError(
        f"key {key!r}: {first['msg'].lower()}", where=where, found=found, next_step=f"Correct {key!r}."
    )


def _nearest_key(place: tuple[int | str, ...], kind: type[BaseModel]) -> str:
    fields = kind.model_fields
    for part in place[:-1]:
        inner = fields[str(part)].annotation if part in fields else None
        fields = inner.model_fields if isinstance(inner, type) and issubclass(inner, BaseModel) else {}
    return nearest(str(place[-1]), fields)


def _refuse_shared_aliases(entries: Mapping[str, Entry], file: str) -> None:
    owner: dict[str, str] = {}
    for slug, entry in entries.items():
        for alias in (slug, *entry.aliases):
            other = owner.setdefault(alias.lower(), slug)
            if other != slug:
                raise RegistryError(
                    f"alias {alias!r} names two entries",
                    where=f"{file} [{slug}]",
                    found=f"also in [{other}]",
                    next_step="Keep it in one of them.",
                )


def parse_prices(text: str, file: str, *, gpus: Iterable[str], tiers: Iterable[str]) -> tuple[Price, ...]:
    """The price book's CSV to rows sorted by gpu, tier and date. Raises PriceError, also for overlaps."""
    reader = csv.DictReader(io.StringIO(text))
    if tuple(reader.fieldnames or ()) != PRICE_COLUMNS:
        raise PriceError(
            "wrong header",
            where=file,
            expected=",".join(PRICE_COLUMNS),
            found=",".join(reader.fieldnames or ()) or "nothing",
            next_step="Restore the header line.",
        )
    prices = [_price(row, f"{file} line {reader.line_num}", set(gpus), set(tiers)) for row in reader]
    prices.sort(key=lambda p: (p.gpu, p.tier, p.valid_from))
    refuse_overlaps(prices, file)
    return tuple(prices)


def _price(row: Mapping[str, str | None], where: str, gpus: set[str], tiers: set[str]) -> Price:
    if None in row or None in row.values():
        raise PriceError("wrong number of fields", where=where, expected="6", next_step="Correct the line.")
    body = {key: value for key, value in row.items() if value != ""}
    body.setdefault("valid_to", None)
    try:
        price = Price.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise PriceError(
            f"{key}: {first['msg'].lower()}", where=where, found=repr(row.get(key)), next_step="Correct the line."
        ) from None
    check_price(price, where, gpus, tiers)
    return price


def check_price(price: Price, where: str, gpus: Iterable[str], tiers: Iterable[str]) -> None:
    """Refuse an unknown GPU or tier and an empty interval. Raises PriceError."""
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


def refuse_overlaps(prices: Iterable[Price], file: str) -> None:
    """Refuse two rows of one gpu and tier that hold on the same day; rows must be sorted. Raises PriceError."""
    for last, price in itertools.pairwise(prices):
        same = (last.gpu, last.tier) == (price.gpu, price.tier)
        if same and (last.valid_to is None or last.valid_to > price.valid_from):
            raise PriceError(
                f"{last.price_id} and {price.price_id} overlap",
                where=file,
                expected=f"the earlier one to end on or before {price.valid_from}",
                found=str(last.valid_to or "no end"),
                next_step="Give the earlier row that valid_to.",
            )


def price_line(price: Price) -> str:
    """A price as one CSV line of the book, with its newline."""
    out = io.StringIO()
    end: dt.date | str = price.valid_to or ""
    row = [price.gpu, price.tier, f"{price.usd_per_gpu_hour:g}", price.valid_from, end, price.source]
    csv.writer(out, lineterminator="\n").writerow(row)
    return out.getvalue()
