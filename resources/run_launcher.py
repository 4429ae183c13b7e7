"""Dagster's own run launcher of one host, which also knows when a run's process is gone.

Upstream's code server notices a killed run as long as it lives itself; when both are killed, or a command's own process
is, the run is recorded as running for ever, and its GPU is taken. With this, run monitoring closes it.
"""

from dagster._core.launcher.base import CheckRunHealthResult, WorkerStatus
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.dagster_run import DagsterRun

from resources.lost_runs import GONE, is_lost, tag_process


class WatchedRunLauncher(DefaultRunLauncher):
    """Upstream's launcher, whose runs can be asked for their process. Takes no configuration."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Yes: all runs are of this host, or tagged with another one."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Running unless its process is known and gone."""
        if is_lost(tag_process(self._instance, run)):
            return CheckRunHealthResult(WorkerStatus.FAILED, GONE)
        return CheckRunHealthResult(WorkerStatus.RUNNING)
