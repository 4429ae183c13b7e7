"""One fleet for a module: PostgreSQL, Redis, code server, web server, daemon, and three workers.

One worker takes what needs no GPU, the others are those of two GPU hosts.
"""

import datetime as dt
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pipeline.definitions import CHECKOUT, build_defs
from resources.dagster_runs import Runs, open_instance
from resources.fleet_launcher import WORKER_TAG
from tests.fleet.machines import Machines, base_environment, unit_command, wait_for
from tests.fleet.services import Postgres, Redis, free_port

QUEUES = {"h100": "gpu_host_a", "b300": "gpu_host_b"}
FAST = {"poll_interval_seconds: 60": "poll_interval_seconds: 2", "visibility_timeout: 600": "visibility_timeout: 8"}
"""What the tests shorten of the shipped settings."""
RECIPES = {"h100": "h100_vllm_agentic_synthetic", "b300": "b300_sglang_agentic_synthetic"}
ENDED = {dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}
LAUNCH = """mutation($p: ExecutionParams!) { launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on Error { message }
  ... on RunConfigValidationInvalid { errors { message } } } }"""
LOOK = """{ runsOrError(limit: 1) { ... on Runs { results {
  eventConnection { ... on EventConnection { cursor } } } } } }"""
TERMINATE = "mutation($id: String!) { terminateRun(runId: $id) { __typename } }"


@dataclass
class Fleet:
    """Everything of one fleet, and what a test asks of it."""

    folder: Path
    home: Path
    machines: Machines
    postgres: Postgres
    redis: Redis
    instance: dg.DagsterInstance
    ui_port: int

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ui_port}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"]

    def answers(self) -> bool:
        """Whether the web server reads runs and events. After an outage the first questions fail on old connections."""
        try:
            answer = self.ask(LOOK)
        except OSError:
            return False
        return "results" in answer["runsOrError"]

    def launch(self, gpu: str, day: dt.date) -> str:
        """A sweep of one cell on the queue of its GPU; returns the run's id."""
        ops = {"ops": {"sweep": {"config": sweep_config(gpu)}}}
        return self.launch_job("run_sweep", gpu, day, ops, **{"dagster-celery/queue": QUEUES[gpu]})

    def launch_job(self, job: str, gpu: str, day: dt.date, config: dict[str, Any], **more: str) -> str:
        """As the UI launches a job of one cell; returns the run's id."""
        cell = {"dagster/partition/gpu": gpu, "dagster/partition/run_date": str(day)}
        tags = {"dagster/partition": f"{gpu}|{day}", **cell, **more}
        answer = self.ask(
            LAUNCH,
            p={
                "selector": {
                    "repositoryLocationName": "serving_frontier",
                    "repositoryName": "__repository__",
                    "jobName": job,
                },
                "runConfigData": config,
                "executionMetadata": {"tags": [{"key": k, "value": v} for k, v in tags.items()]},
            },
        )
        assert answer["launchRun"]["__typename"] == "LaunchRunSuccess", answer
        return str(answer["launchRun"]["run"]["runId"])

    def run(self, run_id: str) -> dg.DagsterRun:
        found = self.instance.get_run_by_id(run_id)
        assert found is not None
        return found

    def until(self, run_id: str, *statuses: dg.DagsterRunStatus) -> dg.DagsterRun:
        """Wait for one of these; ended in another way is told at once."""
        wanted = set(statuses)
        self.wait(lambda: self.run(run_id).status in wanted | ENDED, f"{[s.value for s in statuses]} of {run_id}")
        assert self.run(run_id).status in wanted, self.told(run_id)
        return self.run(run_id)

    def told(self, run_id: str) -> str:
        return "\n".join(event.user_message or event.message for event in self.instance.all_logs(run_id))

    def wait(self, condition: Any, what: str) -> None:
        wait_for(condition, what, self.folder)

    @property
    def far(self) -> Path:
        """Where the stand-in of the simulator is."""
        return self.folder / "far"

    def hold_at(self, n_replays: int) -> None:
        """The stand-in waits from its n-th replay on, counted from now."""
        (self.far / "asked.log").write_text("")
        (self.far / "hold_at").write_text(str(n_replays))

    def go_on(self) -> None:
        (self.far / "hold_at").unlink(missing_ok=True)

    def n_asked(self) -> int:
        return (self.far / "asked.log").read_text().count("replay")

    def swept(self, gpu: str, day: dt.date) -> dict[str, bytes]:
        """The files of a sweep on the disk of its host."""
        return files_of(self.home if gpu == "h100" else self.far_home, gpu, day)

    @property
    def far_home(self) -> Path:
        """Of the second GPU host, which shares no disk with the others."""
        return self.folder / "far-home"

    def start_worker(self, queue: str) -> None:
        own = {"FRONTIER_HOME": str(self.far_home), "DAGSTER_HOME": str(self.far_home / "dagster")}
        self.machines.start_worker(queue, **(own if queue == QUEUES["b300"] else {}))

    def worker_of(self, run_id: str) -> str:
        return self.run(run_id).tags[WORKER_TAG]


def sweep_config(gpu: str) -> dict[str, Any]:
    return {"kind": "simulated", "measure_again": True, "recipes": [RECIPES[gpu]]}


def files_of(home: Path, gpu: str, day: dt.date) -> dict[str, bytes]:
    files = (home / "store" / "sweeps" / gpu / str(day)).rglob("*.parquet")
    return {path.name: path.read_bytes() for path in files}


def on_one_machine(home: Path, gpu: str, day: dt.date) -> dict[str, bytes]:
    """The files of the same sweep, run in this process under an instance of its own, with no other store to read."""
    with pytest.MonkeyPatch.context() as patch, dg.instance_for_test() as instance:
        patch.delenv("FRONTIER_RESULTS")
        Runs(build_defs(home), instance).run("run_sweep", partition=f"{gpu}|{day}", config={"sweep": sweep_config(gpu)})
    return files_of(home, gpu, day)


def stand_in(far: Path) -> Path:
    """An interpreter that runs the stand-in of the simulator, whatever it is given."""
    far.mkdir()
    shutil.copy(CHECKOUT / "tests" / "fakes" / "simulator_child.py", far)
    program = far / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{far / "simulator_child.py"}"\n')
    program.chmod(0o755)
    return program


def settings(folder: Path) -> Path:
    text = (CHECKOUT / "deploy" / "dagster_fleet.yaml").read_text()
    for shipped, fast in FAST.items():
        assert text.count(shipped) == 1
        text = text.replace(shipped, fast)
    file = folder / "fleet.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Not pytest's: that of root is closed to the user who runs PostgreSQL."""
    made = Path(tempfile.mkdtemp(prefix="frontier-fleet-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def services(folder: Path) -> Iterator[tuple[Postgres, Redis]]:
    made = (Postgres(folder / "postgres"), Redis(folder / "redis"))
    try:
        for service in made:
            service.folder.mkdir()
            service.prepare()
        yield made
    finally:
        for service in made:
            service.stop()


@pytest.fixture(scope="module")
def environment(folder: Path, services: tuple[Postgres, Redis]) -> dict[str, str]:
    postgres, redis = services
    return base_environment() | {
        "FRONTIER_HOME": str(folder / "home"),
        "FRONTIER_INSTANCE": str(settings(folder)),
        "FRONTIER_POSTGRES_URL": postgres.url,
        "FRONTIER_BROKER_URL": redis.url,
        "FRONTIER_SIMULATOR_PYTHON": str(stand_in(folder / "far")),
        "FRONTIER_CODE_SERVER_HOST": "127.0.0.1",
        "FRONTIER_RESULTS": f"file://{folder}/results",
        "DAGSTER_HOME": str(folder / "home" / "dagster"),
    }


@pytest.fixture(scope="module")
def machines(folder: Path, environment: dict[str, str]) -> Iterator[Machines]:
    made = Machines(folder, environment)
    yield made
    made.end()


@pytest.fixture(scope="module")
def fleet(
    folder: Path, services: tuple[Postgres, Redis], environment: dict[str, str], machines: Machines
) -> Iterator[Fleet]:
    code_port, ui_port = free_port(), free_port()
    workspace = folder / "workspace.yaml"
    shipped = (CHECKOUT / "deploy" / "workspace.yaml").read_text()
    workspace.write_text(shipped.replace("4266", str(code_port)))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with open_instance(folder / "home") as instance:
            fleet = Fleet(folder, folder / "home", machines, *services, instance, ui_port)
            start(fleet, workspace, code_port)
            wait_until_up(fleet)
            yield fleet


def start(fleet: Fleet, workspace: Path, code_port: int) -> None:
    def command(unit: str, key: str = "ExecStart") -> list[str]:
        there = {"3000": str(fleet.ui_port), str(CHECKOUT / "deploy/workspace.yaml"): str(workspace)}
        return [there.get(word, word.replace("4266", str(code_port))) for word in unit_command(unit, key)]

    machines, server = fleet.machines, "frontier-code-server.service"
    for queue in ("dagster", *QUEUES.values()):
        fleet.start_worker(queue)
    machines.start("code-server", command(server))
    until_up, there = command(server, "ExecStartPost"), dict(machines.environment)
    subprocess.run(until_up, cwd=CHECKOUT, env=there, check=True, capture_output=True)
    for name in ("webserver", "daemon"):
        machines.start(name, command(f"frontier-{name}.service"))


def wait_until_up(fleet: Fleet) -> None:
    def loaded() -> bool:
        try:
            answer = fleet.ask("{ repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }")
        except OSError:
            return False
        return bool(answer["repositoriesOrError"]["nodes"])

    fleet.wait(loaded, "the code location")
    for queue in QUEUES.values():
        fleet.wait(lambda queue=queue: " ready." in fleet.machines.log(queue), f"worker of {queue}")


@pytest.fixture
def calm(fleet: Fleet) -> Iterator[Fleet]:
    """The fleet, with nothing held at the end, whatever happened."""
    yield fleet
    fleet.go_on()
