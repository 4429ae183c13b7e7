"""Files of one table that were written before a column was added to it."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import StoreError
from pipeline.tables.columns import Table, count, day
from resources.result_store import read_parquet
from resources.warehouse import Warehouse

COLUMNS = (count("n", "a count", nullable=False), day("since", "a day"))
NEW = Table("t", "one row", COLUMNS, ("n",), added_later=("since",))
STRICT = Table("t", "one row", COLUMNS, ("n",))
DAY = 20_000


@pytest.fixture
def files(tmp_path):
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    pq.write_table(pa.table({"n": pa.array([1], pa.int64())}), old)
    pq.write_table(pa.table({"n": pa.array([2], pa.int64()), "since": pa.array([DAY], pa.date32())}), new)
    return old, new


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_column_added_later_is_null_in_older_files_and_kept_in_newer_ones(files, order):
    rows = Warehouse().read(NEW, [files[n] for n in order]).sort_by("n")
    assert rows["n"].to_pylist() == [1, 2]
    assert rows["since"].cast(pa.int32()).to_pylist() == [None, DAY]


def test_only_old_files_read_as_nulls(files):
    assert Warehouse().read(NEW, files[:1])["since"].to_pylist() == [None]
    assert read_parquet(files[0], NEW)["since"].to_pylist() == [None]


def test_a_column_that_was_always_there_is_never_filled_in(files):
    with pytest.raises(StoreError, match="since is missing"):
        read_parquet(files[0], STRICT)
    with pytest.raises(StoreError, match="since is missing"):
        Warehouse().read(STRICT, files)


@pytest.mark.parametrize(
    ("strange", "words"),
    [
        ({"x": pa.array([1])}, "t.n is missing"),
        ({"n": pa.array(["one"]), "since": pa.array([DAY], pa.date32())}, "t.n: expected int64, found string"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2,)])
def test_a_file_of_another_table_is_named_wherever_it_stands(files, tmp_path, strange, words, order):
    other = tmp_path / "strange.parquet"
    pq.write_table(pa.table(strange), other)
    with pytest.raises(StoreError) as told:
        Warehouse().read(NEW, [(*files, other)[n] for n in order])
    assert str(told.value).startswith(f"{other}: {words}")
