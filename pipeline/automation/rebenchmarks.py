"""The schedules that sweep GPUs again, one a cadence of the registry. All are off until somebody switches them on.

Belongs here: what one tick asks for, and why the rest waits. Not here: when and which GPUs (registry/cadences.toml),
what fits the budget (sweep/budget.py), and the request itself (sweep_requests.py).
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import dagster as dg

from pipeline.automation import RUN_SWEEP, jobs_named
from pipeline.automation.sweep_requests import gpus_in_use, sweep_request
from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.registry.cadences import Cadence
from pipeline.registry.hosts import LocalHost
from pipeline.registry.measured import MeasuredRecipe
from pipeline.registry.shipped import host_of, measured_recipes, shipped_cadences, shipped_registry, simulated_recipes
from pipeline.sweep.budget import (
    NOTHING_HELD,
    Asked,
    Estimate,
    estimate,
    is_complete,
    planned_topologies,
    shares,
)
from pipeline.sweep.choice import is_measured
from pipeline.tables.runs import RUNS
from resources.bench import Bench
from resources.clock import Clock
from resources.result_store import RAW, ResultStore
from resources.sweep_store import SweepStore

N_DAYS = 10
"""Run dates of a GPU that an estimate looks back on."""


def rebenchmarks() -> list[dg.ScheduleDefinition]:
    """One schedule a cadence."""
    return [schedule_of(slug, cadence) for slug, cadence in shipped_cadences().items()]


def schedule_of(slug: str, cadence: Cadence) -> dg.ScheduleDefinition:
    """The schedule of one cadence, off."""

    @dg.schedule(
        name=f"{slug}_sweeps",
        job=jobs_named(RUN_SWEEP)[0],
        cron_schedule=cadence.cron,
        execution_timezone="UTC",
        description=f"{cadence.name}: sweeps {', '.join(cadence.gpus)} again, within "
        f"{cadence.budget_gpu_hours:g} GPU hours. Off until it is switched on.",
    )
    def asked(
        context: dg.ScheduleEvaluationContext,
        bench: Bench,
        clock: Clock,
        result_store: ResultStore,
        sweep_store: SweepStore,
    ) -> list[dg.RunRequest] | dg.SkipReason:
        tick = Tick(
            slug=slug,
            cadence=cadence,
            today=clock.today(),
            here=frozenset(bench.probe.present()) | _on_other_hosts(cadence.gpus),
            in_use=frozenset(gpus_in_use(context.instance)),
            result_store=result_store,
            sweep_store=sweep_store,
        )
        due = context.scheduled_execution_time.date()
        if due < tick.today:
            return dg.SkipReason(f"This was due on {due}, and a sweep is of its own day.")
        return _told(tick.requests(), tick.reasons, context.log.info)

    return asked


def _on_other_hosts(gpus: Iterable[str]) -> frozenset[str]:
    """Those that are measured although this host has none: their runs or their sweeps are sent to a host that has."""
    return frozenset(gpu for gpu in gpus if not isinstance(host_of(gpu)[1], LocalHost))


def _told(
    requests: list[dg.RunRequest], reasons: Iterable[str], say: Callable[[str], None]
) -> list[dg.RunRequest] | dg.SkipReason:
    """The requests, and the reasons in the tick's log; where nothing is asked for they are its skip message."""
    if not requests:
        return dg.SkipReason(" ".join(reasons))
    for reason in reasons:
        say(reason)
    return requests


@dataclass(frozen=True)
class Tick:
    """One occurrence of a cadence. ``here`` can be measured, ``reasons`` fills with why a GPU is not asked for."""

    slug: str
    cadence: Cadence
    today: dt.date
    here: frozenset[str]
    in_use: frozenset[str]
    result_store: ResultStore
    sweep_store: SweepStore
    reasons: list[str] = field(default_factory=list)

    def requests(self) -> list[dg.RunRequest]:
        """One request for every GPU that is due and within the budget, in the order in which they are to start."""
        due = {gpu: wanted for gpu in self.cadence.gpus if (wanted := self._due(gpu))}
        asked = [Asked(gpu, self.cadence.gpus[gpu], self._estimate(gpu, wanted)) for gpu, wanted in due.items()]
        handed_out = shares(asked, self.cadence.budget_gpu_hours)
        self.reasons.extend(handed_out.left_out)
        return [self._request(one, due[one.gpu]) for one in handed_out.within]

    def _due(self, gpu: str) -> "_Wanted | None":
        wanted = self._wanted(gpu)
        reason = self._why_not(gpu, wanted)
        if reason:
            self.reasons.append(reason)
        return None if reason else wanted

    def _why_not(self, gpu: str, wanted: "_Wanted") -> str | None:
        if shipped_registry().gpus[gpu].retired:
            return f"{gpu} is retired."
        if not wanted.planned:
            return f"{gpu} has no recipe of this kind."
        if gpu in self.in_use:
            return f"{gpu} is in use."
        try:
            runs = self.sweep_store.read(GpuRun(gpu, self.today), RUNS).to_pylist()
        except StoreError as error:
            return str(error)
        return f"{gpu} was swept today." if is_complete(wanted.planned, runs) else None

    def _wanted(self, gpu: str) -> "_Wanted":
        if is_measured(self.cadence.kind, gpu, self.here):
            recipes = measured_recipes().items()
            measured = {slug: recipe for slug, recipe in recipes if self._names(slug, recipe.gpu, gpu)}
            return _Wanted(measured, planned_topologies(measured))
        simulated = [slug for slug, recipe in simulated_recipes().items() if self._names(slug, recipe.gpu, gpu)]
        return _Wanted({}, {slug: [] for slug in simulated})

    def _names(self, slug: str, gpu_of_recipe: str, gpu: str) -> bool:
        return gpu_of_recipe == gpu and (not self.cadence.recipes or slug in self.cadence.recipes)

    def _estimate(self, gpu: str, wanted: "_Wanted") -> Estimate:
        if not wanted.measured:
            return NOTHING_HELD
        try:
            runs = self.result_store.newest(RAW, gpu, RUNS, N_DAYS).to_pylist()
        except StoreError as error:  # a damaged old file is no reason not to measure
            self.reasons.append(f"What the sweeps of {gpu} took cannot be read: {error}")
            runs = []
        return estimate(wanted.measured, runs)

    def _request(self, one: Asked, wanted: "_Wanted") -> dg.RunRequest:
        config: dict[str, object] = {"kind": self.cadence.kind}
        if self.cadence.recipes:
            config["recipes"] = list(wanted.planned)
        cell = GpuRun(one.gpu, self.today)
        return sweep_request(
            cell, run_key=f"{self.slug} {cell.key}", why=f"cadence {self.slug}", config=config, priority=one.priority
        )


@dataclass(frozen=True)
class _Wanted:
    """The recipes of one GPU: those that are measured, and the topologies of all by slug (none of simulated ones)."""

    measured: Mapping[str, MeasuredRecipe]
    planned: Mapping[str, list[str]]
