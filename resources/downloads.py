"""The site's data folder: every stored row as Parquet, as CSV and in one read-only DuckDB file, with checksums."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline.pages.data_page import DataFile
from pipeline.pages.paths import DATA_PATH
from pipeline.pages.published_tables import CHECKSUMS_FILE, DATABASE, PUBLISHED, Published, checksums, write_csv
from pipeline.tables.columns import Table
from resources.atomic_files import sha256_of_file
from resources.result_store import write_parquet
from resources.site import SiteFolder


def write_downloads(
    folder: SiteFolder, rows_of: Callable[[Table], pa.Table], texts: Mapping[str, str]
) -> dict[str, DataFile]:
    """Write the files of data/: every table of PUBLISHED, one after the other, and small texts by name.

    Returns what was written, in the order of the page. The database is taken over from the live site where no table
    changed: DuckDB gives equal tables different bytes.
    """
    data, kept = folder.new / DATA_PATH, True
    n_rows: dict[str, int | None] = {}
    for published in PUBLISHED:
        rows = published.table.sorted(published.table.cast(rows_of(published.table)))
        for ending, write in (("parquet", write_parquet), ("csv", write_csv)):
            name = f"{published.file}.{ending}"
            kept &= folder.fill(f"{DATA_PATH}{name}", partial(write, rows))
            n_rows[name] = rows.num_rows
        del rows  # those of the last table would stay while the database is written, which takes most
    if not (kept and _is_whole(folder.live / DATA_PATH) and folder.keep(f"{DATA_PATH}{DATABASE}")):
        _write_database(data)
    for name, text in texts.items():
        folder.write(f"{DATA_PATH}{name}", text)
    n_rows |= dict.fromkeys((DATABASE, *texts))
    found = {name: DataFile((data / name).stat().st_size, sha256_of_file(data / name), n) for name, n in n_rows.items()}
    folder.write(f"{DATA_PATH}{CHECKSUMS_FILE}", checksums({name: file.sha256 for name, file in found.items()}))
    return found


def _is_whole(live: Path) -> bool:
    """Whether the published database is the one that its checksum is of: nothing else ever looks into it again."""
    try:
        sums = (live / CHECKSUMS_FILE).read_text(encoding="utf-8").splitlines()
        return f"{sha256_of_file(live / DATABASE)}  {DATABASE}" in sums
    except OSError:
        return False


def _write_database(folder: Path) -> None:
    path = folder / DATABASE
    with duckdb.connect(str(path), config={"threads": 1}) as connection:  # each holds blocks of its own until the end
        connection.begin()  # one by one, hundreds of comments are hundreds of commits: half of a small publication
        for published in PUBLISHED:
            connection.read_parquet(str(folder / f"{published.file}.parquet")).create(published.table.name)
            _comment(connection, published)
        connection.commit()
    path.chmod(0o444)


def _comment(connection: duckdb.DuckDBPyConnection, published: Published) -> None:
    table: Table = published.table
    for column in table.columns:
        said = f"{column.description} [{column.unit}]" if column.unit else column.description
        quoted = said.replace("'", "''")
        connection.execute(f"COMMENT ON COLUMN {table.name}.{column.name} IS '{quoted}'")
