"""The worker of one host: takes runs from its queue, each in a process of its own.

    celery -A resources.fleet_worker worker -Q QUEUE -n NAME@%h --concurrency=1

Belongs here: what a worker does with a message, first or again. Not here: settings (deploy/dagster_fleet.yaml: the
worker reads broker and options from the launcher of its instance), and which queue a run is sent to
(fleet_launcher.py). Needs the extra `fleet`.

The broker gives a message again when its worker died, and also when it was not acknowledged for the visibility
timeout, which a long sweep outlasts. Upstream's task ignores both, so that the run of a dead worker stays started for
ever. Here the second one waits for the end of the first, and then takes the run up where it stopped.
"""

from pathlib import Path
from typing import Any

import dagster as dg
from celery import Celery, Task
from dagster._cli.api import _execute_run_command_body, _resume_run_command_body
from dagster._core.events import EngineEventData
from dagster._grpc.types import ExecuteRunArgs, ResumeRunArgs
from dagster._serdes import unpack_value
from dagster._utils.interrupts import capture_interrupts
from dagster_celery.config import TASK_EXECUTE_JOB_NAME, TASK_RESUME_JOB_NAME
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy.exc import SQLAlchemyError

from pipeline.errors import StoreError
from resources.file_lock import held
from resources.fleet_launcher import TAKEN_UP, WORKER_TAG, FleetRunLauncher


class UnfinishedRunError(Exception):
    """A run's code ended and the run did not: its end could not be written. It is tried again."""


ONCE_MORE: dict[str, Any] = {
    "track_started": True,
    "acks_late": True,
    "reject_on_worker_lost": True,
    "autoretry_for": (UnfinishedRunError, SQLAlchemyError, DagsterPostgresException),
    "max_retries": None,
    "retry_backoff": 5,
    "retry_backoff_max": 60,
}
"""A message is kept until its run has ended; while the instance's database does not answer, it is tried again."""


def worker_app() -> Celery:
    """The app of the instance's launcher, with the two tasks that it sends. Raises StoreError where it has another."""
    with dg.DagsterInstance.get() as instance:
        launcher = instance.run_launcher
    if not isinstance(launcher, FleetRunLauncher):
        raise StoreError(
            "the instance launches no runs on other hosts",
            where=f"{instance.root_directory}/dagster.yaml",
            expected=FleetRunLauncher.__name__,
            found=type(launcher).__name__,
            next_step="Name deploy/dagster_fleet.yaml in FRONTIER_INSTANCE, or its folder in DAGSTER_HOME.",
        )
    app = launcher.celery

    @app.task(bind=True, name=TASK_EXECUTE_JOB_NAME, **ONCE_MORE)
    def execute(task: Task, execute_job_args_packed: Any) -> int:
        return _work(task, unpack_value(execute_job_args_packed, as_type=ExecuteRunArgs).run_id)

    @app.task(bind=True, name=TASK_RESUME_JOB_NAME, **ONCE_MORE)
    def resume(task: Task, resume_job_args_packed: Any) -> int:
        return _work(task, unpack_value(resume_job_args_packed, as_type=ResumeRunArgs).run_id)

    return app


def _work(task: Task, run_id: str) -> int:
    """Bring a run to its end unless it has one; nobody else on this host works on it meanwhile."""
    with dg.DagsterInstance.get() as instance:
        lock = Path(instance.root_directory) / "at_work" / f"{run_id}.lock"
        with held(lock, lambda: None), capture_interrupts():
            code = _run(instance, run_id, str(task.request.hostname))
            if _is_open(instance, run_id):
                raise UnfinishedRunError(run_id)
            lock.unlink(missing_ok=True)
    return code


def _is_open(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is not None and not run.is_finished


def _run(instance: dg.DagsterInstance, run_id: str, worker: str) -> int:
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return 0
    if run.status == dg.DagsterRunStatus.CANCELING:
        instance.report_run_canceled(run)
        return 0
    instance.add_run_tags(run_id, {WORKER_TAG: worker})
    if run.status == dg.DagsterRunStatus.STARTED:
        return _take_up(instance, run, worker)
    return _execute_run_command_body(run_id, instance, _ignore, set_exit_code_on_failure=True)


def _take_up(instance: dg.DagsterInstance, run: dg.DagsterRun, worker: str) -> int:
    """Execute a started run once more, as often as the instance resumes a run at most: one may kill every worker."""
    events = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    n_taken_up = sum(event.message == TAKEN_UP for event in events)
    if n_taken_up >= instance.run_monitoring_max_resume_run_attempts:
        message = f"Its worker was lost {n_taken_up + 1} times. What was finished is stored: run it again to go on."
        instance.report_run_failed(run, message)
        return 1
    instance.report_engine_event(TAKEN_UP, run, EngineEventData({"worker": dg.MetadataValue.text(worker)}))
    return _resume_run_command_body(run.run_id, instance, _ignore, set_exit_code_on_failure=True)


def _ignore(event: dg.DagsterEvent) -> None:
    """The events of a run go to the instance; nobody else listens."""


app = worker_app()
