"""Partitions whose latest run ended before their asset was made: it failed, was killed, or was stopped.

Belongs here: asking the event log, as Dagster itself does for the colour of a partition. Not here: what is asked for
then (pipeline/automation/catch_up_sensor.py).
"""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import dagster as dg

N_A_QUERY = 500


@dataclass(frozen=True)
class Unmade:
    """A partition ("" of an asset that has none), the run that did not make it, and when that ended (UTC)."""

    partition: str
    run: dg.DagsterRun
    ended_at: dt.datetime


def unmade_partitions(
    instance: dg.DagsterInstance, asset: str, statuses: Collection[dg.DagsterRunStatus]
) -> list[Unmade]:
    """Of an asset with partitions: those whose latest run ended so without making them, by partition."""
    found = instance.event_log_storage.get_latest_asset_partition_materialization_attempts_without_materializations(
        dg.AssetKey(asset)
    )
    records = _ended(instance, {run_id for run_id, _ in found.values()}, statuses)
    return [_unmade(key, records[run_id]) for key, (run_id, _) in sorted(found.items()) if run_id in records]


def unmade_asset(instance: dg.DagsterInstance, asset: str, statuses: Collection[dg.DagsterRunStatus]) -> list[Unmade]:
    """Of an asset without partitions: one entry where its latest run ended so without making it, else none."""
    key = dg.AssetKey(asset)
    planned = instance.event_log_storage.get_latest_planned_materialization_info(key)
    made = instance.get_latest_materialization_event(key)
    if planned is None or (made is not None and made.run_id == planned.run_id):
        return []
    return [_unmade("", record) for record in _ended(instance, {planned.run_id}, statuses).values()]


def _ended(
    instance: dg.DagsterInstance, run_ids: Iterable[str], statuses: Collection[dg.DagsterRunStatus]
) -> dict[str, dg.RunRecord]:
    """The records of those runs that ended so, by run id; a run that was deleted has none."""
    return {record.dagster_run.run_id: record for record in _records(instance, sorted(run_ids), list(statuses))}


def _records(
    instance: dg.DagsterInstance, run_ids: list[str], statuses: list[dg.DagsterRunStatus]
) -> Iterator[dg.RunRecord]:
    for start in range(0, len(run_ids), N_A_QUERY):
        yield from instance.get_run_records(dg.RunsFilter(run_ids[start : start + N_A_QUERY], statuses=statuses))


def _unmade(partition: str, record: dg.RunRecord) -> Unmade:
    ended = record.update_timestamp if record.end_time is None else dt.datetime.fromtimestamp(record.end_time, dt.UTC)
    return Unmade(partition, record.dagster_run, ended.astimezone(dt.UTC))
