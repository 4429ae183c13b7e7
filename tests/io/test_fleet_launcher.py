"""The launcher of several hosts, on a broker that lives in this process."""

from collections.abc import Iterator

import dagster as dg
import pytest
from celery import states
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster._core.origin import DEFAULT_DAGSTER_ENTRY_POINT, JobPythonOrigin, RepositoryPythonOrigin
from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG

from pipeline.automation.sweep_requests import GPU_TAG, QUEUE_TAG
from pipeline.registry.hosts import CeleryHost
from resources.fleet_launcher import FleetRunLauncher
from resources.lost_runs import own_process_tag
from tests.io.test_lost_runs import gone

# Upstream makes its task anew at every launch.
pytestmark = pytest.mark.filterwarnings("ignore::celery.exceptions.DuplicateTaskNameWarning")

ORIGIN = JobPythonOrigin(
    "run_sweep",
    RepositoryPythonOrigin(
        executable_path="python",
        code_pointer=ModuleCodePointer("pipeline.definitions", "."),
        entry_point=DEFAULT_DAGSTER_ENTRY_POINT,
    ),
)


@pytest.fixture(scope="module")
def instance(tmp_path_factory) -> Iterator[dg.DagsterInstance]:
    memory = {"broker": "memory://", "backend": "cache+memory://", "default_queue": "dagster"}
    launcher = {"module": "resources.fleet_launcher", "class": "FleetRunLauncher", "config": memory}
    with dg.instance_for_test(
        temp_dir=str(tmp_path_factory.mktemp("instance")), overrides={"run_launcher": launcher}
    ) as made:
        yield made


@pytest.fixture
def launcher(instance: dg.DagsterInstance, monkeypatch) -> FleetRunLauncher:
    host = CeleryHost(name="Host A", kind="celery", queue="gpu_host_a")
    monkeypatch.setattr("pipeline.automation.sweep_requests.host_of", lambda gpu: ("host_a", host))
    assert isinstance(instance.run_launcher, FleetRunLauncher)
    return instance.run_launcher


def run_of(instance: dg.DagsterInstance, job: str = "run_sweep", **about: object) -> dg.DagsterRun:
    tags = {GPU_TAG: "h100"} | dict(about.pop("tags", {}))
    facts = {"status": dg.DagsterRunStatus.STARTING, "job_code_origin": ORIGIN, "tags": tags} | about
    return instance.add_run(dg.DagsterRun(job_name=job, **facts))


def queue_of(launcher: FleetRunLauncher, run: dg.DagsterRun) -> str:
    """The queue that the run's message is in, after its launch."""
    launcher.launch_run(LaunchRunContext(run, None))
    with launcher.celery.connection_for_read() as connection:
        found = [q for q in ("dagster", "gpu_host_a", "by_hand") if connection.default_channel.basic_get(q)]
    (queue,) = found
    return queue


def health(launcher: FleetRunLauncher, instance: dg.DagsterInstance, state: str | None) -> WorkerStatus:
    """Of a started run whose task is in this state; None: it has none."""
    task = f"task-{state}"
    tags = {DAGSTER_CELERY_TASK_ID_TAG: task} if state else {}
    if state:
        launcher.celery.backend.store_result(task, 0, state)
    run = run_of(instance, status=dg.DagsterRunStatus.STARTED, tags=tags)
    return launcher.check_run_worker_health(run).status


def test_a_sweep_goes_to_the_queue_of_its_gpus_host_and_says_so(launcher, instance):
    run = run_of(instance)
    assert queue_of(launcher, run) == "gpu_host_a"
    assert instance.get_run_by_id(run.run_id).tags[QUEUE_TAG] == "gpu_host_a"


def test_a_sweep_that_is_asked_for_as_an_asset_goes_there_too(launcher, instance):
    assert queue_of(launcher, run_of(instance, "__ASSET_JOB", asset_selection={dg.AssetKey("sweep")})) == "gpu_host_a"


def test_a_queue_that_a_run_names_is_the_one_that_it_gets(launcher, instance):
    assert queue_of(launcher, run_of(instance, tags={QUEUE_TAG: "by_hand"})) == "by_hand"


def test_what_needs_no_gpu_goes_to_the_default_queue_although_it_is_about_one(launcher, instance):
    assert queue_of(launcher, run_of(instance, "derive_cell")) == "dagster"


@pytest.mark.parametrize("state", [states.SUCCESS, states.FAILURE, states.REVOKED])
def test_a_started_run_whose_task_has_ended_is_not_well(launcher, instance, state):
    assert health(launcher, instance, state) == WorkerStatus.FAILED


@pytest.mark.parametrize("state", [states.STARTED, states.RETRY, states.PENDING, None])
def test_a_started_run_whose_task_goes_on_or_is_not_known_is_left_alone(launcher, instance, state):
    assert health(launcher, instance, state) == WorkerStatus.RUNNING


def test_a_commands_run_is_not_well_where_its_process_is_gone(launcher, instance):
    for tags, status in ((own_process_tag(), WorkerStatus.RUNNING), (gone(), WorkerStatus.FAILED)):
        run = run_of(instance, status=dg.DagsterRunStatus.STARTED, tags=tags)
        assert launcher.check_run_worker_health(run).status == status


def test_a_run_that_is_terminated_is_being_canceled_from_then_on(launcher, instance):
    run = run_of(instance, status=dg.DagsterRunStatus.STARTED)
    launcher.terminate(run.run_id)
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.CANCELING


def test_a_run_that_has_ended_cannot_be_terminated(launcher, instance):
    run = run_of(instance, status=dg.DagsterRunStatus.SUCCESS)
    assert launcher.terminate(run.run_id) is False
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.SUCCESS
