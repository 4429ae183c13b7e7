"""Finished points on an object store: whole or not there, the same bytes on both sides, and no secret in a sentence."""

import datetime as dt
from pathlib import Path

import fsspec
import pytest

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.sweep_store import SweepStore
from tests.unit.frontier.point_rows import point

CELL = GpuRun("h100", dt.date(2026, 11, 1))
FOLDER = Path("sweeps", "h100", "2026-11-01")
REQUEST = {"point_id": "a", "request_index": 0, "phase": "profiling", "outcome": "ok"}


@pytest.fixture
def bucket(tmp_path) -> Path:
    folder = tmp_path / "bucket"
    folder.mkdir()
    return folder


def store_at(folder: Path, bucket: Path) -> SweepStore:
    return SweepStore(root_dir=str(folder), results_url=f"file://{bucket}")


def put(store: SweepStore, name: str, throughput_tok_s_gpu: float = 900.0) -> None:
    row = point(50.0, throughput_tok_s_gpu, point_id=name, provenance="simulated")
    store.put(CELL, name, row, {REQUESTS: REQUESTS.from_rows([REQUEST])})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / FOLDER).glob("*.parquet")}


def test_a_finished_point_has_the_same_bytes_on_a_second_host_and_is_copied_once(tmp_path, bucket):
    first, second = store_at(tmp_path / "a", bucket), store_at(tmp_path / "b", bucket)
    put(first, "f1")
    assert second.pull(CELL) == 2
    assert files(tmp_path / "b") == files(tmp_path / "a") == files(bucket)
    assert (second.pull(CELL), second.push(CELL)) == (0, 0)


def test_files_that_go_here_go_there_and_do_not_come_back(tmp_path, bucket):
    first, second = store_at(tmp_path / "a", bucket), store_at(tmp_path / "b", bucket)
    put(first, "f1")
    put(first, "f2")
    requests = tmp_path / "a" / FOLDER / "f1.requests.parquet"
    first.drop_there([requests, tmp_path / "a" / "imports" / "h100" / "2026-11-01" / "x.requests.parquet"])
    requests.unlink()
    assert (first.pull(CELL), first.push(CELL)) == (0, 0)
    assert second.pull(CELL) == 3
    assert sorted(files(tmp_path / "b")) == ["f1.points.parquet", "f2.points.parquet", "f2.requests.parquet"]
    assert files(tmp_path / "b") == files(tmp_path / "a") == files(bucket)


def test_a_point_without_its_list_is_not_there(tmp_path, bucket):
    put(store_at(tmp_path / "a", bucket), "f1")
    (bucket / FOLDER / "f1.sha256").unlink()
    assert store_at(tmp_path / "b", bucket).pull(CELL) == 0
    assert not files(tmp_path / "b")


def test_a_file_that_is_not_the_one_of_its_list_is_refused_and_nothing_of_it_is_kept(tmp_path, bucket):
    put(store_at(tmp_path / "a", bucket), "f1")
    (bucket / FOLDER / "f1.points.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match="f1: its files are not the ones that its list of hashes names"):
        store_at(tmp_path / "b", bucket).pull(CELL)
    assert not files(tmp_path / "b")


def test_a_list_leads_out_of_no_folder(tmp_path, bucket):
    put(store_at(tmp_path / "a", bucket), "f1")
    listed = bucket / FOLDER / "f1.sha256"
    listed.write_text(listed.read_text().replace("  f1", "  ../../../../f1"))
    store_at(tmp_path / "b", bucket).pull(CELL)
    assert set(files(tmp_path / "b")) == {"f1.points.parquet", "f1.requests.parquet"}
    assert not list(tmp_path.glob("f1*"))


def test_a_point_of_an_earlier_plan_goes_on_every_host_that_copied_it(tmp_path, bucket):
    first, second = store_at(tmp_path / "a", bucket), store_at(tmp_path / "b", bucket)
    for name in ("f1", "f2"):
        put(first, name)
    second.pull(CELL)
    assert first.keep_only(CELL, "simulated", ["f2"]) == 1
    second.pull(CELL)
    assert second.read(CELL, POINTS)["point_id"].to_pylist() == ["f2"]
    assert set(files(bucket)) == {"f2.points.parquet", "f2.requests.parquet"}
    put(first, "f1")
    assert second.pull(CELL) == 2


def test_what_was_written_again_is_copied_again(tmp_path, bucket):
    first, second = store_at(tmp_path / "a", bucket), store_at(tmp_path / "b", bucket)
    put(first, "f1")
    second.pull(CELL)
    put(first, "f1", throughput_tok_s_gpu=950.0)
    assert second.pull(CELL) == 1
    assert files(tmp_path / "b") == files(tmp_path / "a")


def test_an_upload_that_fails_ends_no_sweep_but_is_made_up_for_at_its_end(tmp_path, bucket):
    store = store_at(tmp_path / "a", bucket)
    (bucket / "sweeps").write_text("in the way")
    put(store, "f1")
    assert store.has(CELL, "f1")
    with pytest.raises(StoreError, match=r"the object store does not answer as it should \((NotADirectory|FileExists)"):
        store.push(CELL)
    (bucket / "sweeps").unlink()
    assert store.push(CELL) == 1
    assert files(bucket) == files(tmp_path / "a")


def test_an_address_with_credentials_is_refused_without_repeating_them(tmp_path):
    store = SweepStore(root_dir=str(tmp_path), results_url="s3://key:open-sesame@bucket/prefix")
    with pytest.raises(StoreError, match="FRONTIER_RESULTS: holds credentials") as error:
        store.pull(CELL)
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("foo://bad", "foo is no known protocol"),
        ("s3://", "s3:// names no bucket"),
        ("s3:///prefix", "s3:// names no bucket"),
        ("file:///", "file:// names no folder"),
        ("bucket/prefix", "names no protocol"),
    ],
)
def test_an_address_that_is_none_is_refused(tmp_path, url, words):
    with pytest.raises(StoreError, match=f"FRONTIER_RESULTS: {words}; expected an address such as s3://bucket/prefix"):
        SweepStore(root_dir=str(tmp_path), results_url=url).refuse_bad_address()


@pytest.mark.parametrize("url", ["s3://bucket", "file:///folder", "memory://", "simplecache::s3://bucket/prefix", ""])
def test_an_address_is_taken_without_asking_anybody(tmp_path, url):
    SweepStore(root_dir=str(tmp_path), results_url=url).refuse_bad_address()


class Talkative(fsspec.AbstractFileSystem):
    """A file system whose errors say too much."""

    protocol = "talkative"

    def ls(self, path: str, detail: bool = True, **kwargs: object) -> list[str]:
        raise PermissionError("key open-sesame is not allowed")


def test_an_error_of_the_store_is_told_without_its_words(tmp_path):
    fsspec.register_implementation("talkative", Talkative, clobber=True)
    store = SweepStore(root_dir=str(tmp_path), results_url="talkative://bucket?signature=open-sesame")
    with pytest.raises(StoreError, match=r"talkative://bucket h100\|2026-11-01: .*\(PermissionError\)") as error:
        store.pull(CELL)
    assert "sesame" not in str(error.value)
    assert error.value.__suppress_context__
