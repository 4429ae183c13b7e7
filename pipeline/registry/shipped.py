"""The registry files that ship beside the code, loaded once. The only place of the domain that reads them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

from pipeline.builds.plan import Plan
from pipeline.registry.builds import Build
from pipeline.registry.entries import Engine, Gpu, Model, Price, Recipe, Tier, Workload
from pipeline.registry.loader import parse_entries, parse_prices
from pipeline.registry.recipes import parse_recipes
from pipeline.registry.registry import Registry, require


def shipped_text(file: str) -> str:
    """The text of one file of this package."""
    return resources.files("pipeline.registry").joinpath(file).read_text(encoding="utf-8")


@functools.cache
def shipped_registry() -> Registry:
    """The registry of this checkout. Raises RegistryError."""
    return Registry(
        gpus=parse_entries(shipped_text("gpus.toml"), Gpu, "gpus.toml"),
        models=parse_entries(shipped_text("models.toml"), Model, "models.toml"),
        engines=parse_entries(shipped_text("engines.toml"), Engine, "engines.toml"),
        workloads=parse_entries(shipped_text("workloads.toml"), Workload, "workloads.toml"),
        tiers=parse_entries(shipped_text("tiers.toml"), Tier, "tiers.toml"),
    )


@functools.cache
def shipped_recipes() -> Mapping[str, Recipe]:
    """The recipes of this checkout, by slug. Raises RegistryError."""
    return parse_recipes(shipped_text("recipes.toml"), "recipes.toml", shipped_registry())


@functools.cache
def shipped_prices() -> tuple[Price, ...]:
    """The price book of this checkout. Raises PriceError."""
    registry = shipped_registry()
    return parse_prices(shipped_text("prices.csv"), "prices.csv", gpus=registry.gpus, tiers=registry.tiers)


@functools.cache
def shipped_builds() -> dict[str, Build]:
    """The engine builds of this checkout by slug. Raises RegistryError, also for an unknown engine."""
    builds = parse_entries(shipped_text("builds.toml"), Build, "builds.toml")
    for slug, build in builds.items():
        if build.role == "engine":
            require(shipped_registry().engines, build.engine, kind="engine", where=f"builds.toml [{slug}]")
    return builds


def shipped_plan(slug: str) -> Plan:
    """One build with its lock files. Raises RegistryError for an unknown one."""
    builds = shipped_builds()
    found = require(builds, slug, kind="build", where="builds.toml")
    build = builds[found]
    return Plan(found, build, {lock: shipped_text(f"locks/{lock}") for lock in build.environment.locks})
