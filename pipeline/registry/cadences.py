"""What one cadence is: when GPUs are swept again, which of them first, and how many GPU hours one occurrence may take.

Belongs here: the fields of cadences.toml and their strict loading. Not here: which GPUs fit the budget
(pipeline/sweep/budget.py), and the schedules that are made of cadences (pipeline/automation/rebenchmarks.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Literal

from pydantic import Field

from pipeline.errors import RegistryError
from pipeline.registry.entries import Entry, Slug
from pipeline.registry.loader import nearest, parse_entries
from pipeline.registry.registry import Registry

Priority = Annotated[int, Field(ge=-100, le=100)]

_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_PART = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/([1-9]\d?))?")


class Cadence(Entry):
    """A set of GPUs that is swept at the same times.

    ``cron`` is five numeric fields in UTC, one minute and one hour: a run date has one sweep a GPU. ``gpus`` are slugs
    with their priority: of two, the higher one gets its share of the budget first, and its run starts first.
    ``recipes`` are slugs; empty: all of each GPU. ``budget_gpu_hours`` is for one occurrence, over all its GPUs.
    """

    cron: str
    gpus: Annotated[dict[Slug, Priority], Field(min_length=1)]
    kind: Literal["auto", "measured", "simulated"] = "auto"
    recipes: tuple[Slug, ...] = Field(default=(), strict=False)
    budget_gpu_hours: Annotated[float, Field(gt=0, le=100_000, strict=False)]


def parse_cadences(
    text: str, file: str, registry: Registry, gpu_of_recipe: Mapping[str, Collection[str]]
) -> dict[str, Cadence]:
    """The cadences by slug. ``gpu_of_recipe`` are the GPUs of every recipe's slug. Raises RegistryError."""
    cadences = parse_entries(text, Cadence, file)
    for slug, cadence in cadences.items():
        where = f"{file} [{slug}]"
        _refuse_bad_cron(cadence.cron, where)
        for gpu in cadence.gpus:
            if gpu not in registry.gpus:
                raise _unknown_gpu(gpu, registry, where)
        for recipe in cadence.recipes:
            _refuse_stray_recipe(recipe, cadence, gpu_of_recipe, where)
    return cadences


def _unknown_gpu(gpu: str, registry: Registry, where: str) -> RegistryError:
    today = registry.renamed_gpus.get(gpu)
    next_step = f"{gpu} is now {today}: write that." if today else nearest(gpu, registry.gpus)
    return RegistryError(f"unknown gpu {gpu!r}", where=where, next_step=next_step)


def _refuse_stray_recipe(
    recipe: str, cadence: Cadence, gpu_of_recipe: Mapping[str, Collection[str]], where: str
) -> None:
    if recipe not in gpu_of_recipe:
        raise RegistryError(f"unknown recipe {recipe!r}", where=where, next_step=nearest(recipe, gpu_of_recipe))
    if not set(gpu_of_recipe[recipe]) & cadence.gpus.keys():
        raise RegistryError(
            f"recipe {recipe!r} is of a GPU that the cadence does not name",
            where=where,
            expected=f"one of {', '.join(cadence.gpus)}",
            found=", ".join(sorted(gpu_of_recipe[recipe])),
            next_step="Add the GPU, or remove the recipe.",
        )


def _refuse_bad_cron(cron: str, where: str) -> None:
    fields = cron.split()
    is_cron = len(fields) == len(_RANGES) and all(map(_is_field, fields, _RANGES))
    if not is_cron or not all(field.isdigit() for field in fields[:2]):
        raise RegistryError(
            "bad cron",
            where=where,
            expected="minute hour day month weekday in UTC, as numbers, with one minute and one hour: 15 0 * * 0",
            found=cron,
            next_step="Correct 'cron'.",
        )


def _is_field(field: str, bounds: tuple[int, int]) -> bool:
    found = [_PART.fullmatch(part) for part in field.split(",")]
    values = [int(value) for match in found if match for value in match.groups()[:2] if value]
    low, high = bounds
    return all(found) and all(low <= value <= high for value in values)
