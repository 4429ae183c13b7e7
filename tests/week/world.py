"""One home folder through a week: its clock, its stand-ins, and what the daemon does with schedules and sensors.

Real: graph, schedules, sensors, automation conditions, run queue's requests, stores, device lock, engine builds (of a
package of ten lines, installed by uv), servers and load clients as processes. Not real: the engine and the load
generator are small programs whose speed the test writes; the daemon's loop is the few lines of ``Week``.
"""

import datetime as dt
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.asset_key import AssetCheckKey

from pipeline.builds.plan import Plan
from pipeline.definitions import build_defs, outside
from pipeline.registry import shipped
from pipeline.registry.cadences import Cadence
from pipeline.registry.entries import Concurrency
from pipeline.sweep import launch_line
from resources.bench import Bench
from resources.clock import Clock
from resources.dagster_runs import QUIET
from resources.notifier import Notifier
from resources.price_book import PriceBook
from resources.release_index import ReleaseIndex
from tests.graph.test_measured_sweep import FAKES, AnyFlags, bench_at
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of

RECIPE = "cpu_vllm_fixed"
BUILD = "vllm_cpu"
N_POINTS = 3
"""A ladder of 1, 2, and 4, where the lowest speed target is reached."""
NIGHTLY = Cadence(name="Every night", cron="15 0 * * *", gpus={"cpu": 1}, budget_gpu_hours=24.0)


class AtMoment(Clock):
    """A clock that stands at one moment, as 2026-10-19T00:15."""

    moment: str = ""

    def now(self) -> dt.datetime:
        """That moment, in UTC."""
        return dt.datetime.fromisoformat(self.moment).replace(tzinfo=dt.UTC)


class Told(Notifier):
    """A notifier with one channel, a file: one line a notice."""

    file: str = ""

    def channels(self) -> tuple[str, ...]:
        """The file."""
        return ("file",)

    def send(self, channel: str, subject: str, lines: Any, facts: Any = ()) -> None:
        """Append the lines."""
        with Path(self.file).open("a") as file:
            file.write(json.dumps(list(lines)) + "\n")


@dataclass(frozen=True)
class Places:
    """Where things are: the home folder, the stand-ins' own folder, and the folder that stands for the index."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def far(self) -> Path:
        return self.root / "far"

    @property
    def wheels(self) -> Path:
        return self.root / "wheels"

    @property
    def bench(self) -> Bench:
        builder = AnyFlags(root_dir=str(self.home / "builds"), wheels_dir=str(self.wheels))
        return bench_at(self.home, self.far).model_copy(update={"builder": builder})

    def resources(self, moment: str) -> dict[str, object]:
        """Every resource by name, at that moment."""
        here = outside(self.home).by_name()
        bench = self.bench
        return here | {
            "bench": bench,
            "engine_builder": bench.builder,
            "release_index": ReleaseIndex(root_dir=str(self.home / "candidates"), wheels_dir=str(self.wheels)),
            "prices": PriceBook(file=str(self.home / "prices.csv")),
            "clock": AtMoment(moment=moment),
            "notifier": Told(file=str(self.root / "notices.jsonl")),
        }


def plan_in(places: Places, version: str = "1.0") -> Plan:
    """The block of the registry: the package tiny at a version, with the lock of the candidate where it is one."""
    tiny = plan_of(lock_of(tiny=make_wheel(places.wheels)), releases="tiny")
    index = ReleaseIndex(root_dir=str(places.home / "candidates"), wheels_dir=str(places.wheels))
    named = tiny.build.model_copy(update={"role": "engine", "engine": "vllm", "host": "cuda"})
    return index.plan(Plan(BUILD, named, tiny.lock_texts), version)


def set_the_stage(patch: pytest.MonkeyPatch, places: Places, version: str = "1.0") -> None:
    """Registry of one GPU, one recipe, one followed build at that version; small programs instead of engines."""
    plan = plan_in(places, version)
    recipe = shipped.measured_recipes()[RECIPE].model_copy(
        update={"concurrency": Concurrency(start=1, end=2, factor=2)}
    )
    originals = {name: getattr(shipped, name) for name in ("measured_recipes", "shipped_builds", "shipped_plan")}
    builds = {**originals["shipped_builds"](), BUILD: plan.build}
    replaced = {
        "measured_recipes": lambda: {RECIPE: recipe},
        "shipped_builds": lambda: builds,
        "shipped_plan": lambda slug: plan if slug == BUILD else originals["shipped_plan"](slug),
        "shipped_cadences": lambda: {"nightly": NIGHTLY},
        "followed": lambda: [plan],
    }
    for module in [m for name, m in sys.modules.items() if name.split(".")[0] in ("pipeline", "assets", "resources")]:
        for name, replacement in replaced.items():
            if module is not shipped and hasattr(module, name):
                patch.setattr(module, name, replacement)
    patch.setitem(launch_line.MODULES, "vllm", (str(FAKES / "engine.py"),))
    patch.setattr("resources.made_model.CHILD", FAKES / "made_model_child.py")
    patch.setattr("assets.sweep.WAIT_S", 0.01)


def run_request(places: Places, instance: dg.DagsterInstance, moment: str, asked: Mapping[str, Any]) -> bool:
    """What the run launcher does with a request; whether the run succeeded."""
    job = build_defs(places.home, places.resources(moment)).resolve_job_def(asked["job_name"])
    result = job.execute_in_process(
        instance=instance,
        partition_key=asked["partition_key"],
        run_config={**QUIET, **asked["run_config"]},
        tags=asked["tags"],
        raise_on_error=False,
    )
    return result.success


@dataclass
class Week:
    """The week as it goes: what the daemon remembers, and what was asked of the run queue."""

    places: Places
    instance: dg.DagsterInstance
    patch: pytest.MonkeyPatch
    moment: str = ""
    cursor: Any = None
    sensor_cursors: dict[str, str | None] = field(default_factory=dict)
    run_keys: set[str] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    @property
    def definitions(self) -> dg.Definitions:
        return build_defs(self.places.home, self.places.resources(self.moment))

    def at(self, day: dt.date, time: str) -> None:
        """The clock goes on."""
        self.moment = f"{day.isoformat()}T{time}"

    def pace(self, *factors: float) -> None:
        """How slow the engine is from now on, in each repeat: 1.0 is 10 ms a token and request in flight."""
        (self.places.far / "pace").write_text(" ".join(map(str, factors)))

    def night(self, *factors: float) -> None:
        """The schedule's tick of the night, what it asks for, and all that follows."""
        self.pace(*factors)
        self.run_all(self.tick_of("nightly_sweeps"))
        self.settle()

    def tick_of(self, schedule: str) -> list[dg.RunRequest]:
        """One tick of a schedule, as the daemon takes it."""
        definitions = self.definitions
        found = definitions.resolve_schedule_def(schedule)
        at = dt.datetime.fromisoformat(self.moment).replace(tzinfo=dt.UTC)
        repository = definitions.get_repository_def()
        resources = self._resources_of(found.required_resource_keys)
        with dg.build_schedule_context(self.instance, at, resources, repository) as context:
            requests = found.evaluate_tick(context).run_requests or []
        return [r if r.job_name else r.with_replaced_attrs(job_name=found.job_name) for r in requests]

    def look_of(self, sensor: str) -> list[dg.RunRequest]:
        """One look of a sensor, as the daemon takes it; its cursor is kept."""
        definitions = self.definitions
        found = next(s for s in definitions.sensors if s.name == sensor)
        with dg.build_sensor_context(
            self.instance,
            cursor=self.sensor_cursors.get(sensor),
            definitions=definitions,
            resources=self._resources_of(found.required_resource_keys),
        ) as context:
            said = found.evaluate_tick(context)
        self.sensor_cursors[sensor] = said.cursor
        return said.run_requests or []

    def run_all(self, requests: list[dg.RunRequest]) -> None:
        """Run what was asked for, the higher priority first; a run key is run once."""
        for request in sorted(requests, key=lambda r: -int(r.tags.get("dagster/priority", "0"))):
            if self._is_new(request):
                assert run_request(self.places, self.instance, self.moment, as_json(request))

    def start_process(self, request: dg.RunRequest) -> list[str]:
        """The command of a process of its own for one request: it can be killed."""
        assert self._is_new(request)
        asked = json.dumps([str(self.places.root), self.moment, as_json(request)])
        return [sys.executable, "-m", "tests.week.night", asked]

    def settle(self) -> None:
        """Automation, tick after tick, until it asks for nothing."""
        for _ in range(12):
            if not self._automation_tick():
                return
        raise AssertionError(f"automation does not come to rest: {self.made[-10:]}")

    def _is_new(self, request: dg.RunRequest) -> bool:
        if request.run_key in self.run_keys:
            return False
        if request.run_key:
            self.run_keys.add(request.run_key)
        if request.job_name != "observe_prices":
            self.asked.append((self.moment[:10], request.tags.get("frontier/why") or str(request.run_key)))
        return True

    def _automation_tick(self) -> bool:
        definitions = self.definitions
        at = dt.datetime.fromisoformat(self.moment).replace(tzinfo=dt.UTC)
        result = dg.evaluate_automation_conditions(
            definitions, instance=self.instance, cursor=self.cursor, evaluation_time=at
        )
        self.cursor = result.cursor
        found = [r for r in result.results if not r.true_subset.is_empty and not isinstance(r.key, AssetCheckKey)]
        together: dict[str | None, list[dg.AssetKey]] = {}  # one run a partition, as the daemon has it
        for target in found:
            for key in sorted(target.true_subset.expensively_compute_asset_partitions(), key=str):
                together.setdefault(key.partition_key, []).append(key.asset_key)
        for partition, keys in together.items():
            self._make(definitions, keys, partition)
        return bool(found)

    def _make(self, definitions: dg.Definitions, keys: list[dg.AssetKey], partition: str | None) -> None:
        self.made.append(f"{self.moment} {[key.to_user_string() for key in keys]} {partition or ''}".strip())
        definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance, partition_key=partition, asset_selection=keys, run_config=QUIET
        )

    def _resources_of(self, names: set[str]) -> dict[str, object]:
        known = self.places.resources(self.moment)
        return {name: known[name] for name in names if name in known}


def as_json(request: dg.RunRequest) -> dict[str, Any]:
    """A request as another process can read it."""
    return {
        "job_name": request.job_name,
        "partition_key": request.partition_key,
        "run_config": dict(request.run_config),
        "tags": dict(request.tags),
    }
