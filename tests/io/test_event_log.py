"""The pooled event log is upstream's: the same files, the same events, read by either."""

import os
import sqlite3
import threading
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from resources.dagster_runs import open_instance
from resources.event_log import BATCH_SIZE, N_KEPT, PooledSqliteEventLogStorage


@dg.asset(partitions_def=dg.StaticPartitionsDefinition(["a", "b"]))
def thing():
    return 1


def materialize(home: Path, partition: str) -> str:
    with open_instance(home) as instance:
        assert isinstance(instance.event_log_storage, PooledSqliteEventLogStorage)
        return dg.materialize([thing], instance=instance, partition_key=partition).run_id


def types_of(storage: SqliteEventLogStorage, run_id: str) -> list[str]:
    return [e.dagster_event_type.value for e in storage.get_logs_for_run(run_id) if e.dagster_event_type]


def test_upstream_reads_what_the_pooled_log_wrote(tmp_path):
    run_id = materialize(tmp_path, "a")
    upstream = SqliteEventLogStorage(str(tmp_path / "dagster/history/runs"))
    types = types_of(upstream, run_id)
    assert {"ASSET_MATERIALIZATION_PLANNED", "ASSET_MATERIALIZATION"} <= set(types)
    assert types[-1] == "PIPELINE_SUCCESS"
    assert upstream.get_materialized_partitions(dg.AssetKey("thing")) == {"a"}


def test_the_pooled_log_reads_what_upstream_wrote(tmp_path):
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster/dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with dg.DagsterInstance.from_config(str(tmp_path / "dagster")) as instance:
        assert type(instance.event_log_storage) is not PooledSqliteEventLogStorage
        run_id = dg.materialize([thing], instance=instance, partition_key="b").run_id
    pooled = PooledSqliteEventLogStorage(str(tmp_path / "dagster/history/runs"))
    assert "ASSET_MATERIALIZATION" in types_of(pooled, run_id)
    pooled.dispose()


def test_engines_do_not_pile_up_over_many_runs(tmp_path):
    with open_instance(tmp_path) as instance:
        for _ in range(N_KEPT + 3):
            dg.materialize([thing], instance=instance, partition_key="a")
        assert len(instance.event_log_storage._engines) == N_KEPT


def test_threads_write_at_once_and_nothing_is_lost(tmp_path):
    with open_instance(tmp_path) as instance:

        def report(thread: int) -> None:
            for i in range(25):
                event = dg.AssetMaterialization("thing", partition=f"{thread}-{i}")
                instance.report_runless_asset_event(event)

        threads = [threading.Thread(target=report, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(instance.get_materialized_partitions(dg.AssetKey("thing"))) == 100


GRID = dg.MultiPartitionsDefinition(
    {"gpu": dg.StaticPartitionsDefinition(["h100"]), "step": dg.StaticPartitionsDefinition(["a", "b", "c"])}
)
KEYS = ["h100|a", "h100|b", "h100|c"]


@dg.asset(partitions_def=GRID, backfill_policy=dg.BackfillPolicy.single_run())
def many():
    return dg.MaterializeResult(data_version=dg.DataVersion("1"))


def backfill(home: Path) -> str:
    """One run of every partition of ``many``."""
    tags = {"dagster/asset_partition_range_start": KEYS[0], "dagster/asset_partition_range_end": KEYS[-1]}
    with open_instance(home) as instance:
        job = dg.Definitions(assets=[many]).resolve_implicit_global_asset_job_def()
        return job.execute_in_process(instance=instance, tags=tags).run_id


def stored(home: Path, shard: str, query: str) -> list[tuple]:
    with sqlite3.connect(home / "dagster/history/runs" / f"{shard}.db") as database:
        found = database.execute(query).fetchall()
    database.close()
    return found


def materialized_in(home: Path, shard: str) -> list[str]:
    """Sorted: Dagster hands the partitions over in no order."""
    return sorted(row[2] for row in stored(home, shard, EVENTS) if row[0] == "ASSET_MATERIALIZATION")


EVENTS = "SELECT dagster_event_type, asset_key, partition, step_key FROM event_logs ORDER BY id"
TAGS = """SELECT l.partition, t.key, t.value FROM asset_event_tags t JOIN event_logs l ON l.id = t.event_id
    WHERE t.key != 'dagster/input_event_pointer'"""
LATEST = """SELECT json_extract(last_materialization, '$.storage_id') = (SELECT max(id) FROM event_logs
    WHERE dagster_event_type = 'ASSET_MATERIALIZATION'), asset_key FROM asset_keys"""


def test_a_batch_stores_the_rows_that_single_events_do(tmp_path, monkeypatch):
    rows = []
    for size in ("0", "1000"):
        monkeypatch.setenv(BATCH_SIZE, size)
        run_id = backfill(tmp_path / size)
        shards = [sorted(stored(tmp_path / size, shard, EVENTS), key=str) for shard in (run_id, "index")]
        rows.append((shards, sorted(stored(tmp_path / size, "index", TAGS)), stored(tmp_path / size, "index", LATEST)))
    assert rows[0] == rows[1]
    assert rows[1][2] == [(1, '["many"]')]
    assert materialized_in(tmp_path / "1000", "index") == KEYS
    assert [row[::2] for row in rows[1][1] if row[1] == "dagster/partition/step"] == list(zip(KEYS, "abc", strict=True))


def test_a_batch_that_fails_halfway_leaves_nothing_and_its_events_are_stored_one_by_one(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(PooledSqliteEventLogStorage, "_store_together", half_then_fail)
    run_id = backfill(tmp_path)
    assert "half" in capfd.readouterr().err
    for shard in (run_id, "index"):
        assert materialized_in(tmp_path, shard) == KEYS


def half_then_fail(self, run_id, events, whole=PooledSqliteEventLogStorage._store_together):
    def fail(*_):
        raise OSError("half")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(self, "_store_asset_event_tags", fail)
        whole(self, run_id, events)


def test_whoever_opens_the_instance_writes_in_batches_unless_told_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv(BATCH_SIZE, raising=False)
    with open_instance(tmp_path) as instance:
        assert instance.event_log_storage is not None
        assert os.environ[BATCH_SIZE] == "1000"
    monkeypatch.setenv(BATCH_SIZE, "0")
    with open_instance(tmp_path) as instance:
        assert instance.event_log_storage is not None
        assert os.environ[BATCH_SIZE] == "0"


@pytest.mark.parametrize(
    "name", ["_connect", "store_event_batch", "has_table", "_has_asset_key_col_on_connection", "_event_to_row"]
)
def test_an_upgrade_of_dagster_must_look_at_the_overridden_methods(name):
    assert hasattr(SqliteEventLogStorage, name)
    assert dg.__version__ == "1.13.27"
