"""The compacted file of a GPU: the same rows as its cell files, few files read, and never a row that no cell has."""

import datetime as dt
import json

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.tables.points import POINTS
from resources.compact_store import CELLS, CompactStore
from resources.result_store import ResultStore, parquet_bytes
from resources.warehouse import read_files
from tests.unit.frontier.point_rows import curve, points_table

CURVE = ((60.0, 9000.0), (90.0, 7000.0))
FIRST = dt.date(2026, 10, 1)


@pytest.fixture
def cells(tmp_path) -> ResultStore:
    """Three days of two points."""
    store = ResultStore(root_dir=str(tmp_path))
    for n in range(3):
        put(store, n, *CURVE)
    return store


@pytest.fixture
def compact(tmp_path) -> CompactStore:
    return CompactStore(root_dir=str(tmp_path))


def put(store, n, *pairs):
    day = FIRST + dt.timedelta(n)
    store.write("raw", GpuRun("b300", day), POINTS, points_table(curve(*pairs, run_id=f"r{n}", run_date=day)))


def from_cells(store) -> pa.Table:
    with duckdb.connect(":memory:") as connection:
        return read_files(connection, POINTS, store.paths("raw", "b300", POINTS))


def compacted(compact):
    return compact.compact("raw", "b300", POINTS)


def test_the_rows_are_those_of_the_cell_files_in_the_order_of_the_days(cells, compact):
    first, second = compacted(compact), compacted(compact)
    assert first.rows["point_id"].to_pylist() == ["r00", "r01", "r10", "r11", "r20", "r21"]
    for found in (first, second):
        assert found.rows.equals(from_cells(cells))
        assert found.rows.schema.equals(POINTS.schema, check_metadata=True)
    assert [(found.n_cells, found.n_read) for found in (first, second)] == [(3, 3), (3, 0)]


def test_only_a_cell_that_changed_is_read_again(cells, compact):
    compacted(compact)
    put(cells, 1, (60.0, 8000.0))
    found = compacted(compact)
    assert found.n_read == 1
    assert found.rows["point_id"].to_pylist() == ["r00", "r01", "r10", "r20", "r21"]
    assert found.rows.equals(from_cells(cells))


def test_a_new_cell_is_read_in_its_place_and_a_deleted_one_is_gone(cells, compact):
    compacted(compact)
    put(cells, -1, (60.0, 8000.0))
    cells.path("raw", GpuRun("b300", FIRST), POINTS).unlink()
    found = compacted(compact)
    assert (found.n_cells, found.n_read) == (3, 1)
    assert found.rows["point_id"].to_pylist() == ["r-10", "r10", "r11", "r20", "r21"]
    assert compacted(compact).n_read == 0


def test_an_empty_cell_is_known_as_one(cells, compact):
    put(cells, 3)
    assert (compacted(compact).n_read, compacted(compact).n_read) == (4, 0)


def test_a_file_that_was_put_back_is_read_as_it_is_now(cells, compact):
    path = cells.path("raw", GpuRun("b300", FIRST), POINTS)
    before = path.read_bytes()
    put(cells, 0, (60.0, 1.0))
    compacted(compact)
    path.write_bytes(before)
    assert compacted(compact).rows.equals(from_cells(cells))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"PAR1"),
        lambda path: path.write_bytes(flipped(path.read_bytes())),
        lambda path: path.write_bytes(parquet_bytes(pq.read_table(path).replace_schema_metadata(None))),
        lambda path: path.write_bytes(parquet_bytes(pq.read_table(path).slice(1))),
        lambda path: path.write_bytes(parquet_bytes(pq.read_table(path).drop_columns("model"))),
    ],
    ids=["gone", "cut", "a flipped bit", "no hashes", "rows missing", "another schema"],
)
def test_a_damaged_compacted_file_is_never_seen_and_made_again(cells, compact, damage):
    compacted(compact)
    damage(compact.path("raw", "b300", POINTS))
    assert compacted(compact).rows.equals(from_cells(cells))
    assert compacted(compact).n_read == 0


def flipped(content: bytes) -> bytes:
    """The same with one bit of the first data page turned."""
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


def test_a_damaged_cell_file_is_named(cells, compact):
    compacted(compact)
    cells.path("raw", GpuRun("b300", FIRST), POINTS).write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"2026-10-01/points\.parquet: not a readable Parquet file"):
        compacted(compact)


def test_without_a_cell_there_are_no_rows_and_no_file(cells, compact):
    compacted(compact)
    for path in cells.paths("raw", "b300", POINTS):
        path.unlink()
    assert compacted(compact).rows.equals(POINTS.empty())
    assert not compact.path("raw", "b300", POINTS).exists()


def test_the_file_names_every_cell_with_the_hash_of_its_file(cells, compact):
    compacted(compact)
    said = json.loads(pq.read_schema(compact.path("raw", "b300", POINTS)).metadata[CELLS])
    assert [(day, n_rows) for day, _, n_rows in said] == [("2026-10-01", 2), ("2026-10-02", 2), ("2026-10-03", 2)]
