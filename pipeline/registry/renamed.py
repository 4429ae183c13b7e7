"""Renamed slugs (renamed.toml), and tables in today's slugs. Pages at old addresses are pipeline/pages/redirects.py's.

What was stored keeps the slugs of its day, in its rows and in its folders: renaming rewrites nothing that cannot be
derived. Rows come into today's slugs when raw results are made of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.errors import RegistryError
from pipeline.registry.entries import Slug
from pipeline.registry.loader import nearest
from pipeline.registry.registry import Registry

FILE = "renamed.toml"


class Renamed(BaseModel):
    """New slugs by old ones, by kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gpus: Mapping[Slug, Slug] = Field(default={})
    models: Mapping[Slug, Slug] = Field(default={})
    engines: Mapping[Slug, Slug] = Field(default={})

    @property
    def in_addresses(self) -> Mapping[str, str]:
        """Those that are part of a page's address."""
        return {**self.models, **self.gpus}

    @property
    def moved(self) -> bool:
        """Whether anything was renamed."""
        return bool(self.gpus or self.models or self.engines)

    def former_gpus(self, gpu: str) -> tuple[str, ...]:
        """The slugs that a GPU had before."""
        return tuple(sorted(old for old, new in self.gpus.items() if new == gpu))

    def of_column(self, column: str) -> Mapping[str, str]:
        """What is to be replaced in a column of that name."""
        kinds = {"gpu": self.gpus, "model": self.models, "engine": self.engines, "engine_family": self.engines}
        return kinds.get(column.removeprefix("old_").removeprefix("new_"), {})


def parse_renamed(text: str, registry: Registry) -> Renamed:
    """The file's slugs, each with the slug that it has today. Raises RegistryError."""
    try:
        found = Renamed.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise RegistryError(f"not a list of renamed slugs ({first})", where=FILE, next_step="Correct it.") from None
    _refuse_wrong(found.gpus, registry.gpus, "gpu")
    _refuse_wrong(found.models, registry.models, "model")
    _refuse_wrong(found.engines, registry.engines, "engine")
    return found


def _refuse_wrong(renamed: Mapping[str, str], known: Collection[str], kind: str) -> None:
    for old, new in renamed.items():
        if old in known:
            raise RegistryError(f"{old} is in use", where=FILE, next_step="A renamed slug is never used again.")
        if new not in known:
            raise RegistryError(f"{old} leads to {new}, which is no {kind}", where=FILE, next_step="Name today's slug.")


def with_todays_slugs(table: pa.Table, renamed: Renamed) -> pa.Table:
    """The rows with today's slugs in their columns gpu, model and engine, and in the names of price rows."""
    for index, field in enumerate(table.schema):
        slugs = renamed.of_column(field.name)
        if slugs:
            values = [slugs.get(value, value) for value in table.column(index).to_pylist()]
            table = table.set_column(index, field, pa.array(values, field.type))
        elif field.name.endswith("price_ids") and renamed.gpus:
            lists = [ids and [todays_price_id(i, renamed) for i in ids] for ids in table.column(index).to_pylist()]
            table = table.set_column(index, field, pa.array(lists, field.type))
    return table


def todays_price_id(price_id: str, renamed: Renamed) -> str:
    """gpu/tier/date with the GPU's slug of today."""
    gpu, slash, rest = price_id.partition("/")
    return f"{renamed.gpus.get(gpu, gpu)}{slash}{rest}"


def refuse_orphans(kind: str, slugs: Iterable[str], known: Collection[str], file: str) -> None:
    """Refuse stored slugs that no block is of: their history would be lost. Raises RegistryError."""
    orphans = sorted(set(slugs) - set(known))
    if orphans:
        raise RegistryError(
            f"results of the {kind} {orphans[0]!r} are stored, and no block is of it",
            where=file,
            found=f"{len(orphans)} such slugs: {', '.join(orphans)}" if orphans[1:] else "",
            next_step=f"Put its block back (a GPU that is no longer swept gets retired = true), or lead {orphans[0]} "
            f"to its new slug in {FILE}. {nearest(orphans[0], known)}",
        )
