"""Runs of the instance as a person asks for them afterwards: when, what, why, how it ended, and with which words."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

from pipeline.automation.sweep_requests import WHY_TAG
from pipeline.errors import StoreError

PARTITION_TAG = "dagster/partition"
BY_HAND = "by hand"
N_LINES = 5
"""Lines that are kept of an error which is none of ours."""


@dataclass(frozen=True)
class PastRun:
    """One run. ``why`` is who asked for it; ``seconds`` is None while it has not ended."""

    run_id: str
    job: str
    partition: str
    why: str
    status: str
    created_at: dt.datetime
    seconds: float | None


def past_runs(instance: dg.DagsterInstance, n_runs: int, statuses: list[dg.DagsterRunStatus]) -> list[PastRun]:
    """The newest runs, newest first; of some statuses where any are named."""
    records = instance.get_run_records(dg.RunsFilter(statuses=statuses or None), limit=n_runs)
    return [_past_run(record) for record in records]


def run_of(instance: dg.DagsterInstance, start_of_id: str) -> PastRun:
    """The one run whose id starts so. Raises StoreError for none and for several."""
    start = start_of_id.strip()
    found = [run for run in past_runs(instance, 10_000, []) if start and run.run_id.startswith(start)]
    if len(found) != 1:
        raise StoreError(
            "names no run" if not found else f"names {len(found)} runs",
            where=f"runs {start or repr(start_of_id)}",
            next_step="Take the id from frontier runs.",
        )
    return found[0]


def words_of_failure(instance: dg.DagsterInstance, run_id: str) -> Iterator[str]:
    """What went wrong: the innermost error of every step that failed; the run's own words where no step did."""
    entries = instance.all_logs(run_id, of_type={dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE})
    events = [entry.dagster_event for entry in entries if entry.dagster_event]
    steps = [event for event in events if event.is_step_failure]
    for event in steps:
        words = innermost_words(event, N_LINES)
        yield _first_lines(str(event.message), N_LINES) if words is None else words
    if not steps:
        yield from (str(event.message) for event in events)


def innermost_words(event: dg.DagsterEvent, n_lines: int) -> str | None:
    """The first lines of the innermost error of a step that failed; None where the step tells of none."""
    error = event.step_failure_data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return None if error is None else _first_lines(error.message, n_lines)


def _first_lines(text: str, n_lines: int) -> str:
    return "\n".join(text.strip().splitlines()[:n_lines])


def _past_run(record: dg.RunRecord) -> PastRun:
    run, ended = record.dagster_run, record.end_time
    return PastRun(
        run_id=run.run_id,
        job=_job(run),
        partition=run.tags.get(PARTITION_TAG, ""),
        why=run.tags.get(WHY_TAG) or _asked_by(run),
        status=run.status.value.lower(),
        created_at=record.create_timestamp.astimezone(dt.UTC),
        seconds=ended - record.start_time if ended and record.start_time else None,
    )


def _job(run: dg.DagsterRun) -> str:
    """The job's name; the assets where Dagster made the job for them."""
    if run.job_name.startswith("__ASSET_JOB") and run.asset_selection:
        return "+".join(sorted(key.to_user_string() for key in run.asset_selection))
    return run.job_name


def _asked_by(run: dg.DagsterRun) -> str:
    for tag in ("dagster/schedule_name", "dagster/sensor_name"):
        if tag in run.tags:
            return run.tags[tag]
    return "automation" if "dagster/asset_evaluation_id" in run.tags else BY_HAND
