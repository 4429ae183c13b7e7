"""Dagster's own daemon with shorter pauses between its looks: python -m tests.faults.quick_daemon run -w FILE."""

import dagster._daemon.asset_daemon
import dagster._daemon.sensor
from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
from dagster._daemon.cli import main

PAUSE_S = 1

if __name__ == "__main__":
    dagster._daemon.asset_daemon.MIN_INTERVAL_LOOP_SECONDS = PAUSE_S
    dagster._daemon.sensor.MIN_INTERVAL_LOOP_TIME = PAUSE_S
    QueuedRunCoordinator.dequeue_interval_seconds = property(lambda _: PAUSE_S)
    main()
