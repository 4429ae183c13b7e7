"""Which machine a run goes to when there are several: Dagster's Celery launcher, with what that leaves undone.

Belongs here: the queue of a run, ending a run, whether anybody still works on one. Not here: the work
(fleet_worker.py), and the settings (deploy/dagster_fleet.yaml). Needs the extra `fleet`.

Upstream's launcher needs a tag, which a sweep that is started in the UI does not have; it tells nobody that a run is
being canceled, so that it is reported as failed; and it calls a run healthy whose task has ended without writing the
run's end, so that it stays started for ever and keeps its GPU.
"""

import dagster as dg
from celery import states
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tags import DAGSTER_CELERY_QUEUE_TAG, DAGSTER_CELERY_TASK_ID_TAG

from pipeline.automation import RUN_SWEEP
from pipeline.automation.sweep_requests import GPU_TAG, queue_tags
from resources.lost_runs import GONE, is_lost

SWEEP = dg.AssetKey("sweep")

WORKER_TAG = "frontier/worker"
"""Of a run: the Celery name of the worker that has it, queue@host."""

TAKEN_UP = "Taken up again: the worker that had this run is gone."
"""What a worker says of a run that it did not start."""


class FleetRunLauncher(CeleryRunLauncher):
    """One run is one task: on the queue that its tag names, a sweep without one on that of its GPU's host.

    Everything else is on the default queue.
    """

    def launch_run(self, context: LaunchRunContext) -> None:
        """Hand the run to its queue. Raises the broker's error where it does not answer."""
        super().launch_run(LaunchRunContext(self._placed(context.dagster_run), context.workspace))

    def terminate(self, run_id: str) -> bool:
        """Ask the run to end. One that waits in a queue is canceled when its time to do so is over."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        return DAGSTER_CELERY_TASK_ID_TAG in run.tags and bool(super().terminate(run_id))

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Failed where the task of a started run has ended: it did not write the run's end, and nobody else will.

        A task that the broker does not know is left alone: it may go on, and its message may come back. A command's own
        run has no task: it has failed where its process on this host is gone.
        """
        if is_lost(run):
            return CheckRunHealthResult(WorkerStatus.FAILED, GONE)
        task_id = run.tags.get(DAGSTER_CELERY_TASK_ID_TAG)
        state = self.celery.AsyncResult(task_id).state if task_id else states.PENDING
        if state in states.READY_STATES:
            return CheckRunHealthResult(WorkerStatus.FAILED, f"its task ended ({state}) without the end of the run")
        return CheckRunHealthResult(WorkerStatus.RUNNING)

    def _placed(self, run: dg.DagsterRun) -> dg.DagsterRun:
        """The run with the tag of its host's queue, where it is a sweep that names none."""
        sweeps = run.job_name == RUN_SWEEP or SWEEP in (run.asset_selection or ())
        if not sweeps or GPU_TAG not in run.tags or DAGSTER_CELERY_QUEUE_TAG in run.tags:
            return run
        tags = queue_tags(run.tags[GPU_TAG])
        if tags:
            self._instance.add_run_tags(run.run_id, tags)
        return run.with_tags({**run.tags, **tags})
