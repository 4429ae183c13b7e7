"""Old runs of the Dagster instance: which may go, and deleting them with all that they left.

Upstream deletes a run's rows, but leaves its own event file, its captured logs and the space in its SQLite files; a
year of runs every quarter of an hour is 35,000 of those. A run stays for ever where something reads it later:

* it holds the latest materialization, observation or request of some partition: the UI's status, data versions and
  automation (which asks for nothing after a failure, as long as it sees the failure) come from it;
* it has a run key: Dagster asks for a key once, as long as it finds the run.
"""

import datetime as dt
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from pipeline.errors import StoreError

FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
READ_LATER = (
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_OBSERVATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
)
RUN_KEY_TAG = "dagster/run_key"
N_A_QUERY = 500
BUSY_TIMEOUT_S = 60


@dataclass(frozen=True)
class RunHistory:
    """The runs of one instance. ``folder`` is its DAGSTER_HOME."""

    instance: dg.DagsterInstance
    folder: Path

    def removable(self, before: dt.datetime) -> list[str]:
        """Ids of finished runs that were created before a moment and that nothing reads later, oldest first."""
        old = self.instance.get_runs(dg.RunsFilter(statuses=FINISHED, created_before=before))
        kept = self._read_later() if old else set()
        return [run.run_id for run in reversed(old) if run.run_id not in kept and RUN_KEY_TAG not in run.tags]

    def remove(self, run_ids: Iterable[str]) -> int:
        """Delete runs, their events and their captured logs; returns the bytes that the disk got back.

        Raises StoreError where a daemon or a run keeps a file busy for a minute.
        """
        before = self._n_bytes()
        for run_id in run_ids:
            self.instance.delete_run(run_id)
            self.instance.compute_log_manager.delete_logs(prefix=[run_id])
            for path in self._event_files(run_id):
                path.unlink(missing_ok=True)
        for path in self._databases():
            _vacuum(path)
        return before - self._n_bytes()

    def _databases(self) -> list[Path]:
        """The SQLite files that runs share; none where the store is another one."""
        found = (path for path in sorted(self.folder.rglob("*.db")) if path.stat().st_size)
        return [path for path in found if path.parent.name != "runs" or path.stem == "index"]

    def _n_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def _event_files(self, run_id: str) -> list[Path]:
        """The run's own event file with its companions; none where the store is no SQLite."""
        storage = self.instance.event_log_storage
        if not isinstance(storage, SqliteEventLogStorage):
            return []
        path = Path(storage.path_for_shard(run_id))
        return [path.with_name(f"{path.name}{ending}") for ending in ("", "-wal", "-shm")]

    def _read_later(self) -> set[str]:
        """Ids of the runs that hold the latest event of each kind, of every partition of every asset."""
        return {
            run_id
            for key in self.instance.get_asset_keys()
            for kind in READ_LATER
            for run_id in (*self._latest_of_partitions(key, kind), *self._latest(key, kind))
        }

    def _latest_of_partitions(self, key: dg.AssetKey, kind: dg.DagsterEventType) -> Iterator[str]:
        ids = sorted(self.instance.event_log_storage.get_latest_storage_id_by_partition(key, kind).values())
        for start in range(0, len(ids), N_A_QUERY):
            yield from self._runs_of(dg.EventRecordsFilter(kind, key, storage_ids=ids[start : start + N_A_QUERY]))

    def _latest(self, key: dg.AssetKey, kind: dg.DagsterEventType) -> Iterator[str]:
        yield from self._runs_of(dg.EventRecordsFilter(kind, key), limit=1)

    def _runs_of(self, wanted: dg.EventRecordsFilter, limit: int | None = None) -> Iterator[str]:
        records = self.instance.event_log_storage.get_event_records(wanted, limit=limit)
        yield from (record.event_log_entry.run_id for record in records)


def _vacuum(path: Path) -> None:
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        raise StoreError(
            f"its space is not given back ({error})",
            where=str(path),
            next_step="What was deleted is deleted. Stop the daemon and the UI, then run the same command again.",
        ) from error
    finally:
        connection.close()
