"""Finished points on an S3 interface: a stand-in server on 127.0.0.1, reached by s3fs as a real bucket is."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipeline.cell import GpuRun
from pipeline.definitions import build_defs, outside
from pipeline.errors import StoreError
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.sweep_store import SweepStore
from tests.graph.conftest import AS_OF, Graph, graph_at
from tests.unit.frontier.point_rows import point

pytestmark = pytest.mark.fleet

CELL = GpuRun("h100", dt.date.fromisoformat(AS_OF))
BUCKET = "results"
SECRET = "open-sesame"


@pytest.fixture
def graph(tmp_path) -> Iterator[Graph]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield graph_at(tmp_path / "home", instance)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of an S3 server in this process."""
    server = pytest.importorskip("moto.server", reason="the S3 stand-in is not installed (dependency group dev)")
    pytest.importorskip("s3fs", reason="s3fs is not installed (extra fleet)")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def url(address, monkeypatch) -> str:
    """A bucket of its own, with the credentials where they belong."""
    import s3fs

    for name, value in {"AWS_ACCESS_KEY_ID": "ours", "AWS_SECRET_ACCESS_KEY": SECRET}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if system.exists(BUCKET):
        system.rm(BUCKET, recursive=True)
    system.mkdir(BUCKET)
    return f"s3://{BUCKET}/prefix"


def store_at(folder: Path, url: str) -> SweepStore:
    return SweepStore(root_dir=str(folder), results_url=url)


def put(store: SweepStore, name: str) -> None:
    request = {"point_id": name, "request_index": 0, "phase": "profiling", "outcome": "ok"}
    row = point(50.0, 900.0, point_id=name, provenance="simulated", gpu="h100", run_date=CELL.run_date)
    store.put(CELL, name, row, {REQUESTS: REQUESTS.from_rows([request])})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.parquet")}


def test_a_point_is_on_a_second_host_with_the_same_bytes(tmp_path, url):
    put(store_at(tmp_path / "a", url), "f1")
    second = store_at(tmp_path / "b", url)
    assert second.pull(CELL) == 2
    assert files(tmp_path / "b") == files(tmp_path / "a")
    assert (second.pull(CELL), second.push(CELL)) == (0, 0)


def test_a_half_uploaded_point_is_not_there_and_a_damaged_one_is_refused(tmp_path, url):
    import s3fs

    put(store_at(tmp_path / "a", url), "f1")
    system = s3fs.S3FileSystem()
    folder = f"{BUCKET}/prefix/sweeps/h100/{AS_OF}"
    system.pipe_file(f"{folder}/f2.points.parquet", b"PAR1")
    second = store_at(tmp_path / "b", url)
    assert second.pull(CELL) == 2
    system.pipe_file(f"{folder}/f1.requests.parquet", b"PAR1")
    with pytest.raises(StoreError, match="f1: its files are not the ones that its list of hashes names"):
        store_at(tmp_path / "c", url).pull(CELL)
    assert not files(tmp_path / "c")


def test_a_point_that_was_removed_goes_on_the_second_host(tmp_path, url):
    first, second = store_at(tmp_path / "a", url), store_at(tmp_path / "b", url)
    for name in ("f1", "f2"):
        put(first, name)
    second.pull(CELL)
    first.keep_only(CELL, "simulated", ["f1"])
    second.pull(CELL)
    assert second.read(CELL, POINTS)["point_id"].to_pylist() == ["f1"]


def test_files_that_retention_takes_here_go_there_too_and_do_not_come_back(tmp_path, url):
    first, second = store_at(tmp_path / "a", url), store_at(tmp_path / "b", url)
    put(first, "f1")
    (requests,) = (tmp_path / "a").rglob("f1.requests.parquet")
    first.drop_there([requests])
    requests.unlink()
    assert (first.pull(CELL), first.push(CELL)) == (0, 0)
    assert second.pull(CELL) == 1
    assert list(files(tmp_path / "b")) == ["f1.points.parquet"]


def test_the_cell_of_another_host_is_derived_from_the_bucket_alone(graph, tmp_path, url, monkeypatch):
    put(store_at(tmp_path / "gpu_host", url), "f1")
    monkeypatch.setenv("FRONTIER_RESULTS", url)
    assert outside(graph.home).sweep_store.results_url == url
    here = Graph(graph.home, build_defs(graph.home, {"prices": graph.book}), graph.instance, graph.book)
    here.derive(CELL.key)
    assert here.store.read("raw", CELL, POINTS)["point_id"].to_pylist() == ["f1"]


def test_a_bucket_that_is_not_there_or_a_server_that_is_away_is_one_sentence_without_secrets(
    tmp_path, url, monkeypatch
):
    import s3fs

    put(store_at(tmp_path / "a", url.replace(BUCKET, "nowhere")), "f1")
    with pytest.raises(StoreError, match="the object store does not answer as it should") as absent:
        store_at(tmp_path / "a", url.replace(BUCKET, "nowhere")).push(CELL)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(StoreError, match="the object store does not answer as it should") as away:
        store_at(tmp_path / "a", url).pull(CELL)
    for error in (absent, away):
        assert "\n" not in str(error.value)
        assert SECRET not in str(error.value)
        assert "ours" not in str(error.value)
