"""Schedules that sweep again: whom they ask for and whom not, within which budget, and never two sweeps on one GPU."""

import dataclasses
import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.schedule_definition import ScheduleExecutionData

from pipeline.automation.rebenchmarks import schedule_of
from pipeline.automation.sweep_requests import ACTIVE
from pipeline.cell import GpuRun
from pipeline.definitions import build_defs, defs, outside
from pipeline.registry.cadences import Cadence
from pipeline.registry.entries import Concurrency
from pipeline.registry.hosts import parse_hosts
from pipeline.registry.measured import Limits, Load, Topology
from pipeline.registry.shipped import measured_recipes, shipped_cadences, shipped_registry
from pipeline.tables.runs import RUNS
from resources.clock import Clock
from resources.result_store import RAW

TODAY = dt.date(2026, 11, 2)
NIGHTLY = Cadence(name="Every night", cron="15 0 * * *", gpus={"h100": 1, "h200": 2}, budget_gpu_hours=100.0)
RECIPE = measured_recipes()["cpu_vllm_fixed"].model_copy(
    update={
        "topologies": (Topology(tp=8),),
        "concurrency": Concurrency(start=1, end=8, factor=2),
        "load": Load(repeats=3, warmup_s=10, window_s=60, grace_s=30),
        "limits": Limits(max_concurrency=8, silence_s=600),
    }
)
"""Its bound is 8 GPUs × (600 s + 4 rungs × 300 s): 4 GPU hours."""
RECIPES = {f"{gpu}_short": RECIPE.model_copy(update={"gpu": gpu}) for gpu in ("h100", "h200", "b300")}


@dataclasses.dataclass
class World:
    """A home folder whose host has every GPU of the recipes, and its instance."""

    home: Path
    instance: dg.DagsterInstance
    definitions: dg.Definitions

    def tick(self, cadence: Cadence = NIGHTLY, slug: str = "nightly", due: dt.date = TODAY) -> ScheduleExecutionData:
        """What a tick asks for, as the daemon gets it."""
        here = outside(self.home)
        resources = {"bench": here.bench, "clock": Clock(fixed_day=TODAY.isoformat())}
        resources |= {"result_store": here.result_store, "sweep_store": here.sweep_store}
        at = dt.datetime.combine(due, dt.time(0, 15), dt.UTC)
        repository = self.definitions.get_repository_def()
        with dg.build_schedule_context(self.instance, at, resources, repository) as context:
            return schedule_of(slug, cadence).evaluate_tick(context)

    def gpus(self, cadence: Cadence = NIGHTLY) -> list[str]:
        return [request.partition_key.partition("|")[0] for request in self.tick(cadence).run_requests]

    def swept(self, gpu: str, wall_s: float = 3600.0, day: dt.date = TODAY, **changes: object) -> None:
        """A finished run in the sweep store and in raw results."""
        row = {"run_id": f"r-{day}", "recipe": f"{gpu}_short", "topology": "tp8", "model": "m", "gpu": gpu}
        row |= {"workload": "w", "engine": "vllm", "provenance": "measured", "engine_build": "vllm_cuda 0.33.0 abc"}
        row |= {"run_date": day, "stopped_below": "one_request", "stopped_above": "plateau", "n_points": 4}
        row |= {"wall_s": wall_s} | changes
        here = outside(self.home)
        here.sweep_store.put_run(GpuRun(gpu, day), str(row["run_id"]), row)
        here.result_store.write(RAW, GpuRun(gpu, day), RUNS, RUNS.from_rows([row]))


@pytest.fixture
def world(tmp_path, monkeypatch) -> Iterator[World]:
    monkeypatch.setattr("pipeline.automation.rebenchmarks.measured_recipes", lambda: RECIPES)
    monkeypatch.setattr("resources.host_probe.HostProbe.present", lambda _: ["cpu", "h100", "h200", "b300", "mi300x"])
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield World(tmp_path / "home", instance, build_defs(tmp_path / "home"))


def test_every_cadence_is_a_schedule_in_utc_that_is_off_until_somebody_switches_it_on():
    found = {s.name: s for s in defs.schedules if s.job_name == "run_sweep"}
    assert found.keys() == {f"{slug}_sweeps" for slug in shipped_cadences()}
    assert {s.default_status for s in found.values()} == {dg.DefaultScheduleStatus.STOPPED}
    assert {s.execution_timezone for s in found.values()} == {"UTC"}
    assert found["weekly_sweeps"].cron_schedule == shipped_cadences()["weekly"].cron


def test_a_tick_asks_for_one_sweep_of_every_gpu_of_today_the_higher_priority_first(world):
    requests = world.tick().run_requests
    assert [r.partition_key for r in requests] == ["h200|2026-11-02", "h100|2026-11-02"]
    assert [r.run_key for r in requests] == ["nightly h200|2026-11-02", "nightly h100|2026-11-02"]
    assert [r.tags["dagster/priority"] for r in requests] == ["2", "1"]
    assert [r.tags["dagster/partition/gpu"] for r in requests] == ["h200", "h100"]
    assert {r.tags["frontier/why"] for r in requests} == {"cadence nightly"}


def test_what_is_asked_for_is_what_the_job_takes(world):
    some = NIGHTLY.model_copy(update={"recipes": ("h100_short", "h200_short"), "kind": "measured"})
    job = world.definitions.resolve_job_def("run_sweep")
    for request in world.tick(some).run_requests:
        gpu = request.partition_key.partition("|")[0]
        asked = {"kind": "measured", "recipes": [f"{gpu}_short"]}
        assert request.run_config == {"ops": {"sweep": {"config": asked}}}
        dg.validate_run_config(job, request.run_config)
        assert request.partition_key in job.partitions_def.get_partition_keys()


def test_the_budget_goes_to_the_higher_priority_and_the_skip_says_what_the_other_takes(world):
    # never swept: 8 GPUs × 1800 s each
    assert world.gpus(NIGHTLY.model_copy(update={"budget_gpu_hours": 7.0})) == ["h200"]
    none = world.tick(NIGHTLY.model_copy(update={"budget_gpu_hours": 3.0}))
    assert none.run_requests == []
    takes = "is left out: it takes about 4.0 GPU hours (never swept: the bound of its recipes), and 3.0 of 3 are left."
    assert none.skip_message == f"h200 {takes} h100 {takes}"


def test_a_sweep_is_expected_to_take_what_the_last_ones_took(world):
    for day in (30, 31):
        world.swept("h200", wall_s=4500.0, day=dt.date(2026, 10, day))  # 8 GPUs × 1.25 h
    budget = NIGHTLY.model_copy(update={"budget_gpu_hours": 9.0})
    assert world.gpus(budget) == ["h100"]
    assert world.gpus(budget.model_copy(update={"budget_gpu_hours": 10.0})) == ["h200"]


def test_a_damaged_file_of_an_old_sweep_keeps_nobody_from_measuring(world):
    world.swept("h200", wall_s=36000.0, day=dt.date(2026, 10, 31))
    (path,) = outside(world.home).result_store.paths(RAW, "h200", RUNS)
    path.write_bytes(b"PAR1")
    assert world.gpus(NIGHTLY.model_copy(update={"budget_gpu_hours": 4.0})) == ["h200"]


@pytest.mark.parametrize("status", ["NOT_STARTED", "STARTING", "STARTED", "CANCELING"])
def test_a_gpu_in_use_is_not_asked_for(world, status):
    tags = {"dagster/partition/gpu": "h200"}
    world.instance.add_run(dg.DagsterRun(job_name="run_sweep", status=dg.DagsterRunStatus[status], tags=tags))
    assert world.gpus() == ["h100"]
    both = NIGHTLY.model_copy(update={"gpus": {"h200": 1}})
    assert world.tick(both).skip_message == "h200 is in use."


def test_two_cadences_of_one_day_never_start_two_sweeps_on_one_gpu(world):
    (first,) = world.tick(NIGHTLY.model_copy(update={"gpus": {"h100": 1}})).run_requests
    assert dg.DagsterRunStatus.QUEUED in ACTIVE
    run = dg.DagsterRun(job_name="run_sweep", status=dg.DagsterRunStatus.NOT_STARTED, tags=dict(first.tags))
    world.instance.add_run(run)
    assert world.tick(slug="weekly").run_requests[0].partition_key == "h200|2026-11-02"
    world.swept("h100")
    world.instance.delete_run(run.run_id)
    assert world.gpus() == ["h200"]


def test_a_retired_gpu_and_one_without_a_recipe_are_never_asked_for(world, monkeypatch):
    registry = shipped_registry()
    gpus = registry.gpus | {"h100": registry.gpus["h100"].model_copy(update={"retired": True})}
    retired = dataclasses.replace(registry, gpus=gpus)
    monkeypatch.setattr("pipeline.automation.rebenchmarks.shipped_registry", lambda: retired)
    some = NIGHTLY.model_copy(update={"gpus": {"h100": 1, "mi300x": 2}})
    assert world.tick(some).skip_message == "h100 is retired. mi300x has no recipe of this kind."


def test_what_was_swept_today_is_not_measured_again_because_a_build_or_a_recipe_changed(world, monkeypatch):
    world.swept("h200", engine_build="vllm_cuda 0.31.0 of an older checkout")
    changed = {slug: r.model_copy(update={"launch": ("--seed", "1")}) for slug, r in RECIPES.items()}
    monkeypatch.setattr("pipeline.automation.rebenchmarks.measured_recipes", lambda: changed)
    assert world.gpus() == ["h100"]


def test_a_sweep_that_was_interrupted_today_is_asked_for_again(world):
    world.swept("h200", stopped_above="unfinished", stopped_below="unfinished")
    assert world.gpus() == ["h200", "h100"]


def test_a_damaged_file_of_today_is_a_reason_and_the_other_gpus_are_swept(world):
    world.swept("h200")
    (path,) = (world.home / "store" / "sweeps").rglob("*.runs.parquet")
    path.write_bytes(b"PAR1")
    assert world.gpus() == ["h100"]
    one = NIGHTLY.model_copy(update={"gpus": {"h200": 1}})
    assert "not a readable Parquet file" in world.tick(one).skip_message


def test_an_occurrence_that_was_missed_yesterday_is_not_made_up_for(world):
    missed = world.tick(due=dt.date(2026, 11, 1))
    assert missed.skip_message == "This was due on 2026-11-01, and a sweep is of its own day."


def test_a_gpu_on_another_host_is_measured_there(world, monkeypatch):
    monkeypatch.setattr("resources.host_probe.HostProbe.present", lambda _: ["cpu"])
    hosts = parse_hosts('[rack]\nname = "Rack"\nkind = "celery"\nqueue = "rack_gpus"\n', "hosts.toml")
    monkeypatch.setattr("pipeline.automation.rebenchmarks.host_of", lambda gpu: ("rack", hosts["rack"]))
    small = NIGHTLY.model_copy(update={"budget_gpu_hours": 4.0})
    assert world.gpus(small) == ["h200"]  # a simulation would take nothing of the budget


def test_a_gpu_that_is_not_here_is_simulated_and_takes_nothing_of_the_budget(world, monkeypatch):
    monkeypatch.setattr("resources.host_probe.HostProbe.present", lambda _: ["cpu"])
    some = NIGHTLY.model_copy(update={"gpus": {"h100": 1}, "budget_gpu_hours": 0.001})
    (request,) = world.tick(some).run_requests
    assert request.run_config == {"ops": {"sweep": {"config": {"kind": "auto"}}}}
    for slug in ("h100_vllm_agentic_synthetic", "h100_vllm_fixed_8k1k"):
        world.swept("h100", recipe=slug, run_id=slug, provenance="simulated", wall_s=None)
    assert world.gpus(some) == ["h100"]
    for slug in ("h100_sglang_agentic_synthetic", "h100_sglang_fixed_8k1k"):
        world.swept("h100", recipe=slug, run_id=slug, provenance="simulated", wall_s=None)
    assert world.tick(some).skip_message == "h100 was swept today."
