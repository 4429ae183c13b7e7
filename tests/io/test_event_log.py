"""The pooled event log is upstream's: the same files, the same events, read by either."""

import threading
from pathlib import Path

import dagster as dg
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from resources.dagster_runs import open_instance
from resources.event_log import N_KEPT, PooledSqliteEventLogStorage


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


def test_an_upgrade_of_dagster_must_look_at_the_overridden_method():
    assert hasattr(SqliteEventLogStorage, "_connect")
    assert dg.__version__ == "1.13.27"
