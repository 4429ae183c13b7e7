"""The registry files that ship beside the code, loaded once. The only place of the domain that reads them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from importlib import resources

from pipeline.builds.plan import Plan
from pipeline.errors import RegistryError
from pipeline.registry.builds import Build
from pipeline.registry.cadences import Cadence, parse_cadences
from pipeline.registry.entries import Engine, Gpu, Model, Price, SimulatedRecipe, Tier, Workload
from pipeline.registry.hosts import Host, parse_hosts, refuse_unknown_hosts
from pipeline.registry.loader import parse_entries
from pipeline.registry.measured import MeasuredRecipe
from pipeline.registry.price_rows import parse_prices
from pipeline.registry.recipes import parse_measured, parse_simulated
from pipeline.registry.registry import Registry, require
from pipeline.registry.renamed import FILE as RENAMED_FILE
from pipeline.registry.renamed import Renamed, parse_renamed

FILES = (
    *("gpus.toml", "models.toml", "engines.toml", "workloads.toml", "tiers.toml", "builds.toml", RENAMED_FILE),
    *("hosts.toml", "cadences.toml", "recipes_measured.toml", "recipes_simulated.toml"),
)
"""What a process reads once. The price book is read each time."""


def shipped_text(file: str) -> str:
    """The text of one file of this package."""
    return resources.files("pipeline.registry").joinpath(file).read_text(encoding="utf-8")


@functools.cache
def shipped_registry() -> Registry:
    """The registry of this checkout. Raises RegistryError."""
    gpus = parse_entries(shipped_text("gpus.toml"), Gpu, "gpus.toml")
    refuse_unknown_hosts(gpus, shipped_hosts(), "gpus.toml")
    registry = Registry(
        gpus=gpus,
        models=parse_entries(shipped_text("models.toml"), Model, "models.toml"),
        engines=parse_entries(shipped_text("engines.toml"), Engine, "engines.toml"),
        workloads=parse_entries(shipped_text("workloads.toml"), Workload, "workloads.toml"),
        tiers=parse_entries(shipped_text("tiers.toml"), Tier, "tiers.toml"),
    )
    return dataclasses.replace(registry, renamed_gpus=parse_renamed(shipped_text(RENAMED_FILE), registry).gpus)


@functools.cache
def shipped_hosts() -> Mapping[str, Host]:
    """The hosts of this checkout, by slug. Raises RegistryError."""
    return parse_hosts(shipped_text("hosts.toml"), "hosts.toml")


def host_of(gpu: str) -> tuple[str, Host]:
    """Slug and block of the host where a GPU's sweeps run. ``gpu`` is a slug of the registry."""
    slug = shipped_registry().gpus[gpu].host
    return slug, shipped_hosts()[slug]


@functools.cache
def shipped_renamed() -> Renamed:
    """The renamed slugs of this checkout. Raises RegistryError."""
    return parse_renamed(shipped_text(RENAMED_FILE), shipped_registry())


@functools.cache
def simulated_recipes() -> Mapping[str, SimulatedRecipe]:
    """The simulated recipes of this checkout, by slug. Raises RegistryError."""
    return parse_simulated(shipped_text("recipes_simulated.toml"), "recipes_simulated.toml", shipped_registry())


@functools.cache
def measured_recipes() -> Mapping[str, MeasuredRecipe]:
    """The measured recipes of this checkout, by slug. Raises RegistryError."""
    file = "recipes_measured.toml"
    return parse_measured(shipped_text(file), file, shipped_registry(), shipped_builds())


@functools.cache
def shipped_cadences() -> Mapping[str, Cadence]:
    """The cadences of this checkout, by slug. Raises RegistryError."""
    gpus: dict[str, set[str]] = {}
    measured = [(slug, recipe.gpu) for slug, recipe in measured_recipes().items()]
    for slug, gpu in [*measured, *((slug, recipe.gpu) for slug, recipe in simulated_recipes().items())]:
        gpus.setdefault(slug, set()).add(gpu)
    return parse_cadences(shipped_text("cadences.toml"), "cadences.toml", shipped_registry(), gpus)


@functools.cache
def shipped_prices() -> tuple[Price, ...]:
    """The price book of this checkout. Raises PriceError."""
    registry = shipped_registry()
    known = registry.gpus, registry.tiers, registry.renamed_gpus
    return parse_prices(shipped_text("prices.csv"), "prices.csv", gpus=known[0], tiers=known[1], renamed=known[2])


@functools.cache
def shipped_builds() -> dict[str, Build]:
    """The engine builds of this checkout by slug. Raises RegistryError, also for an unknown engine."""
    builds = parse_entries(shipped_text("builds.toml"), Build, "builds.toml")
    for slug, build in builds.items():
        if build.role == "engine":
            require(shipped_registry().engines, build.engine, kind="engine", where=f"builds.toml [{slug}]")
    return builds


def _texts_now() -> str:
    """Hash of the registry's files as they are on disk."""
    return hashlib.sha256("\0".join(shipped_text(file) for file in FILES).encode()).hexdigest()[:16]


REGISTRY_VERSION = _texts_now()
"""Hash of the files that this process read: it is of one version from its start to its end."""


def refuse_edited() -> None:
    """Refuse to go on where the files are no longer those that this process read. Raises RegistryError."""
    now = _texts_now()
    if now != REGISTRY_VERSION:
        raise RegistryError(
            "was edited since this process began, so half of what it makes would be of another version",
            where="pipeline/registry",
            expected=REGISTRY_VERSION,
            found=now,
            next_step="Run the same again; in the UI, reload the code location first.",
        )


def shipped_plan(slug: str) -> Plan:
    """One build with its lock files and its measured recipes. Raises RegistryError for an unknown one."""
    builds = shipped_builds()
    found = require(builds, slug, kind="build", where="builds.toml")
    build = builds[found]
    locks = {lock: shipped_text(f"locks/{lock}") for lock in build.locks}
    return Plan(found, build, locks, {name: r for name, r in measured_recipes().items() if r.build == found})
