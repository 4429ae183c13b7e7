"""What the next sweep of a GPU will take, and which sweeps fit a budget of GPU hours.

GPU hours are hours of the server × GPUs that it holds. Belongs here: the estimate from earlier runs, and the rule that
hands out the budget. Not here: reading those runs, and asking for a sweep (pipeline/automation/rebenchmarks.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.pages.formats import counted
from pipeline.registry.measured import MeasuredRecipe
from pipeline.sweep.measured_plan import spelled
from pipeline.sweep.plan import ladder
from pipeline.sweep.stop_rule import UNFINISHED

Row = Mapping[str, Any]

N_LAST = 3
"""Runs of one topology that an estimate is the median of."""


@dataclass(frozen=True)
class Estimate:
    """GPU hours of one sweep, and in words what they were estimated from."""

    gpu_hours: float
    basis: str


NOTHING_HELD = Estimate(0.0, "a simulation holds no GPU")


@dataclass(frozen=True)
class Asked:
    """One GPU that a cadence asks for."""

    gpu: str
    priority: int
    estimate: Estimate


@dataclass(frozen=True)
class Shares:
    """Who gets a share of the budget, in the order in which they start; and a reason for each of the others."""

    within: tuple[Asked, ...]
    left_out: tuple[str, ...]


def estimate(recipes: Mapping[str, MeasuredRecipe], runs: Iterable[Row]) -> Estimate:
    """GPU hours of a sweep of the recipes, summed over their topologies.

    Of a topology: the median wall_s of its last N_LAST finished rows of RUNS, × its GPUs; of one that has none, the
    bound of its recipe. No recipe: 0.
    """
    wall_s = _wall_s(runs)
    gpu_hours, n_never, n_all = 0.0, 0, 0
    for slug, recipe in recipes.items():
        for topology in recipe.topologies:
            took_s = wall_s.get((slug, spelled(topology)), [])[-N_LAST:]
            seconds = statistics.median(took_s) if took_s else bound_s(recipe)
            gpu_hours += seconds * topology.n_gpus / 3600
            n_never, n_all = n_never + (not took_s), n_all + 1
    return Estimate(gpu_hours, _basis(n_never, n_all))


def _wall_s(runs: Iterable[Row]) -> dict[tuple[str, str], list[float]]:
    """Seconds of every finished run, the latest last, by recipe and topology."""
    done = [row for row in runs if row["wall_s"] is not None and row["stopped_above"] != UNFINISHED.above]
    found: dict[tuple[str, str], list[float]] = {}
    for row in sorted(done, key=lambda row: (row["run_date"], str(row["started_at"]))):
        found.setdefault((row["recipe"], row["topology"]), []).append(row["wall_s"])
    return found


def _basis(n_never: int, n_all: int) -> str:
    if n_never == n_all:
        return "never swept: the bound of its recipes"
    if n_never:
        return f"its last sweeps, and the bound of {counted(n_never, 'deployment')} never swept"
    return "its last sweeps"


def bound_s(recipe: MeasuredRecipe) -> float:
    """Seconds that one topology may take by its recipe: a start as long as a silent one is waited for, and every rung
    from 1 to the highest concurrency that is allowed, in full.
    """
    highest = max(recipe.concurrency.end, recipe.limits.max_concurrency)
    n_rungs = len(ladder(1, highest, recipe.concurrency.factor))
    load = recipe.load
    return recipe.limits.silence_s + n_rungs * load.repeats * (load.warmup_s + load.window_s + load.grace_s)


def shares(asked: Iterable[Asked], budget_gpu_hours: float) -> Shares:
    """The budget handed out by priority, the higher first; of equals by slug. What does not fit is left out, and one
    after it that does fit is not.
    """
    within: list[Asked] = []
    left_out: list[str] = []
    left_gpu_hours = budget_gpu_hours
    for one in sorted(asked, key=lambda one: (-one.priority, one.gpu)):
        if one.estimate.gpu_hours <= left_gpu_hours:
            left_gpu_hours -= one.estimate.gpu_hours
            within.append(one)
        else:
            left_out.append(_left_out(one, left_gpu_hours, budget_gpu_hours))
    return Shares(tuple(within), tuple(left_out))


def _left_out(one: Asked, left_gpu_hours: float, budget_gpu_hours: float) -> str:
    takes = f"about {one.estimate.gpu_hours:.1f} GPU hours ({one.estimate.basis})"
    return f"{one.gpu} is left out: it takes {takes}, and {left_gpu_hours:.1f} of {budget_gpu_hours:g} are left."


def is_complete(planned: Mapping[str, Sequence[str]], runs: Iterable[Row]) -> bool:
    """Whether every planned recipe has a finished row among the RUNS rows of a cell, for each topology that is named.

    ``planned`` are topologies by recipe. What has its row is done for that run date, whatever code, build or recipe has
    changed since.
    """
    done: dict[str, set[str]] = {}
    for row in runs:
        if row["stopped_above"] != UNFINISHED.above:
            done.setdefault(row["recipe"], set()).add(row["topology"])
    return all(slug in done and set(topologies) <= done[slug] for slug, topologies in planned.items())


def planned_topologies(recipes: Mapping[str, MeasuredRecipe]) -> dict[str, list[str]]:
    """The topologies of measured recipes, by recipe."""
    return {slug: [spelled(topology) for topology in recipe.topologies] for slug, recipe in recipes.items()}
