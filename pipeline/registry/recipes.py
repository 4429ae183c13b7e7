"""Strict parsing of recipes: every recipe names registry slugs and a deployment that can exist.

Belongs here: what makes a recipe refused. Not here: what it expands to (pipeline/sweep).
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.errors import RegistryError
from pipeline.registry.builds import Build
from pipeline.registry.entries import Concurrency, SimulatedRecipe
from pipeline.registry.loader import nearest, parse_entries
from pipeline.registry.measured import MeasuredRecipe
from pipeline.registry.registry import Registry
from pipeline.sweep.made_models import made_model

AGENTX_AT_LEAST_S = 900.0
"""A shorter replay of the AgentX corpus is not a valid AgentX run."""


def parse_simulated(text: str, file: str, registry: Registry) -> dict[str, SimulatedRecipe]:
    """One block a recipe, by slug. Raises RegistryError for an unknown slug, key or size."""
    recipes = parse_entries(text, SimulatedRecipe, file)
    for slug, recipe in recipes.items():
        where = f"{file} [{slug}]"
        _refuse_unknown(recipe, where, registry)
        _refuse_backwards(recipe.concurrency, where)
        _refuse_uneven(recipe.tp, recipe.ep, where)
    return recipes


def parse_measured(text: str, file: str, registry: Registry, builds: Mapping[str, Build]) -> dict[str, MeasuredRecipe]:
    """Recipes by slug: one a block, or one a GPU of a block with ``gpus``, whose slug the GPU then opens.

    Raises RegistryError, also for a build that is none or of another engine, and for weights that cannot be made.
    """
    recipes = parse_entries(text, MeasuredRecipe, file, _one_a_gpu)
    for slug, recipe in recipes.items():
        where = f"{file} [{slug}]"
        _refuse_unknown(recipe, where, registry)
        _refuse_backwards(recipe.concurrency, where)
        for topology in recipe.topologies:
            for sizes in (topology, topology.prefill or topology):
                _refuse_uneven(sizes.tp, sizes.ep, where)
        _refuse_build(recipe, where, builds)
        made_model(recipe.weights, where)
        _refuse_short_agentx(recipe, where)
    return recipes


def _one_a_gpu(blocks: Mapping[str, object]) -> dict[str, object]:
    expanded: dict[str, object] = {}
    for slug, body in blocks.items():
        if not isinstance(body, dict) or "gpus" not in body:
            expanded[slug] = body
            continue
        rest = {key: value for key, value in body.items() if key != "gpus"}
        expanded |= {f"{gpu}_{slug}": {**rest, "gpu": gpu} for gpu in body["gpus"]}
    return expanded


def _refuse_unknown(recipe: SimulatedRecipe | MeasuredRecipe, where: str, registry: Registry) -> None:
    known: dict[str, Mapping[str, object]] = {"model": registry.models, "gpu": registry.gpus}
    known["engine"] = registry.engines
    for key, entries in known.items():
        slug = getattr(recipe, key)
        if slug not in entries:
            raise RegistryError(f"unknown {key} {slug!r}", where=where, next_step=nearest(slug, entries))
    try:
        registry.workload(recipe.workload)
    except RegistryError as error:
        raise RegistryError(error.what, where=where, next_step=error.next_step) from None


def _refuse_backwards(concurrency: Concurrency, where: str) -> None:
    if concurrency.end < concurrency.start:
        raise RegistryError(
            "the concurrency ladder ends before it starts",
            where=where,
            expected=f"end of at least {concurrency.start}",
            found=str(concurrency.end),
            next_step="Correct 'concurrency'.",
        )


def _refuse_uneven(tp: int, ep: int, where: str) -> None:
    if tp % ep:
        raise RegistryError(
            "ep does not divide tp",
            where=where,
            expected=f"a divisor of {tp}",
            found=str(ep),
            next_step="Correct 'ep'.",
        )


def _refuse_build(recipe: MeasuredRecipe, where: str, builds: Mapping[str, Build]) -> None:
    build = builds.get(recipe.build)
    if build is None:
        raise RegistryError(f"unknown build {recipe.build!r}", where=where, next_step=nearest(recipe.build, builds))
    if build.role != "engine" or build.engine != recipe.engine:
        raise RegistryError(
            f"build {recipe.build} is of another engine",
            where=where,
            expected=recipe.engine,
            found=build.engine,
            next_step="Correct 'build'.",
        )
    if build.server:
        _refuse_orders(recipe, where)
    elif any(topology.prefill for topology in recipe.topologies):
        raise RegistryError(
            "workers that only prefill are not started here",
            where=where,
            expected=f"a build that is a running server, for {recipe.build} is an {build.kind}",
            next_step="Remove 'prefill', or name the build of such a server.",
        )


def _refuse_orders(recipe: MeasuredRecipe, where: str) -> None:
    """A server that runs already is as it is: what a recipe orders of it would be published and not be so."""
    orders = {
        "topologies beyond one": recipe.topologies[1:],
        "launch": recipe.launch or [argument for topology in recipe.topologies for argument in topology.launch],
        "variables": recipe.variables,
    }
    for name, ordered in orders.items():
        if ordered:
            raise RegistryError(
                f"build {recipe.build} runs already, and {name} cannot be ordered of it",
                where=where,
                next_step="Remove them: the one topology says what it is, and it says its arguments itself.",
            )


def _refuse_short_agentx(recipe: MeasuredRecipe, where: str) -> None:
    if recipe.load.scenario == "agentx" and recipe.load.window_s < AGENTX_AT_LEAST_S:
        raise RegistryError(
            "an AgentX run is too short to be valid",
            where=where,
            expected=f"window_s of at least {AGENTX_AT_LEAST_S:g}",
            found=f"{recipe.load.window_s:g}",
            next_step="Correct 'load'.",
        )
