"""The measured half of a sweep: a plain function over the resources that it needs, one server a topology.

Belongs here: the order of things (device, server, rung after rung, files, picture). Not here: which rung is next
(pipeline/sweep/stop_rule.py), how one point is measured (measuring_point.py), and what becomes of it
(pipeline/sweep/measured.py).
"""

import functools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assets.measuring_point import Measuring, Prepared, measure_point, point_facts
from pipeline.cell import GpuRun
from pipeline.errors import BuildError, EngineError, FrontierError, LoadError, SweepFailedError
from pipeline.frontier.targets import TARGETS_TOK_S_USER
from pipeline.measure.device import ELSEWHERE, DeviceIdentity
from pipeline.registry.measured import MeasuredRecipe
from pipeline.registry.shipped import shipped_registry, shipped_renamed
from pipeline.sweep.broken_off import passed_over
from pipeline.sweep.launch_line import ServerPlan, server_plan, standing_plan
from pipeline.sweep.made_models import MadeModel, made_model
from pipeline.sweep.measured import run_row
from pipeline.sweep.measured_plan import LOAD_GENERATOR_BUILD, Made, PlannedRun, planned_runs
from pipeline.sweep.mendable import mendable
from pipeline.sweep.plan import Swept, ladder
from pipeline.sweep.stop_rule import UNFINISHED, Rung, Stopped, next_rung
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES
from resources.built import Built
from resources.device_lock import DeviceHold
from resources.made_model import refuse_missing_weights
from resources.standing_server import address_of

Told = Callable[[Sequence[Mapping[str, Any]]], None]
"""Told after every point: the POINTS rows of the cell so far."""


@dataclass
class _Tally:
    """How far the sweep is: points of this sitting, its start, and the names of what is of the plan."""

    n_now: int = 0
    started_s: float = field(default_factory=time.monotonic)
    names: list[str] = field(default_factory=list)

    def left(self, n_rungs: int) -> str:
        """Words about the time that the named rungs still take."""
        if not self.n_now or not n_rungs:
            return ""
        each_s = (time.monotonic() - self.started_s) / self.n_now
        return f", about {each_s * n_rungs / 60:.0f} min to the end of its ladder"


@dataclass(frozen=True)
class _Sitting:
    """What one call does on a run: the server's launch line, and rows of earlier sittings that do not count in it."""

    launch_line: Sequence[str]
    passed_over: frozenset[str]


@dataclass(frozen=True)
class _Ready:
    """A recipe whose builds are here and take its launch lines, with its runs.

    ``weights``: what the engine loads; ``model``: what is made for it before, None where it is there already.
    """

    slug: str
    recipe: MeasuredRecipe
    engine: Built
    client: Built
    model: MadeModel | None
    weights: str
    runs: tuple[PlannedRun, ...]


def measure(outside: Measuring, cell: GpuRun, recipes: Mapping[str, MeasuredRecipe], told: Told) -> Swept:
    """Every point that is not there yet. Raises DeviceError where the device is not free.

    A recipe whose server or client fails does not keep the others from being measured: SweepFailedError comes last.
    """
    tally = _Tally()
    failures: list[FrontierError] = []
    say = outside.progress.say
    with ExitStack() as stack:
        for former in shipped_renamed().former_gpus(cell.gpu):  # a sweep of before may still hold it, or its quarantine
            stack.enter_context(outside.bench.devices.hold(former, say))
        held = stack.enter_context(outside.bench.devices.hold(cell.gpu, say))
        for ready in _all_ready(outside, cell, recipes, failures):
            outside.bench.devices.refuse_quarantined(cell.gpu)
            try:
                _measure_recipe(outside, cell, ready, held, tally, told)
            except (BuildError, EngineError, LoadError) as error:
                say(f"{ready.slug}: failed; its reason is told at the end")
                failures.append(error)
    _refuse_failed(cell, failures)
    return Swept(tally.n_now, tuple(tally.names))


def _refuse_failed(cell: GpuRun, failures: Sequence[FrontierError]) -> None:
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise SweepFailedError(
            f"{len(failures)} of its recipes failed; every point that was finished is stored",
            where=f"sweep {cell.key}",
            found=f"{str(failures[0]).removesuffix('.')}{more}",
            next_step="Correct the cause and run the same command again: it goes on where it stopped.",
            kind=next((failure.kind for failure in failures if mendable(failure)), ""),
        )


def _all_ready(
    outside: Measuring, cell: GpuRun, recipes: Mapping[str, MeasuredRecipe], failures: list[FrontierError]
) -> list[_Ready]:
    """The recipes that can be measured, before anything is made, downloaded or measured for any of them.

    The others are said at once and added to the failures.
    """
    found = []
    for slug, recipe in recipes.items():
        try:
            found.append(_ready(outside, cell, slug, recipe))
        except (BuildError, EngineError, LoadError) as error:
            outside.progress.say(f"{slug}: is not measured. {error}")
            failures.append(error)
    return found


def _ready(outside: Measuring, cell: GpuRun, slug: str, recipe: MeasuredRecipe) -> _Ready:
    refuse_missing_weights(recipe.weights, slug)
    outside.bench.client.refuse_unreadable(recipe.load)
    engine, client = _built(outside, recipe.build), _built(outside, LOAD_GENERATOR_BUILD)
    model = made_model(recipe.weights, slug)
    weights = str(outside.bench.models.folder(model)) if model else recipe.weights
    made = Made(_name(engine), Path(weights).name if model else weights, client.fingerprint.build_hash)
    runs = planned_runs(slug, recipe, shipped_registry().workload(recipe.workload), made, cell)
    ready = _Ready(
        slug, recipe, engine, client, model, weights, tuple(run.repeated(outside.repetition) for run in runs)
    )
    _check_flags(outside, cell, ready)
    return ready


def _check_flags(outside: Measuring, cell: GpuRun, ready: _Ready) -> None:
    """Ask the build's parser about the servers that are still to be started. Raises BuildError."""
    stored = outside.sweep_store.read(cell, POINTS).to_pylist()
    wanted = [
        run
        for run in ready.runs
        if isinstance(_step(run, _without(run.rows_of(stored), passed_over(run.rows_of(stored)))), Rung)
    ]
    plans = {run.spelled: _server_plan(run, ready.engine, ready.weights) for run in wanted}
    lines = {spelled: plan.arguments for spelled, plan in plans.items() if plan.arguments}
    if lines:
        outside.bench.builder.check_launch_lines(
            outside.plan(ready.recipe.build), {f"recipe {ready.slug} {name}": line for name, line in lines.items()}
        )


def _measure_recipe(
    outside: Measuring, cell: GpuRun, ready: _Ready, held: DeviceHold, tally: _Tally, told: Told
) -> None:
    if ready.model:
        # The client's interpreter makes it, for every sweep has one: an image and a running server have none here.
        outside.bench.models.make(ready.model, ready.client.python, outside.progress.say)
    for run in ready.runs:
        device = _device(outside, cell, ready.engine)
        prepared = Prepared(run, cell, ready.engine, ready.client, ready.weights, device)
        _measure_run(outside, prepared, held, tally, told)
        tally.names += run.names_of(outside.sweep_store.read(cell, POINTS).to_pylist())


def _built(outside: Measuring, slug: str) -> Built:
    found = outside.bench.builder.find(outside.plan(slug))
    if found is None:
        raise BuildError("is not built here", where=slug, next_step=f"Run frontier build {slug}.")
    return found


def _name(built: Built) -> str:
    fingerprint = built.fingerprint
    return f"{fingerprint.build} {fingerprint.version} {fingerprint.build_hash}"


def _device(outside: Measuring, cell: GpuRun, engine: Built) -> DeviceIdentity:
    """The device, or ELSEWHERE: a server that runs already is on this host where its address is."""
    probe, server = outside.bench.probe, engine.build.server
    if server and not (cell.gpu in probe.present() and address_of(server, engine.fingerprint.build).is_here()):
        return ELSEWHERE
    return probe.identity(cell.gpu)


def _measure_run(outside: Measuring, prepared: Prepared, held: DeviceHold, tally: _Tally, told: Told) -> None:
    """Rung after rung; a server that ended in the middle is started again for what the rule still wants."""
    run = prepared.run
    plan = _server_plan(run, prepared.engine, prepared.weights)
    line = [word.replace(prepared.weights, run.recipe.weights) for word in plan.line]
    sitting = _Sitting(line, passed_over(_points(outside, prepared)))
    step = _next(outside, prepared, sitting)
    _put_run(outside, prepared, sitting, step, _wall_s(outside, prepared))
    while isinstance(step, Rung):
        since_s, before_s = time.monotonic(), _wall_s(outside, prepared)
        memory = functools.partial(outside.bench.probe.memory_used_gib, prepared.cell.gpu)
        with outside.bench.servers.running(prepared.engine, plan, held, outside.progress.say, memory) as server:
            while isinstance(step, Rung) and server.ended() is None:
                outside.progress.say(_announced(prepared, step, tally, _counted(outside, prepared, sitting)))
                point = measure_point(outside, prepared, server, step.concurrency)
                beside = {REPEATS: point.repeats, REQUESTS: point.requests, SAMPLES: point.samples}
                outside.sweep_store.put(prepared.cell, _point_name(run, point.point), point.point, beside)
                tally.n_now += 1
                step = _next(outside, prepared, sitting)
                _put_run(outside, prepared, sitting, step, before_s + time.monotonic() - since_s)
                outside.progress.say(_result(point.point))
                told(outside.sweep_store.read(prepared.cell, POINTS).to_pylist())


def _server_plan(run: PlannedRun, engine: Built, weights: str) -> ServerPlan:
    """The server that is started; or that of somebody else, which runs already and has no arguments from here."""
    facts = engine.fingerprint.server
    if facts:
        return standing_plan(run.recipe, run.topology, facts.said, facts.declared)
    return server_plan(run.recipe, run.topology, weights)


def _points(outside: Measuring, prepared: Prepared) -> list[Mapping[str, Any]]:
    return prepared.run.rows_of(outside.sweep_store.read(prepared.cell, POINTS).to_pylist())


def _point_name(run: PlannedRun, row: Mapping[str, Any]) -> str:
    return run.point_name(row["concurrency"], row["attempt"])


def _counted(outside: Measuring, prepared: Prepared, sitting: _Sitting) -> list[Mapping[str, Any]]:
    return _without(_points(outside, prepared), sitting.passed_over)


def _without(rows: Sequence[Mapping[str, Any]], passed: Collection[str]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["point_id"] not in passed]


def _next(outside: Measuring, prepared: Prepared, sitting: _Sitting) -> Rung | Stopped:
    return _step(prepared.run, _counted(outside, prepared, sitting))


def _step(run: PlannedRun, counted: Sequence[Mapping[str, Any]]) -> Rung | Stopped:
    """What is next on a run by its POINTS rows that count."""
    return next_rung(counted, run.recipe.concurrency, run.recipe.limits, TARGETS_TOK_S_USER)


def _wall_s(outside: Measuring, prepared: Prepared) -> float:
    """Seconds of earlier sittings."""
    runs = prepared.run.rows_of(outside.sweep_store.read(prepared.cell, RUNS).to_pylist())
    return float(sum(run["wall_s"] or 0 for run in runs))


def _put_run(outside: Measuring, prepared: Prepared, sitting: _Sitting, step: Rung | Stopped, wall_s: float) -> None:
    """Store what is known of the run, also before its first rung: a sweep may be killed after its last point."""
    stopped, points = step if isinstance(step, Stopped) else UNFINISHED, _points(outside, prepared)
    if not points:
        return
    facts = point_facts(outside, prepared, points[0]["concurrency"])
    row = run_row(facts, points, stopped, sitting.launch_line, wall_s)
    outside.sweep_store.put_run(prepared.cell, prepared.run.name, row)


def _announced(prepared: Prepared, step: Rung, tally: _Tally, done: Sequence[Mapping[str, Any]]) -> str:
    run, there = prepared.run, {row["concurrency"] for row in done}
    rungs = ladder(run.recipe.concurrency.start, run.recipe.concurrency.end, run.recipe.concurrency.factor)
    n_left = len(set(rungs) - there)
    of = f"point {len(there) + 1} of {len(there) + n_left}" if n_left else f"point {len(there) + 1}, beyond its ladder"
    return f"{run.slug} {run.spelled}: concurrency {step.concurrency}, {of}{tally.left(n_left)}"


def _result(point: Mapping[str, Any]) -> str:
    where = f"{point['source_file']}:"
    if not point["valid"]:
        return f"{where} invalid, {', '.join(point['reasons'])}"
    return (
        f"{where} {point['throughput_tok_s_gpu']:,.1f} tok/s/GPU at {point['interactivity_tok_s_user']:,.1f} tok/s/user"
    )
