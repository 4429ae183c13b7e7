"""Dagster's SQLite event log with connections that stay open and batches: the same files, the same rows, less CPU.

Upstream makes a new engine and a new connection for every statement block, so that SQLAlchemy compiles every
statement anew: half of what a cell of a backfill costs (`make bench` prints both). This keeps the engines of the index
and of the latest runs, one connection a thread; it looks once, not with every event, whether the tables have what they
have; and it stores the events of a batch, those of all partitions of a run, in one transaction a file, as upstream does
on PostgreSQL. It overrides private methods of the pinned Dagster; when Dagster is upgraded, tests/io/test_event_log.py
says whether they still hold. To do without it, remove event_log_storage from the instance's dagster.yaml: the files are
those of upstream's default.
"""

import itertools
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as db
from dagster._core.events import ASSET_EVENTS
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.pool import SingletonThreadPool

BUSY_TIMEOUT_S = 60
N_KEPT = 4

BATCH_SIZE = "DAGSTER_EVENT_BATCH_SIZE"
"""Dagster's own variable: how many events of a run it hands over at once. Unset, it hands them over one by one."""

N_IN_BATCH = "1000"


class PooledSqliteEventLogStorage(SqliteEventLogStorage):
    """Upstream's storage under $DAGSTER_HOME/history/runs, with the engines of the ``N_KEPT`` latest shards kept."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None):
        self._engines: OrderedDict[str, db.Engine] = OrderedDict()
        self._found: set[str] = set()
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Takes no configuration."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: dict[str, Any]
    ) -> "PooledSqliteEventLogStorage":
        """The storage of the instance in DAGSTER_HOME, where upstream's default keeps it too.

        Whoever opens it writes in batches from then on, unless the environment says otherwise.
        """
        os.environ.setdefault(BATCH_SIZE, N_IN_BATCH)
        return cls(str(Path(os.environ["DAGSTER_HOME"]) / "history" / "runs"), inst_data)

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events in their order; consecutive ones about assets of one run together: all of them, or none."""
        for (run_id, is_about_asset), group in itertools.groupby(events, lambda e: (e.run_id, _is_about_asset(e))):
            if is_about_asset:
                self._store_together(run_id, list(group))
            else:
                for event in group:
                    self.store_event(event)

    def _store_together(self, run_id: str, events: Sequence[dg.EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        insert = SqlEventLogStorageTable.insert()
        with_ids = insert.returning(SqlEventLogStorageTable.c.id, sort_by_parameter_order=True)
        with self._db_lock, self._opened(run_id) as shard, self._opened(INDEX_SHARD_NAME) as index:
            shard.execute(insert, rows)
            ids = list(index.execute(with_ids, rows).scalars())
            self._store_asset_event_tags(index, events, ids)
            # Of an asset and type the last one alone stays in the row of the asset.
            last = {(e.get_dagster_event().asset_key, e.dagster_event_type): at for at, e in enumerate(events)}
            for at in sorted(last.values()):
                self._store_asset_event(index, events[at], ids[at])

    def has_table(self, table_name: str) -> bool:
        """Whether the index has a table; one that was there once is not looked for again."""
        upstream = super().has_table
        return self._is_there(table_name, lambda: upstream(table_name))

    def _has_asset_key_col_on_connection(self, conn: db.Connection, column_name: str) -> bool:
        upstream = super()._has_asset_key_col_on_connection
        return self._is_there(f"asset key {column_name}", lambda: upstream(conn, column_name))

    def _is_there(self, name: str, look: Callable[[], bool]) -> bool:
        if name not in self._found and look():
            self._found.add(name)
        return name in self._found

    @contextmanager
    def _connect(self, shard: str) -> Iterator[db.Connection]:
        with self._db_lock, self._opened(shard) as connection:
            yield connection

    @contextmanager
    def _opened(self, shard: str) -> Iterator[db.Connection]:
        """A transaction in the shard, committed at the end; the caller holds the lock."""
        engine = self._engine(shard)
        if shard not in self._initialized_dbs:
            self._initdb(engine)
            self._initialized_dbs.add(shard)
        with engine.connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> db.Engine:
        """The shard's engine; of more than ``N_KEPT`` the one that was not used for longest is closed."""
        if shard not in self._engines:
            self._engines[shard] = db.create_engine(
                self.conn_string_for_shard(shard),
                poolclass=SingletonThreadPool,
                connect_args={"timeout": BUSY_TIMEOUT_S},
            )
        self._engines.move_to_end(shard)
        if len(self._engines) > N_KEPT:
            _, oldest = self._engines.popitem(last=False)
            oldest.dispose()
        return self._engines[shard]

    def dispose(self) -> None:
        """Close every connection."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()
        super().dispose()


def _is_about_asset(event: dg.EventLogEntry) -> bool:
    return event.is_dagster_event and event.dagster_event_type in ASSET_EVENTS
