"""What a sweep will measure: recipes to points, each with a fingerprint of everything that its numbers depend on.

Belongs here: the ladder and the identity of a planned point. Not here: the load itself (traces.py), and what comes
out of a point (simulated.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.registry.entries import SimulatedRecipe
from pipeline.sweep.fingerprint import fingerprint
from pipeline.sweep.traces import TRACE_VERSION

SIMULATOR_PINS: Mapping[str, str] = {"ai-dynamo": "1.4.2", "aiconfigurator": "0.12.0"}
"""The versions that the numbers come from; another one is refused."""

SIMULATOR_BUILD = "simulator"
"""The engine build (registry/builds.toml) whose interpreter runs the simulator."""

MODEL_VERSION = 1
"""Goes up when this project asks the simulator something else for the same recipe (grid, scheduler arguments)."""


@dataclass(frozen=True)
class PlannedPoint:
    """One concurrency of one recipe. ``run_id`` is the same for every point of the recipe: one curve is one run."""

    slug: str
    recipe: SimulatedRecipe
    concurrency: int
    run_id: str
    fingerprint: str


@dataclass(frozen=True)
class Swept:
    """What a sweep did: points made now, and the names (fingerprints, runs) of all that is of its plan."""

    n_now: int
    names: tuple[str, ...]


def ladder(start: int, end: int, factor: float) -> tuple[int, ...]:
    """Concurrencies from start to end: each the last × factor, rounded, at least one more. The end is always in."""
    rungs = []
    rung = start
    while rung < end:
        rungs.append(rung)
        rung = max(rung + 1, math.floor(rung * factor + 0.5))
    return (*rungs, end)


def plan(recipes: Mapping[str, SimulatedRecipe]) -> tuple[PlannedPoint, ...]:
    """Every point of the recipes, in the order of the file and of the ladder."""
    return tuple(point for slug, recipe in recipes.items() for point in _points_of(slug, recipe))


def engine_build(recipe: SimulatedRecipe) -> str:
    """What stands for the engine of a simulated point: the tables and both simulators, with versions."""
    simulators = ", ".join(f"{name} {version}" for name, version in SIMULATOR_PINS.items())
    return f"simulated on tables of {recipe.tables.version} ({simulators})"


def _points_of(slug: str, recipe: SimulatedRecipe) -> Iterable[PlannedPoint]:
    depends_on = {
        "recipe": recipe.model_dump(exclude={"name", "aliases", "concurrency"}),
        "simulator": dict(SIMULATOR_PINS),
        "model_version": MODEL_VERSION,
        "trace_version": TRACE_VERSION,
    }
    rungs = ladder(recipe.concurrency.start, recipe.concurrency.end, recipe.concurrency.factor)
    run_id = f"simulated-{fingerprint({**depends_on, 'ladder': rungs})}"
    for rung in rungs:
        identity = {**depends_on, "run_id": run_id, "concurrency": rung}
        yield PlannedPoint(slug, recipe, rung, run_id, fingerprint(identity))
