"""Strict parsing of recipes.toml: every recipe names registry slugs and a deployment that can exist.

Belongs here: what makes a recipe refused. Not here: what it expands to (pipeline/sweep/plan.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.errors import RegistryError
from pipeline.registry.entries import Recipe
from pipeline.registry.loader import nearest, parse_entries
from pipeline.registry.registry import Registry


def parse_recipes(text: str, file: str, registry: Registry) -> dict[str, Recipe]:
    """One block a recipe, by slug. Raises RegistryError for an unknown slug, key or size."""
    recipes = parse_entries(text, Recipe, file)
    for slug, recipe in recipes.items():
        where = f"{file} [{slug}]"
        _refuse_unknown(recipe, where, registry)
        _refuse_impossible(recipe, where)
    return recipes


def _refuse_unknown(recipe: Recipe, where: str, registry: Registry) -> None:
    known: dict[str, Mapping[str, object]] = {
        "model": registry.models,
        "gpu": registry.gpus,
        "engine": registry.engines,
        "workload": registry.workloads,
    }
    for key, entries in known.items():
        slug = getattr(recipe, key)
        if slug not in entries:
            raise RegistryError(f"unknown {key} {slug!r}", where=where, next_step=nearest(slug, entries))


def _refuse_impossible(recipe: Recipe, where: str) -> None:
    if recipe.concurrency.end < recipe.concurrency.start:
        raise RegistryError(
            "the concurrency ladder ends before it starts",
            where=where,
            expected=f"end of at least {recipe.concurrency.start}",
            found=str(recipe.concurrency.end),
            next_step="Correct 'concurrency'.",
        )
    if recipe.tp % recipe.ep:
        raise RegistryError(
            "ep does not divide tp",
            where=where,
            expected=f"a divisor of {recipe.tp}",
            found=str(recipe.ep),
            next_step="Correct 'ep'.",
        )
