"""How a sweep of one GPU is made, and its recipes: measured where the GPU is, simulated where it is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeVar

from pipeline.errors import SweepRefusedError
from pipeline.registry.entries import SimulatedRecipe
from pipeline.registry.loader import nearest
from pipeline.registry.measured import MeasuredRecipe

Kind = Literal["auto", "measured", "simulated"]
Way = Literal["elsewhere", "measured", "simulated"]
R = TypeVar("R", SimulatedRecipe, MeasuredRecipe)


def way_of(kind: Kind, gpu: str, host: str | None, here: Collection[str]) -> Way:
    """How a sweep is made: measured by another host that has the GPU, measured here, or simulated here.

    ``host`` is that other one, None where there is none; ``here`` are the GPUs of this one.
    """
    if kind == "simulated":
        return "simulated"
    if host is not None:
        return "elsewhere"
    return "measured" if is_measured(kind, gpu, here) else "simulated"


def is_measured(kind: Kind, gpu: str, here: Collection[str]) -> bool:
    """Whether a sweep of the GPU measures. ``here`` are the GPUs of this host.

    Left to itself, a sweep simulates a GPU that is not here, also where a server of it runs elsewhere.
    """
    return kind == "measured" or (kind == "auto" and gpu in here)


def measurable(
    recipes: Mapping[str, MeasuredRecipe],
    gpu: str,
    slugs: Sequence[str],
    here: Collection[str],
    running: Collection[str],
) -> dict[str, MeasuredRecipe]:
    """The chosen recipes that can be measured from this host. Raises SweepRefusedError for none, and for a named one.

    Their GPU is one of those here, or their build is one of the ``running`` servers, wherever its GPU is.
    """
    able = {slug: recipe for slug, recipe in recipes.items() if gpu in here or recipe.build in running}
    is_any = gpu in here or any(recipe.gpu == gpu for recipe in able.values())
    if not is_any or any(slug in recipes and slug not in able for slug in slugs):
        raise SweepRefusedError(
            "this host has no such device, so no server can be started on it here",
            where=f"sweep of {gpu}",
            expected=f"one of {', '.join(sorted(here))}, or a recipe whose build is a running server",
            next_step="Run the sweep on a host that has it, or simulate it.",
        )
    return chosen(able, gpu, slugs)


def chosen(recipes: Mapping[str, R], gpu: str, slugs: Sequence[str]) -> dict[str, R]:
    """The GPU's recipes, or those of them that are named. Raises SweepRefusedError for none and for an unknown one."""
    known = {slug: recipe for slug, recipe in recipes.items() if recipe.gpu == gpu}
    if not known:
        raise SweepRefusedError(
            "no recipe",
            where=f"sweep of {gpu}",
            expected=f"one of {', '.join(sorted({recipe.gpu for recipe in recipes.values()}))}",
            next_step="Add a block to a recipes file of pipeline/registry.",
        )
    for slug in slugs:
        if slug not in known:
            raise SweepRefusedError(f"unknown recipe {slug!r}", where=f"sweep of {gpu}", next_step=nearest(slug, known))
    return {slug: recipe for slug, recipe in known.items() if not slugs or slug in slugs}
