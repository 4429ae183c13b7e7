"""sweep: the points of one GPU's recipes on one day, measured on the GPU's host and simulated where it has none."""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.evidence import column_schema, data_version, markdown_table
from assets.far_sweep import Sending, sweep_far
from assets.measured_sweep import measure
from assets.measuring_point import Measuring
from assets.simulated_sweep import Simulating, simulate
from pipeline.automation.sweep_requests import RETRIES_TAG
from pipeline.builds.plan import Plan
from pipeline.cell import GpuRun, parse_cell
from pipeline.errors import SweepRefusedError
from pipeline.hosts.order import SweepOrder
from pipeline.partitions import builds_of_sweeps, cell_partitions
from pipeline.registry.entries import SimulatedRecipe
from pipeline.registry.measured import MeasuredRecipe
from pipeline.registry.shipped import (
    measured_recipes,
    refuse_edited,
    shipped_builds,
    shipped_plan,
    shipped_registry,
    simulated_recipes,
)
from pipeline.sweep.choice import Kind, Way, chosen, measurable, way_of
from pipeline.sweep.mendable import WAIT_S, mendable
from pipeline.sweep.past_day import Asked, refuse_past
from pipeline.sweep.picture import picture_markdown
from pipeline.sweep.plan import Swept, plan
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.runs import RUNS
from resources.bench import Bench
from resources.clock import Clock
from resources.far_hosts import FarHosts
from resources.progress import Progress
from resources.release_index import ReleaseIndex
from resources.run_requests import asked_at
from resources.simulator import Simulator
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse

SHOWN = (
    *("provenance", "workload", "engine", "topology", "concurrency", "interactivity_tok_s_user"),
    *("throughput_tok_s_gpu", "throughput_std_tok_s_gpu", "valid"),
)


class SweepRequest(dg.Config):
    """What is swept, and whether a past day may be measured again: then every build is named under versions."""

    measure_again: bool = Field(default=False, description="measure although the run date is past")
    kind: Kind = Field(default="auto", description="auto: measured where the GPU's host has it, else simulated")
    recipes: list[str] = Field(default=[], description="slugs of the recipes to run; empty: all of the GPU")
    versions: dict[str, str] = Field(
        default={}, description="by build: a release to measure with instead of the registry's version"
    )
    repetition: int = Field(
        default=1, ge=1, le=99, description="2, 3, …: measure a further run of the day beside those that are there"
    )


@dg.asset(
    partitions_def=cell_partitions,
    deps=[dg.AssetDep("engine_builds", partition_mapping=builds_of_sweeps)],
    group_name="raw",
    kinds={"python", "parquet"},
    metadata=column_schema(POINTS, REPEATS, RUNS),
    description="Points of one GPU's recipes on one day, one file a point; a rerun goes on where the last one ended.",
)
def sweep(
    context: dg.AssetExecutionContext,
    config: SweepRequest,
    bench: Bench,
    far_hosts: FarHosts,
    release_index: ReleaseIndex,
    simulator: Simulator,
    sweep_store: SweepStore,
    warehouse: Warehouse,
    clock: Clock,
    progress: Progress,
) -> dg.MaterializeResult:
    """One row is one concurrency of one recipe. No backfill policy and no automation: nothing sweeps by accident."""
    cell = parse_cell(context.partition_key)
    refuse_edited()
    _refuse_retired(cell)
    choice = _choice(cell, config, far_hosts, bench)
    refuse_past(cell, clock.now(), _asked(context, config, choice))
    _refuse_unused(cell, config, choice.builds)
    _refuse_repetition(cell, config, choice.provenance)
    sweep_store.pull(cell)
    plans = _plans(release_index, config.versions)
    outside = _Outside(
        Sending(context, far_hosts, sweep_store, progress),
        Measuring(bench, sweep_store, warehouse, clock, progress, plans, config.repetition),
        Simulating(simulator, sweep_store, warehouse, progress),
    )
    with _retried(context):
        swept = _BY_WAY[choice.way](outside, cell, config, choice)
    n_stale = _drop_stale(sweep_store, cell, config, choice, swept)
    sweep_store.push(cell)
    counts: dict[str, Any] = {"n_points_measured_now": swept.n_now, "n_points_of_old_plans": n_stale}
    shown = {"kind": choice.provenance, **_shown(sweep_store.read(cell, POINTS))}
    return dg.MaterializeResult(metadata=counts | shown, data_version=data_version(sweep_store.hashes(cell)))


@dataclass(frozen=True)
class _Choice:
    """How a sweep is made, the host that it is sent to if it is, and its recipes: measured ones, or simulated ones."""

    way: Way
    host: str | None
    measured: Mapping[str, MeasuredRecipe]
    simulated: Mapping[str, SimulatedRecipe]

    @property
    def provenance(self) -> str:
        return "simulated" if self.way == "simulated" else "measured"

    @property
    def builds(self) -> dict[str, str]:
        """The registry's version of every engine build that it measures with; none of a simulation."""
        return {recipe.build: shipped_builds()[recipe.build].version for recipe in self.measured.values()}


def _choice(cell: GpuRun, config: SweepRequest, far_hosts: FarHosts, bench: Bench) -> _Choice:
    """Raises SweepRefusedError."""
    gpu, slugs = cell.gpu, config.recipes
    host = None if config.kind == "simulated" else far_hosts.elsewhere(gpu)
    here = [] if host else bench.probe.present()
    way = way_of(config.kind, gpu, host, here)
    if way == "simulated":
        return _Choice(way, host, {}, chosen(simulated_recipes(), gpu, slugs))
    known = measured_recipes()
    is_far = way == "elsewhere"  # what that host can measure, it says itself
    recipes = chosen(known, gpu, slugs) if is_far else measurable(known, gpu, slugs, here, _running_builds())
    return _Choice(way, host, recipes, {})


@dataclass(frozen=True)
class _Outside:
    """What each way of a sweep needs of the outside."""

    sending: Sending
    measuring: Measuring
    simulating: Simulating


def _send(outside: _Outside, cell: GpuRun, config: SweepRequest, choice: _Choice) -> Swept:
    releases = choice.builds | config.versions
    order = SweepOrder(str(choice.host), cell, tuple(config.recipes), releases, config.repetition)
    return sweep_far(outside.sending, order, functools.partial(_show_so_far, outside.sending.context))


def _measure(outside: _Outside, cell: GpuRun, config: SweepRequest, choice: _Choice) -> Swept:
    told = functools.partial(_show_so_far, outside.sending.context)
    return measure(outside.measuring, cell, choice.measured, told)


def _simulate(outside: _Outside, cell: GpuRun, config: SweepRequest, choice: _Choice) -> Swept:
    return simulate(outside.simulating, cell, plan(choice.simulated))


_BY_WAY: dict[Way, Callable[[_Outside, GpuRun, SweepRequest, _Choice], Swept]] = {
    "elsewhere": _send,
    "measured": _measure,
    "simulated": _simulate,
}


def _drop_stale(store: SweepStore, cell: GpuRun, config: SweepRequest, choice: _Choice, swept: Swept) -> int:
    """Remove simulated points that are not of the plan any more, if all of it was asked for; returns how many.

    What was measured is kept whatever the plan is today; what was simulated is only as good as its recipe.
    """
    is_whole_plan = choice.way == "simulated" and not config.recipes
    return store.keep_only(cell, choice.provenance, swept.names) if is_whole_plan else 0


def _asked(context: dg.AssetExecutionContext, config: SweepRequest, choice: _Choice) -> Asked:
    kind = () if config.kind == "auto" else (f"--kind {config.kind}",)
    options = (*kind, *(f"--recipe {recipe}" for recipe in config.recipes))
    at = asked_at(context.instance, context.run)
    return Asked(config.measure_again, config.versions, choice.builds, options, at)


@contextmanager
def _retried(context: dg.AssetExecutionContext) -> Iterator[None]:
    """Ask for the same step again after a failure that this can mend, as often as the run's tag allows; none: never."""
    n_retries = int(context.run.tags.get(RETRIES_TAG, "0"))
    try:
        yield
    except Exception as error:
        if context.retry_number >= n_retries or not mendable(error):
            raise
        context.log.warning(f"{error} Trying again in {WAIT_S:.0f} s.")
        raise dg.RetryRequested(max_retries=n_retries, seconds_to_wait=WAIT_S) from error


def _running_builds() -> set[str]:
    """Builds that are servers which run already."""
    return {slug for slug, build in shipped_builds().items() if build.server}


def _plans(release_index: ReleaseIndex, versions: Mapping[str, str]) -> Callable[[str], Plan]:
    """The plan of a build by slug, at the version that is asked for."""
    return lambda slug: release_index.plan(shipped_plan(slug), versions.get(slug, ""))


def _refuse_unused(cell: GpuRun, config: SweepRequest, builds: Collection[str]) -> None:
    """A version of a build that nothing is measured with would say that it was."""
    for slug in config.versions:
        if slug not in builds:
            raise SweepRefusedError(
                f"nothing is measured with {slug}",
                where=f"sweep {cell.key}",
                expected=f"builds among {', '.join(sorted(builds)) or 'none: this sweep is simulated'}",
                next_step="Correct versions.",
            )


def _refuse_repetition(cell: GpuRun, config: SweepRequest, provenance: str) -> None:
    """A simulation gives the same numbers each time."""
    if provenance == "simulated" and config.repetition > 1:
        raise SweepRefusedError(
            "a simulated sweep has no repetition: it would give the same numbers",
            where=f"sweep {cell.key}",
            expected="repetition 1",
            found=str(config.repetition),
            next_step="Leave repetition out.",
        )


def _refuse_retired(cell: GpuRun) -> None:
    if cell.gpu not in shipped_registry().swept_gpus:
        raise SweepRefusedError(
            "the GPU is retired: its pages stay, and nothing is swept on it",
            where=f"sweep {cell.key}",
            next_step="Sweep another one, or remove retired from its block of gpus.toml.",
        )


def _show_so_far(context: dg.AssetExecutionContext, points: Sequence[Mapping[str, Any]]) -> None:
    """An observation with the picture of the frontier: what the UI shows while the sweep goes on."""
    metadata: dict[str, Any] = {
        "n_points": len(points),
        "frontier_so_far": dg.MetadataValue.md(picture_markdown(points)),
    }
    context.log_event(
        dg.AssetObservation(asset_key=context.asset_key, partition=context.partition_key, metadata=metadata)
    )


def _shown(points: pa.Table) -> dict[str, Any]:
    rows = points.to_pylist()
    shown = {"points": markdown_table(points.select(SHOWN).to_pylist())}
    shown["frontier"] = dg.MetadataValue.md(picture_markdown(rows))
    n_invalid = sum(not row["valid"] for row in rows)
    return {"n_points": len(rows), "n_invalid_points": n_invalid, **shown}
