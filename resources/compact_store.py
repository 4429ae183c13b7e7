"""The cell files of one GPU in one file a table: what pages and downloads read, so that a year is read in no time.

The cell files stay the truth. A compacted file holds the hash of every cell file whose rows it has; the rows of a cell
whose file has another hash by now, or that it does not know, are read from the cell file, and what it holds of a cell
that is no more is left out. So it can be late, damaged or gone, and nobody sees it.
"""

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import StoreError
from pipeline.tables.columns import Table
from resources.atomic_files import sha256_of, write_bytes
from resources.result_store import ResultStore, parquet_rows, read_parquet

CELLS = b"frontier/cells"
"""Metadata of a compacted file: JSON list of [run date, SHA-256 of the cell file, number of rows], in their order."""

LATE = "Run frontier store compact; it is made again from the cell files."


@dataclass(frozen=True)
class Part:
    """The rows of one cell, and the hash of the file that they are from."""

    sha256: str
    rows: pa.Table


@dataclass(frozen=True)
class Compacted:
    """All rows of one table of one GPU by run date; ``n_read`` of ``n_cells`` were not in the compacted file."""

    rows: pa.Table
    n_cells: int
    n_read: int


class CompactStore(dg.ConfigurableResource):
    """Compacted files of the stages under ``root_dir``: compact/<gpu>/<stage>.<table>.parquet."""

    root_dir: str

    def read(self, stage: str, gpu: str, table: Table) -> pa.Table:
        """Every row of one table of one GPU by run date, as its cell files have them now. Raises StoreError."""
        return self.compact(stage, gpu, table).rows

    def compact(self, stage: str, gpu: str, table: Table) -> Compacted:
        """The same, with counts; the compacted file is written where it was late. Raises StoreError.

        A cell file is hashed and read from the same bytes, so what replaces it meanwhile is noticed the next time.
        """
        held, parts, n_read = self._held(stage, gpu, table), {}, 0
        for run_date, path in self._cell_files(stage, gpu, table):
            content = path.read_bytes()
            sha256, known = sha256_of(content), held.get(run_date)
            if known is None or known.sha256 != sha256:
                known = Part(sha256, table.cast(parquet_rows(content, path, table)))
                n_read += 1
            parts[run_date] = known
        rows = pa.concat_tables([part.rows for part in parts.values()] or [table.empty()]).combine_chunks()
        if n_read or parts.keys() != held.keys():
            self._write(self.path(stage, gpu, table), rows, parts)
        return Compacted(rows, len(parts), n_read)

    def path(self, stage: str, gpu: str, table: Table) -> Path:
        """Where one compacted file is, whether it exists or not."""
        return Path(self.root_dir) / "compact" / gpu / f"{stage}.{table.name}.parquet"

    def _cell_files(self, stage: str, gpu: str, table: Table) -> Iterator[tuple[str, Path]]:
        """Run date and file of every cell, by run date."""
        for path in ResultStore(root_dir=self.root_dir).paths(stage, gpu, table):
            yield path.parent.name, path

    def _held(self, stage: str, gpu: str, table: Table) -> dict[str, Part]:
        """What the compacted file holds by run date; nothing where it is not there, damaged or of another schema."""
        path = self.path(stage, gpu, table)
        if not path.is_file():
            return {}
        try:
            rows = read_parquet(path, table, LATE)
            cells = json.loads(rows.schema.metadata[CELLS])
        except (StoreError, KeyError, TypeError, ValueError):
            return {}
        return _split(table.cast(rows), cells)

    def _write(self, path: Path, rows: pa.Table, parts: Mapping[str, Part]) -> None:
        if not parts:
            path.unlink(missing_ok=True)
            return
        cells = json.dumps([[run_date, part.sha256, part.rows.num_rows] for run_date, part in parts.items()])
        sink = io.BytesIO()
        pq.write_table(rows.replace_schema_metadata({CELLS: cells}), sink, compression="zstd", write_page_checksum=True)
        write_bytes(path, sink.getvalue())


def _split(rows: pa.Table, cells: list[tuple[str, str, int]]) -> dict[str, Part]:
    """The rows of every cell; none where the counts do not add up to what is there."""
    found, start = {}, 0
    for run_date, sha256, n_rows in cells:
        found[run_date] = Part(sha256, rows.slice(start, n_rows))
        start += n_rows
    return found if start == rows.num_rows else {}
