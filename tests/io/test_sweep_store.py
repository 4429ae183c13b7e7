import datetime as dt

import pytest

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.sweep_store import SweepStore
from tests.unit.frontier.point_rows import point

CELL = GpuRun("h100", dt.date(2026, 11, 1))


def test_a_point_is_there_once_it_was_put_and_only_in_its_cell(tmp_path):
    store = SweepStore(root_dir=str(tmp_path))
    assert not store.has(CELL, "f1")
    store.put(CELL, "f1", point(50.0, 900.0, point_id="a"), {})
    assert store.has(CELL, "f1")
    assert store.read(CELL, POINTS)["point_id"].to_pylist() == ["a"]
    assert store.read(GpuRun("b300", CELL.run_date), POINTS).num_rows == 0


def test_points_of_an_earlier_plan_are_removed_and_counted(tmp_path):
    store = SweepStore(root_dir=str(tmp_path))
    for name in ("f1", "f2", "f3"):
        store.put(CELL, name, point(50.0, 900.0, point_id=name, provenance="simulated"), {})
    assert store.keep_only(CELL, "measured", ["f2"]) == 0
    assert store.keep_only(CELL, "simulated", ["f2"]) == 2
    assert store.read(CELL, POINTS)["point_id"].to_pylist() == ["f2"]


def test_a_half_written_file_is_no_point_and_a_damaged_one_is_named(tmp_path):
    store = SweepStore(root_dir=str(tmp_path))
    store.put(CELL, "f1", point(50.0, 900.0, point_id="a"), {})
    folder = tmp_path / "sweeps" / "h100" / "2026-11-01"
    (folder / ".tmp-x.points.parquet").write_bytes(b"PAR")
    assert store.read(CELL, POINTS).num_rows == 1
    (folder / "f1.points.parquet").write_bytes(b"PAR")
    with pytest.raises(StoreError, match=r"f1\.points\.parquet"):
        store.read(CELL, POINTS)


def test_what_lies_beside_a_point_counts_once_the_point_is_there_and_goes_with_it(tmp_path):
    store = SweepStore(root_dir=str(tmp_path))
    request = {"point_id": "a", "request_index": 0, "phase": "profiling", "outcome": "ok"}
    store.put(
        CELL, "f1", point(50.0, 900.0, point_id="a", provenance="measured"), {REQUESTS: REQUESTS.from_rows([request])}
    )
    assert store.read(CELL, REQUESTS)["point_id"].to_pylist() == ["a"]
    (tmp_path / "sweeps" / "h100" / "2026-11-01" / "f1.points.parquet").unlink()
    assert store.read(CELL, REQUESTS).num_rows == 0
    store.put(CELL, "f1", point(50.0, 900.0, point_id="a", provenance="measured"), {})
    assert store.read(CELL, REQUESTS).num_rows == 1
    assert store.keep_only(CELL, "measured", []) == 1
    assert not list((tmp_path / "sweeps" / "h100" / "2026-11-01").iterdir())
