"""Compaction and retention of one home folder: what the store's commands call. The rules are retention.py's."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from assets.frontier import FRONTIER
from assets.site import STORED
from pipeline.cell import GpuRun
from pipeline.definitions import Outside
from pipeline.frontier.across import newest_curves, page_points
from pipeline.registry.registry import require
from pipeline.registry.shipped import shipped_registry, shipped_renamed
from pipeline.retention import cells_of, first_kept_day, prunable
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from resources.compact_store import Compacted
from resources.result_store import RAW
from resources.run_history import RunHistory
from resources.store_files import OldFile

DAY_S = 24 * 3600


@dataclass(frozen=True)
class Housekeeping:
    """The store and the instance of one home folder."""

    outside: Outside
    instance: dg.DagsterInstance
    instance_folder: Path

    def compact(self, gpu: str) -> Iterator[tuple[str, Compacted]]:
        """Compact the tables of one GPU, or of all for "", by stage and name. Raises RegistryError, StoreError."""
        slug = require(shipped_registry().gpus, gpu, kind="gpu", where="store compact") if gpu else ""
        for table, stage in STORED.items():
            for name in self.outside.result_store.gpus(stage):
                if slug in ("", name):
                    yield f"{name} {table.name}", self.outside.compact_store.compact(stage, name, table)

    def old_files(self, older_than_days: int) -> list[OldFile]:
        """Files that may go, of a day and written so long ago.

        Raises FrontierError for less than one day, StoreError for a damaged file.
        """
        first_kept = first_kept_day(self.outside.clock.today(), older_than_days)
        before_s = self.outside.clock.now().timestamp() - older_than_days * DAY_S
        files = self.outside.store_files
        cells = prunable(files.cells(), self._behind_pages(), first_kept)
        return [*files.request_rows(cells, before_s), *files.never_finished(before_s), *files.left_over(before_s)]

    def remove_files(self, files: Sequence[OldFile]) -> None:
        """Delete what old_files found, first from the object store where one is named. Raises StoreError."""
        self.outside.sweep_store.drop_there(file.path for file in files)
        self.outside.store_files.remove(files)

    def old_runs(self, older_than_days: int) -> list[str]:
        """Ids of runs that may go. Raises FrontierError for less than one day."""
        first_kept = first_kept_day(self.outside.clock.today(), older_than_days)
        return self._history.removable(dt.datetime.combine(first_kept, dt.time(), dt.UTC))

    def remove_runs(self, run_ids: Sequence[str]) -> int:
        """Delete what old_runs found; returns the bytes that the disk got back. Raises StoreError."""
        return self._history.remove(run_ids)

    @property
    def _history(self) -> RunHistory:
        return RunHistory(self.instance, self.instance_folder)

    def _behind_pages(self) -> set[GpuRun]:
        """The cells that pages stand on, also by the names that their GPU had before: its files keep them."""
        found: set[GpuRun] = set()
        read = self.outside.compact_store.read
        for gpu in self.outside.result_store.gpus(RAW):
            with self.outside.warehouse.connect() as connection:
                knots = newest_curves(connection, read(FRONTIER, gpu, KNOTS))
                points = page_points(connection, read(RAW, gpu, POINTS), knots, shipped_registry().agentic_workloads)
            found |= cells_of(points)
        former = shipped_renamed().former_gpus
        return found | {GpuRun(old, cell.run_date) for cell in found for old in former(cell.gpu)}
