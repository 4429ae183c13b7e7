"""Runs whose process is gone without a word: killed, or on a host that was restarted. Dagster shows them as running.

Such a run would hold its GPU's place in the queue for ever. Belongs here: knowing the process of a run of this host,
and closing its record. Not here: what it left on a device (device_lock.py).
"""

import dataclasses
import json
import os
import socket

import dagster as dg
import psutil

from resources.processes import Known, known

PROCESS_TAG = "frontier/process"
GONE = (
    "The process of this run is gone: it was killed, or its host was restarted. What it finished is stored; run the "
    "same again to go on."
)
UNDER_WAY = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def process_tag(pid: int) -> dict[str, str]:
    """The tag by which a process of this host is known again as that of its run. Raises psutil.NoSuchProcess."""
    return {PROCESS_TAG: json.dumps({"host": socket.gethostname(), **dataclasses.asdict(known(pid))})}


def own_process_tag() -> dict[str, str]:
    """The same of this process."""
    return process_tag(os.getpid())


def is_lost(run: dg.DagsterRun) -> bool:
    """Whether the tag names a process of this host that is gone; False where it names none, or one of another host."""
    try:
        told = json.loads(run.tags[PROCESS_TAG])
        host = told.pop("host")
        process = Known(**told)
    except (KeyError, TypeError, ValueError):
        return False
    return bool(host == socket.gethostname() and process.process() is None)


def tag_process(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRun:
    """Tag a run that was launched on this host with the process that it reported, where that lives."""
    pid = None if PROCESS_TAG in run.tags else _reported_pid(instance, run)
    if pid is None:
        return run
    try:
        tag = process_tag(pid)
    except psutil.NoSuchProcess:
        tag = {PROCESS_TAG: json.dumps({"host": socket.gethostname(), "pid": pid, "started_s": -1.0})}
    instance.add_run_tags(run.run_id, tag)
    return run.with_tags({**run.tags, **tag})


def close_lost_runs(instance: dg.DagsterInstance) -> list[str]:
    """Record as failed what is recorded as running and is gone; returns the run ids."""
    lost = [run for run in instance.get_runs(dg.RunsFilter(statuses=UNDER_WAY)) if is_lost(run)]
    for run in lost:
        instance.report_run_failed(run, GONE)
    return [run.run_id for run in lost]


def _reported_pid(instance: dg.DagsterInstance, run: dg.DagsterRun) -> int | None:
    """The pid that the run's own process told, None before it did."""
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        event = entry.dagster_event
        pid = event.engine_event_data.metadata.get("pid") if event else None
        if pid is not None:
            return int(str(pid.value))
    return None
