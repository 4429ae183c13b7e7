"""Strict parsing of the registry's TOML texts into entries. Reads no file: shipped.py and the resources do.

The price book is price_rows.py's.

An unknown key or value is a RegistryError that names the file, the key and the nearest known name.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from pipeline.errors import RegistryError
from pipeline.registry.entries import Entry

E = TypeVar("E", bound=Entry)


def nearest(word: str, known: Iterable[str]) -> str:
    """The sentence that names the closest known word, or lists them all where none is close."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(names)}."


def as_written(blocks: Mapping[str, object]) -> Mapping[str, object]:
    """Every block is one entry."""
    return blocks


def parse_entries(
    text: str, kind: type[E], file: str, expand: Callable[[Mapping[str, object]], Mapping[str, object]] = as_written
) -> dict[str, E]:
    """One TOML table per entry, keyed by slug; ``expand`` may make several of one block. Raises RegistryError."""
    return parse_kinds(text, lambda body, where: kind, file, expand)


def parse_kinds(
    text: str,
    kind_of: Callable[[Mapping[str, object], str], type[E]],
    file: str,
    expand: Callable[[Mapping[str, object]], Mapping[str, object]] = as_written,
) -> dict[str, E]:
    """As parse_entries, where ``kind_of`` a block (and its place) says what kind of entry it is."""
    entries: dict[str, E] = {}
    for slug, body in expand(toml_blocks(text, file)).items():
        if not slug.replace("_", "").isalnum() or slug != slug.lower():
            raise RegistryError(
                "bad slug", where=f"{file} [{slug}]", expected="[a-z0-9_]+", found=slug, next_step="Rename the block."
            )
        entries[slug] = _entry(body, kind_of, f"{file} [{slug}]")
    _refuse_shared_aliases(entries, file)
    return entries


def toml_blocks(text: str, file: str) -> dict[str, object]:
    """The top-level tables of a TOML text. Raises RegistryError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RegistryError(f"not TOML ({error})", where=file, next_step="Correct the line that it names.") from None


def _entry(body: object, kind_of: Callable[[Mapping[str, object], str], type[E]], where: str) -> E:
    if not isinstance(body, dict):
        raise RegistryError("not a block", where=where, next_step="Write it as a [slug] block.")
    kind = kind_of(body, where)
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        raise registry_error(error, kind, where) from None


def registry_error(error: ValidationError, kind: type[BaseModel], where: str) -> RegistryError:
    """One complaint of a validation as a sentence: an unknown key with the nearest known one, else the first."""
    complaints = error.errors()
    first = next((c for c in complaints if c["type"] == "extra_forbidden"), complaints[0])
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "value_error":  # a rule over several keys of one table
        place = f"{where} {key}".strip()
        rule = first["msg"].removeprefix("Value error, ")
        return RegistryError(rule, where=place, next_step="Correct the block.")
    if first["type"] == "extra_forbidden":
        return RegistryError(f"unknown key {key!r}", where=where, next_step=_nearest_key(first["loc"], kind))
    found = "nothing" if first["type"] == "missing" else repr(first["input"])
    return RegistryError(
        f"key {key!r}: {first['msg'].lower()}", where=where, found=found, next_step=f"Correct {key!r}."
    )


def _nearest_key(place: tuple[int | str, ...], kind: type[BaseModel]) -> str:
    fields = kind.model_fields
    for part in place[:-1]:
        annotation = fields[str(part)].annotation if part in fields else None
        kinds = (annotation, *get_args(annotation))  # a table that may be absent is a union with None
        fields = next((k.model_fields for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), {})
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
