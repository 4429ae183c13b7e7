"""The log of what publications changed: one Parquet file, in order, that only grows."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pyarrow as pa

from pipeline.errors import StoreError
from pipeline.pages.formats import counted
from pipeline.tables.changes import CHANGES
from resources.atomic_files import write_bytes
from resources.result_store import error_in, parquet_bytes, read_parquet

LAST_COPY = (
    "It is the only history of what was published and cannot be derived again: do not delete it. The last published "
    "copy is site/data/changes.parquet of the home folder; put that in its place."
)


class ChangeLog(dg.ConfigurableResource):
    """CHANGES under ``root_dir``/changes/changes.parquet."""

    root_dir: str

    @property
    def path(self) -> Path:
        """The file of the log."""
        return Path(self.root_dir) / "changes" / f"{CHANGES.name}.parquet"

    def read(self) -> pa.Table:
        """Every row, oldest first; none before the first publication. Raises StoreError for a damaged file."""
        return CHANGES.cast(read_parquet(self.path, CHANGES, LAST_COPY)) if self.path.exists() else CHANGES.empty()

    def damaged(self) -> Iterator[StoreError]:
        """What is wrong with the log where it cannot be read."""
        yield from error_in(self.path, CHANGES, LAST_COPY)

    def write(self, log: pa.Table) -> bool:
        """Put a longer log in place of the stored one. Returns whether the file changed.

        Raises StoreError where the log does not begin with the stored rows: history is never rewritten.
        """
        stored = self.read()
        if not log.slice(0, stored.num_rows).equals(stored):
            raise StoreError(
                "the new log does not begin with the stored one",
                where=str(self.path),
                expected=f"{counted(stored.num_rows, 'row')} as before",
                next_step="Publish again; if it stays, this is a defect.",
            )
        return write_bytes(self.path, parquet_bytes(log))
