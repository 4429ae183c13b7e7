"""Old files of a store: which are found, and what stays."""

import datetime as dt
import json
import os

import pytest

from pipeline.cell import GpuRun
from resources.store_files import KILLED_WRITER, NEVER_FINISHED, REQUEST_ROWS, StoreFiles

OLD = GpuRun("h100", dt.date(2026, 10, 1))
NEW = GpuRun("h100", dt.date(2026, 11, 1))
OLD_S, NOW_S, NEW_S = 1_000, 2_000, 3_000


@pytest.fixture
def store(tmp_path):
    """Writes an empty file into a folder of a cell, long ago; ``found`` are the names of what may go."""

    class Store(StoreFiles):
        def put(self, folder: str, *names: str, cell: GpuRun = OLD, written_s: int = OLD_S) -> None:
            for name in names:
                path = tmp_path / folder / cell.gpu / cell.run_date.isoformat() / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("{}")
                os.utime(path, (written_s, written_s))

    return Store(root_dir=str(tmp_path))


def names(files) -> list[str]:
    return [file.path.name for file in files]


def test_rows_of_requests_and_samples_are_found_and_points_are_not(store):
    store.put("raw", "points.parquet", "requests.parquet", "samples.parquet", "runs.parquet", "repeats.parquet")
    store.put("imports", "a1.points.parquet", "a1.requests.parquet")
    store.put("sweeps", "f1.points.parquet", "f1.requests.parquet", "f1.samples.parquet", "f1.repeats.parquet")
    store.put("frontier", "knots.parquet", "readings.parquet")
    found = list(store.request_rows([OLD], NOW_S))
    assert names(found) == [
        *("requests.parquet", "samples.parquet", "a1.requests.parquet", "f1.requests.parquet", "f1.samples.parquet"),
    ]
    assert {(file.kind, file.n_bytes) for file in found} == {(REQUEST_ROWS, 2)}


def test_other_cells_and_files_that_were_written_since_are_left_alone(store):
    store.put("raw", "requests.parquet", cell=NEW)
    store.put("raw", "requests.parquet", written_s=NEW_S)
    assert list(store.request_rows([OLD], NOW_S)) == []


def test_what_lies_beside_no_points_file_was_never_finished(store):
    store.put("sweeps", "f1.points.parquet", "f1.requests.parquet", "f2.requests.parquet", "f2.repeats.parquet")
    store.put("sweeps", "run_1.runs.parquet")
    store.put("sweeps", "f3.requests.parquet", written_s=NEW_S)
    found = list(store.never_finished(NOW_S))
    assert names(found) == ["f2.repeats.parquet", "f2.requests.parquet"]
    assert {file.kind for file in found} == {NEVER_FINISHED}


def test_what_a_killed_writer_left_is_found_wherever_it_is(store):
    store.put("costs", ".tmp-abc", "costs.parquet")
    store.put("raw", ".tmp-def", written_s=NEW_S)
    found = list(store.left_over(NOW_S))
    assert (names(found), {file.kind for file in found}) == ([".tmp-abc"], {KILLED_WRITER})


def test_every_cell_with_a_folder_is_known(store):
    store.put("raw", "points.parquet")
    store.put("sweeps", "f1.points.parquet", cell=NEW)
    assert store.cells() == {OLD, NEW}


def test_what_is_deleted_is_gone_and_the_manifest_says_so(store, tmp_path):
    store.put("raw", "points.parquet", "requests.parquet", "manifest.json")
    store.remove(store.request_rows([OLD], NOW_S))
    folder = tmp_path / "raw" / "h100" / "2026-10-01"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "points.parquet"]
    assert json.loads((folder / "manifest.json").read_text()) == {"pruned": ["requests.parquet"]}
