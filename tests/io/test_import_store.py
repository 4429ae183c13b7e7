"""Imported files: an unreadable one is named with how it is replaced, and importing its source again replaces it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.imports.outcome import Outcome
from pipeline.imports.source import SourceFile
from pipeline.tables.requests import REQUESTS
from resources.import_store import ImportStore
from tests.unit.frontier.point_rows import curve, points_table


def put(store: ImportStore, points: pa.Table) -> GpuRun:
    outcome = Outcome("test", points.num_rows, points, REQUESTS.empty(), (), ())
    (cell,) = store.put(SourceFile(name="a.json", content=b"a"), outcome)
    return cell


def older_version(path: Path) -> None:
    pq.write_table(pq.read_table(path).drop_columns(["client_cpu_cores", "clock_mhz"]), path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("damage", "words"),
    [(older_version, "is missing, and 1 more column of another version"), (cut, "not a readable Parquet file")],
)
def test_an_unreadable_import_is_named_shortly_and_importing_the_same_file_again_replaces_it(tmp_path, damage, words):
    store = ImportStore(root_dir=str(tmp_path))
    points = points_table(curve((60.0, 9000.0), (90.0, 7000.0)))
    cell = put(store, points)
    assert list(store.damaged()) == []
    (path,) = tmp_path.rglob("*.points.parquet")
    damage(path)
    (error,) = store.damaged()
    assert (error.where, words in error.what) == (str(path), True)
    assert "import its source file again" in error.next_step
    put(store, points)
    assert store.read_points(cell).num_rows == 2
    assert list(store.damaged()) == []


def test_an_import_of_an_older_version_still_counts_against_a_smaller_one(tmp_path):
    store = ImportStore(root_dir=str(tmp_path))
    put(store, points_table(curve((60.0, 9000.0), (90.0, 7000.0))))
    older_version(next(tmp_path.rglob("*.points.parquet")))
    with pytest.raises(StoreError, match="gave more points"):
        put(store, points_table(curve((60.0, 9000.0))))
