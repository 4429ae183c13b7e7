"""When a run was asked for. Not here: how it ended (past_runs.py)."""

import datetime as dt

import dagster as dg

RETRY_NUMBER_TAG = "dagster/retry_number"
"""Set by the daemon on a run that takes the place of one whose process died, and not by a person who repeats a run."""


def asked_at(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dt.datetime | None:
    """When a run was put into the queue, in UTC; None of a run that the instance does not hold.

    A run that the daemon repeats was asked for with the first one. The instance's own note, and no tag: whoever
    repeats a run in the UI copies its tags.
    """
    first = run.root_run_id if RETRY_NUMBER_TAG in run.tags else None
    record = instance.get_run_record_by_id(first or run.run_id) or instance.get_run_record_by_id(run.run_id)
    return record.create_timestamp.astimezone(dt.UTC) if record else None
