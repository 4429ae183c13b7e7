"""New releases: asked for at most once a day and engine, built, then swept, and never two sweeps on one GPU."""

import dataclasses
import datetime as dt
import shutil
from pathlib import Path

import dagster as dg
import pytest

from pipeline.automation.release_sensor import followed, new_releases
from pipeline.builds.plan import Plan
from pipeline.definitions import build_defs, outside
from pipeline.errors import SweepRefusedError
from resources.clock import Clock
from resources.dagster_runs import Runs
from resources.engine_builder import EngineBuilder
from resources.release_index import ReleaseIndex
from tests.instances import passing_instance
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of


@dataclasses.dataclass
class World:
    """A folder of wheels that stands for the index, and the graph over it; vllm_cuda is the package tiny there."""

    folder: Path
    instance: dg.DagsterInstance
    plan: Plan
    made: Path
    day: str = "2026-11-01"
    gpus: tuple[str, ...] = ("cpu", "h100")
    wheels: str = "wheels"

    @property
    def resources(self) -> dict[str, object]:
        wheels = str(self.folder / self.wheels)
        return {
            "engine_builder": EngineBuilder(root_dir=str(self.folder / "builds"), wheels_dir=wheels),
            "release_index": ReleaseIndex(root_dir=str(self.folder / "candidates"), wheels_dir=wheels),
            "clock": Clock(fixed_day=self.day),
        }

    @property
    def looked_at(self) -> dict[str, object]:
        builder = self.resources["engine_builder"]
        bench = outside(self.folder / "home").bench.model_copy(update={"builder": builder})
        return {"bench": bench, "release_index": self.resources["release_index"], "clock": self.resources["clock"]}

    def release(self, version: str) -> None:
        make_wheel(self.folder / "wheels", version=version)

    def built(self, *versions: str) -> None:
        """What a build through the graph leaves, taken from one that was made before."""
        for version in versions:
            build_hash = (self.made / f"{version}.hash").read_text()
            shutil.copytree(self.made / "builds/vllm_cuda" / build_hash, self.folder / "builds/vllm_cuda" / build_hash)
            if version != self.plan.build.version:
                self.release(version)
                shutil.copytree(self.made / "candidates", self.folder / "candidates")

    def build(self, version: str = "") -> None:
        config = {"engine_builds": {"version": version}}
        definitions = build_defs(self.folder / "home", self.resources)
        Runs(definitions, self.instance).run("build_engine", partition="vllm_cuda", config=config)

    def look(self) -> dg.SensorResult | dg.SkipReason:
        with dg.build_sensor_context(instance=self.instance, resources=self.looked_at) as context:
            return new_releases(context)

    def reason(self) -> str:
        return self.look().skip_message

    def requests(self) -> list[dg.RunRequest]:
        return self.look().run_requests


def plan_in(wheels: Path) -> Plan:
    tiny = plan_of(lock_of(tiny=make_wheel(wheels)), releases="tiny")
    named = tiny.build.model_copy(update={"role": "engine", "engine": "vllm", "host": "cuda"})
    return Plan("vllm_cuda", named, tiny.lock_texts)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Versions 1.0, the registry's, and 2.0, a candidate, built once for all tests."""
    folder = tmp_path_factory.mktemp("made")
    plan = plan_in(folder / "wheels")
    make_wheel(folder / "wheels", version="2.0")
    index = ReleaseIndex(root_dir=str(folder / "candidates"), wheels_dir=str(folder / "wheels"))
    builder = EngineBuilder(root_dir=str(folder / "builds"), wheels_dir=str(folder / "wheels"))
    for version in ("1.0", "2.0"):
        built = builder.build(index.plan(plan, version), dt.datetime(2026, 11, 1, tzinfo=dt.UTC), lambda _: None)
        (folder / f"{version}.hash").write_text(built.folder.name)
    return folder


@pytest.fixture
def world(tmp_path, monkeypatch, made):
    plan = plan_in(tmp_path / "wheels")
    monkeypatch.setattr("pipeline.automation.release_sensor.followed", lambda: [plan])
    monkeypatch.setattr("assets.engine_builds.shipped_plan", lambda slug: plan)
    with passing_instance(tmp_path) as instance:
        world = World(tmp_path, instance, plan, made)
        monkeypatch.setattr("resources.host_probe.HostProbe.present", lambda _: list(world.gpus))
        yield world


def test_it_is_off_until_somebody_switches_it_on_and_follows_the_gpu_engines():
    assert new_releases.default_status == dg.DefaultSensorStatus.STOPPED
    assert [plan.slug for plan in followed()] == ["vllm_cuda", "sglang_cuda"]


def test_an_engine_that_is_not_built_here_asks_for_nothing(world):
    world.release("2.0")
    assert world.reason() == "vllm_cuda is not built here."


def test_the_newest_build_asks_for_nothing(world):
    world.built("1.0")
    world.release("2.0rc1")
    assert world.reason() == "vllm_cuda 1.0 is built, and the newest release is 1.0."


def test_a_newer_release_asks_for_a_build_of_it_once_an_engine_and_day(world):
    world.built("1.0")
    world.release("2.0")
    [request] = world.requests()
    assert (request.job_name, request.partition_key) == ("build_engine", "vllm_cuda")
    assert request.run_config == {"ops": {"engine_builds": {"config": {"version": "2.0"}}}}
    world.release("2.1")
    assert [r.run_key for r in world.requests()] == [request.run_key] == ["release vllm 2026-11-01"]
    world.day = "2026-11-02"
    assert [r.run_key for r in world.requests()] == ["release vllm 2026-11-02"]


def test_a_release_that_was_built_is_swept_once_on_every_gpu_of_this_host_that_has_a_recipe(world):
    world.built("1.0", "2.0")
    world.gpus = ("cpu", "h100", "b300", "mi300x")
    requests = world.requests()
    assert [r.job_name for r in requests] == ["run_sweep", "run_sweep"]
    assert [r.partition_key for r in requests] == ["b300|2026-11-01", "h100|2026-11-01"]
    assert [r.run_key for r in requests] == ["sweep vllm_cuda 2.0 b300", "sweep vllm_cuda 2.0 h100"]
    for request in requests:
        assert request.run_config == {
            "ops": {"sweep": {"config": {"kind": "measured", "versions": {"vllm_cuda": "2.0"}}}}
        }


def test_what_is_asked_for_is_what_the_jobs_take(world):
    definitions = build_defs(world.folder / "home", world.resources)
    world.built("1.0")
    world.release("2.0")
    asked = world.requests()
    world.built("2.0")
    asked += world.requests()
    assert [request.job_name for request in asked] == ["build_engine", "run_sweep"]
    for request in asked:
        job = definitions.resolve_job_def(request.job_name)
        dg.validate_run_config(job, request.run_config)
        assert request.partition_key in job.partitions_def.get_partition_keys()


def test_a_sweep_carries_the_tag_that_keeps_two_of_a_gpu_apart(world):
    world.built("1.0", "2.0")
    definitions = build_defs(world.folder / "home", world.resources)
    with dg.build_sensor_context(world.instance, resources=world.looked_at, definitions=definitions) as context:
        [request] = new_releases.evaluate_tick(context).run_requests
    assert request.tags["dagster/partition/gpu"] == "h100"
    assert request.tags["frontier/why"] == "release vllm_cuda 2.0"


def test_a_sweep_in_which_nothing_is_measured_with_the_release_is_refused(world):
    runs = Runs(build_defs(world.folder / "home", world.resources), world.instance)
    config = {"sweep": {"kind": "simulated", "versions": {"vllm_cuda": "2.0"}}}
    with pytest.raises(SweepRefusedError, match="nothing is measured with vllm_cuda; .*this sweep is simulated"):
        runs.run("run_sweep", partition=f"h100|{world.day}", config=config)


def test_the_registrys_own_version_is_no_release_to_sweep(world):
    world.built("1.0")
    assert "newest release is 1.0" in world.reason()


def test_a_built_release_is_not_swept_on_a_host_without_its_gpu(world):
    world.built("1.0", "2.0")
    world.gpus = ("cpu",)
    assert world.reason() == "vllm_cuda 2.0 is built; no GPU of this host has a recipe of it."


@pytest.mark.parametrize("status", ["NOT_STARTED", "STARTED", "CANCELING"])
def test_a_gpu_in_use_is_left_alone(world, status):
    world.built("1.0", "2.0")
    run = dg.DagsterRun(
        job_name="run_sweep", status=dg.DagsterRunStatus[status], tags={"dagster/partition/gpu": "h100"}
    )
    world.instance.add_run(run)
    assert world.reason() == "vllm_cuda 2.0 waits: h100 is in use."


def test_two_engines_ask_for_one_sweep_of_a_gpu_at_a_time(world, monkeypatch):
    world.built("1.0", "2.0")
    monkeypatch.setattr("pipeline.automation.release_sensor.followed", lambda: [world.plan, world.plan])
    assert [r.partition_key for r in world.requests()] == ["h100|2026-11-01"]


def test_an_index_that_does_not_answer_is_one_reason(world, monkeypatch):
    world.built("1.0")
    monkeypatch.setattr("pipeline.automation.release_sensor.followed", lambda: [world.plan, world.plan])
    world.wheels = "gone"
    assert world.reason().startswith("vllm_cuda: the package index does not say what the newest tiny is; found ")
    assert world.reason().count("the package index does not say") == 1


def test_a_candidate_is_built_beside_the_registrys_build_and_the_registry_stays(world):
    world.build()
    world.release("2.0")
    world.build("2.0")
    materializations = world.instance.fetch_materializations(dg.AssetKey("engine_builds"), limit=2).records
    versions = [r.asset_materialization.metadata["version"].value for r in materializations]
    assert versions == ["2.0", "1.0"]
    assert len({r.asset_materialization.tags["dagster/data_version"] for r in materializations}) == 2
    assert world.resources["engine_builder"].find(world.plan).fingerprint.version == "1.0"
