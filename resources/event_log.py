"""Dagster's SQLite event log with connections that stay open: the same files, the same rows, less CPU.

Upstream makes a new engine and a new connection for every statement block, so that SQLAlchemy compiles every
statement anew: half of what a cell of a backfill costs (`make bench` prints both). This keeps the engines of the index
and of the latest runs, one connection a thread. It overrides one private method of the pinned Dagster; when Dagster
is upgraded, tests/io/test_event_log.py says whether that still holds. To do without it, remove event_log_storage from
the instance's dagster.yaml: the files are those of upstream's default.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as db
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.pool import SingletonThreadPool

BUSY_TIMEOUT_S = 60
N_KEPT = 4


class PooledSqliteEventLogStorage(SqliteEventLogStorage):
    """Upstream's storage under $DAGSTER_HOME/history/runs, with the engines of the ``N_KEPT`` latest shards kept."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None):
        self._engines: OrderedDict[str, db.Engine] = OrderedDict()
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Takes no configuration."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: dict[str, Any]
    ) -> "PooledSqliteEventLogStorage":
        """The storage of the instance in DAGSTER_HOME, where upstream's default keeps it too."""
        return cls(str(Path(os.environ["DAGSTER_HOME"]) / "history" / "runs"), inst_data)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[db.Connection]:
        with self._db_lock:
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
