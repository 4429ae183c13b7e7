"""SIGKILL of Dagster's own processes: the code server with the run that it started, and the daemon."""

import contextlib
import json
import logging
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import dagster as dg
import psutil
import pytest
from dagster._cli.job import _create_run
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._daemon.monitoring.run_monitoring import execute_run_monitoring_iteration

from pipeline.automation.sweep_requests import gpus_in_use
from pipeline.definitions import CHECKOUT
from resources.dagster_runs import open_instance
from resources.lost_runs import GONE, _reported_pid
from tests.faults import acts
from tests.faults.children import PATIENCE_S
from tests.faults.site_states import files_of, is_whole
from tests.graph.conftest import DAY, graph_at
from tests.graph.test_daemon import daemon

JOB = "build_pages"


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """A home with one cell and its site, which the daemon knows to be up to date."""
    folder = tmp_path_factory.mktemp("published") / "home"
    with acts.opened(folder) as graph:
        graph.derive(graph.seed(*acts.OLD))
        graph.runs.run("observe_prices")
        graph.publish()
    return folder


@pytest.fixture
def home(published, copied, monkeypatch) -> Path:
    folder = copied(published)
    monkeypatch.setenv("FRONTIER_HOME", str(folder))
    monkeypatch.setenv("FRONTIER_PRICES", str(folder / "prices.csv"))
    return folder


def wait_until(condition, what: str) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until_s, f"{what} did not happen"
        time.sleep(0.02)


def launched(instance: dg.DagsterInstance, context: WorkspaceProcessContext) -> str:
    """A run of the GPU's pages in a process of the code server."""
    workspace = context.create_request_context()
    (location,) = workspace.code_locations
    repository = next(iter(location.get_repositories().values()))
    tags = {"dagster/partition": acts.GPU, "dagster/partition/gpu": acts.GPU}
    run = _create_run(instance, location, repository, repository.get_full_job(JOB), {}, tags, None, None)
    instance.launch_run(run.run_id, workspace)
    return run.run_id


def code_servers() -> Iterator[psutil.Process]:
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "grpc" in child.cmdline():
                yield child


def status(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def test_a_run_that_is_killed_with_its_code_server_is_closed_and_its_gpu_is_free(home, rng):
    before = files_of(home / "site")
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.NEW, name="b.json", run_id="r2", run_date=DAY.replace(day=5)))
    with (
        open_instance(home) as instance,
        WorkspaceProcessContext(instance, WorkspaceFileTarget([str(CHECKOUT / "workspace.yaml")])) as context,
    ):
        run_id = launched(instance, context)
        wait_until(lambda: status(instance, run_id) == dg.DagsterRunStatus.STARTED, "the run's start")
        pid = _reported_pid(instance, instance.get_run_by_id(run_id))
        list(execute_run_monitoring_iteration(context, logging.getLogger("quiet")))
        for server in code_servers():
            server.kill()
        time.sleep(rng.uniform(0, 0.3))
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
        if status(instance, run_id) != dg.DagsterRunStatus.SUCCESS:
            assert gpus_in_use(instance) == {acts.GPU}
            wait_until(lambda: not psutil.pid_exists(pid), "the end of the run")
            list(execute_run_monitoring_iteration(context, logging.getLogger("quiet")))
            assert status(instance, run_id) == dg.DagsterRunStatus.FAILURE
            assert any(GONE in entry.message for entry in instance.all_logs(run_id))
        assert gpus_in_use(instance) == set()
    assert files_of(home / "site") == before
    with acts.opened(home) as graph:
        graph.publish()
    assert files_of(home / "site") != before
    assert is_whole(home / "site")


TO_THE_SITE_S = 12.0
"""About as long as the quick daemon takes here from a price to the site."""


@pytest.fixture
def quick(home, tmp_path) -> Callable[[], AbstractContextManager[subprocess.Popen]]:
    """Starts the daemon over the home folder, with short pauses; what it says is in daemon.log."""
    settings = home / "dagster" / "dagster.yaml"
    settings.write_text(settings.read_text().replace("poll_interval_seconds: 30", "poll_interval_seconds: 1"))
    workspace = tmp_path / "workspace.yaml"
    location = {"module_name": "tests.faults.quick_location", "working_directory": str(CHECKOUT)}
    workspace.write_text(json.dumps({"load_from": [{"python_module": location}]}))
    names = ("PATH", "HOME", "FRONTIER_HOME", "FRONTIER_PRICES")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    environment["DAGSTER_HOME"] = str(home / "dagster")
    return lambda: daemon(environment, tmp_path / "daemon.log", "tests.faults.quick_daemon", workspace)


def kill_with_children(process: subprocess.Popen) -> None:
    for child in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    process.wait()


def test_a_daemon_that_was_killed_with_its_runs_goes_on_where_it_stopped(home, tmp_path, quick, rng):
    """A price reaches the site once the daemon runs again, whichever of its steps the kill met."""
    page, log = home / "site/run/deepseek_v4_1_flash-on-b300/data.json", tmp_path / "daemon.log"
    with open_instance(home) as instance:
        graph = graph_at(home, instance)
        with quick() as process:
            wait_until(lambda: "automation" in log.read_text(), "the first tick")
            body = {"gpu": "b300", "tier": "retail", "usd_per_gpu_hour": 5.55, "source": "quote"}
            graph.book.add({**body, "valid_from": DAY.replace(day=20)})
            graph.runs.run("observe_prices")
            time.sleep(rng.uniform(0, TO_THE_SITE_S))
            kill_with_children(process)
        assert is_whole(home / "site")
        with quick():
            wait_until(lambda: '"usd_per_gpu_hour": 5.55' in page.read_text(), "the new price on the page")
    assert is_whole(home / "site")
