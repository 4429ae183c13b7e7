"""The one way in which anything but a person asks for a sweep: which GPUs are in use, and the request with its tags.

Belongs here: tags, run keys, what counts as in use. Not here: when a sweep is due (schedules and sensors), and what a
sweep does (assets/sweep.py).
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from pipeline.automation import RUN_SWEEP
from pipeline.cell import GpuRun
from pipeline.partitions import GPU
from pipeline.registry.hosts import CeleryHost
from pipeline.registry.shipped import host_of
from pipeline.sweep.mendable import N_RETRIES

GPU_TAG = f"dagster/partition/{GPU}"
PRIORITY_TAG = "dagster/priority"
WHY_TAG = "frontier/why"
QUEUE_TAG = "dagster-celery/queue"
"""Names the Celery queue of a run; dagster-celery's launcher reads it."""
RETRIES_TAG = "dagster/max_retries"
"""The daemon retries a run whose process died so often, and the sweep itself as often what a retry can mend."""

ACTIVE = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def gpus_in_use(instance: dg.DagsterInstance) -> set[str]:
    """GPUs that a run of this instance is about, whichever job it is of."""
    return {run.tags[GPU_TAG] for run in instance.get_runs(dg.RunsFilter(statuses=ACTIVE)) if GPU_TAG in run.tags}


def sweep_request(
    cell: GpuRun, *, run_key: str, why: str, config: Mapping[str, Any] | None = None, priority: int = 0
) -> dg.RunRequest:
    """A request of one sweep. The same ``run_key`` is never run twice; ``why`` is shown with the run.

    ``config`` is that of the sweep (assets/sweep.py); of two requests that wait, the higher ``priority`` starts first.
    """
    return dg.RunRequest(
        job_name=RUN_SWEEP,
        run_key=run_key,
        partition_key=cell.key,
        run_config={"ops": {"sweep": {"config": dict(config or {})}}},
        tags={
            WHY_TAG: why,
            PRIORITY_TAG: str(priority),
            RETRIES_TAG: str(N_RETRIES),
            **queue_tags(cell.gpu),
        },
    )


def queue_tags(gpu: str) -> dict[str, str]:
    """The tag that sends a run to the Celery queue of the GPU's host; none where its host has no queue."""
    _, host = host_of(gpu)
    return {QUEUE_TAG: host.queue} if isinstance(host, CeleryHost) else {}
