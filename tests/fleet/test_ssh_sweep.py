"""A sweep over a real ssh server on this machine: its files come home, and it lives no longer than its connection."""

import contextlib
import datetime as dt
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copy

import dagster as dg
import psutil
import pytest

from pipeline.cell import GpuRun
from pipeline.definitions import build_defs
from pipeline.errors import HostError, StoppedError, SweepFailedError
from pipeline.tables.points import POINTS
from resources import ssh_host
from resources.clock import Clock
from resources.dagster_runs import open_instance
from resources.far_hosts import FarHosts
from resources.host_probe import HostProbe
from resources.sweep_store import SweepStore
from tests.fleet.far_frontier import HOST, RECIPE, SILENCE_S, host_at
from tests.fleet.ssh_server import SshServer, ssh_server
from tests.graph.conftest import Graph, graph_at
from tests.graph.test_measured_sweep import FAKES, bench_at, pretend_built

pytestmark = pytest.mark.fleet

DAY = dt.date(2026, 11, 1)
CELL = GpuRun("cpu", DAY)
PATIENCE_S = 120


@pytest.fixture
def graph(tmp_path) -> Iterator[Graph]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield graph_at(tmp_path / "home", instance)


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as running:
        yield running


@dataclass(frozen=True)
class Rack:
    """A graph here, and a host over ssh whose folder is ``far``."""

    graph: Graph
    far: Path

    def sweep(self) -> dict:
        return self.graph.runs.run("run_sweep", partition=CELL.key, config={"sweep": {"recipes": [RECIPE]}})

    def files(self, home: Path) -> dict[str, bytes]:
        folder = home / "store" / "sweeps" / "cpu" / DAY.isoformat()
        return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}

    @property
    def here(self) -> dict[str, bytes]:
        return self.files(self.graph.home)

    @property
    def there(self) -> dict[str, bytes]:
        return self.files(self.far / "home")

    def concurrencies(self) -> list[int]:
        store = SweepStore(root_dir=str(self.graph.home / "store"))
        return sorted(store.read(CELL, POINTS)["concurrency"].to_pylist())

    def asked(self) -> list[str]:
        return (self.far / "asked.log").read_text().split() if (self.far / "asked.log").exists() else []

    def does(self, what: str) -> None:
        (self.far / "does").write_text(what)

    def left(self) -> list[str]:
        """Processes over there, the engine's and the load generator's among them."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                said = [*process.cmdline(), process.environ().get("FAR_FOLDER", "")]
                is_far = process.name() != "ssh" and any(str(self.far) in word for word in said)
                if is_far and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline()))
        return found


def wait_until(condition: Callable[[], object], what: str) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s, f"{what} did not happen"
        time.sleep(0.1)


@pytest.fixture
def rack(graph, server, tmp_path, monkeypatch) -> Iterator[Rack]:
    far = tmp_path / "far"
    far.mkdir()
    copy(FAKES / "sweep_load_child.py", far)
    (far / "python").write_text(
        "#!/bin/sh\n"
        f'shift 2\nexport FAR_FOLDER={far}\nexec {sys.executable} -W ignore -m tests.fleet.far_frontier "$@"\n'
    )
    (far / "python").chmod(0o755)
    for slug in ("vllm_cpu", "aiperf"):
        pretend_built(bench_at(far / "home", far).builder, slug)
    host = host_at(far, server.port, server.user)
    monkeypatch.setattr("resources.far_hosts.host_of", lambda gpu: (HOST, host))
    monkeypatch.setattr(HostProbe, "present", lambda self: [])
    monkeypatch.setattr(ssh_host, "BEAT_S", SILENCE_S / 8)
    hosts = FarHosts(ssh_config=str(server.config))
    resources = {"prices": graph.book, "clock": Clock(fixed_day=DAY.isoformat()), "far_hosts": hosts}
    made = Rack(Graph(graph.home, build_defs(graph.home, resources), graph.instance, graph.book), far)
    yield made
    wait_until(lambda: not made.left(), f"the end of {made.left()}")


@contextlib.contextmanager
def beside(rack: Rack, act: Callable[[], object]) -> Iterator[None]:
    """Do something from a thread once the first point came home and the second one is being measured."""

    def wait() -> None:
        wait_until(lambda: rack.concurrencies() == [1] and rack.asked() == ["1", "2"], "the second point")
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def ssh_client() -> psutil.Process:
    """The connection that carries the sweep."""
    (found,) = [child for child in psutil.Process().children() if "--while-input" in " ".join(child.cmdline())]
    return found


def test_every_file_comes_home_as_it_is_over_there_and_a_rerun_measures_nothing(rack):
    done = rack.sweep()
    assert (done["n_points"], done["n_points_measured_now"], done["n_invalid_points"]) == (3, 3, 0)
    assert done["kind"] == "measured"
    assert rack.here == rack.there
    # points, requests, repeats and samples of three points, and one run
    assert len(rack.here) == 3 * 4 + 1
    assert rack.asked() == ["1", "2", "4"]
    first = rack.here
    assert rack.sweep()["n_points_measured_now"] == 0
    assert rack.here == first
    rack.graph.derive(CELL.key)
    assert rack.graph.store.read("raw", CELL, POINTS).num_rows == 3


def test_its_lines_are_in_the_log_of_the_run_here(rack):
    rack.sweep()
    (run,) = rack.graph.instance.get_runs()
    said = [entry.user_message for entry in rack.graph.instance.all_logs(run.run_id)]
    assert any("concurrency 2, point 2 of 2" in line for line in said)
    with open_instance(rack.far / "home") as over_there:
        assert [run.job_name for run in over_there.get_runs()] == ["run_sweep"]


def test_a_stopped_run_ends_the_sweep_over_there_and_a_rerun_goes_on(rack):
    rack.does("wait 2")
    main = threading.main_thread().ident
    with beside(rack, lambda: signal.pthread_kill(main, signal.SIGINT)), pytest.raises(StoppedError):
        rack.sweep()
    assert not rack.left()
    (rack.far / "does").unlink()
    assert rack.sweep()["n_points_measured_now"] == 2
    assert rack.concurrencies() == [1, 2, 4]
    assert rack.here == rack.there


def test_a_lost_connection_ends_the_sweep_over_there_and_keeps_what_is_finished(rack):
    rack.does("wait 2")
    with beside(rack, lambda: ssh_client().kill()), pytest.raises(HostError, match="rack_b.*run the same sweep again"):
        rack.sweep()
    wait_until(lambda: not rack.left(), "the end over there")
    assert rack.concurrencies() == [1]
    (rack.far / "does").unlink()
    assert rack.sweep()["n_points_measured_now"] == 2
    assert rack.here == rack.there


def test_a_caller_that_gives_no_sign_of_life_is_not_waited_for(rack):
    rack.does("wait 2")

    def fall_silent() -> None:
        client = ssh_client()
        client.suspend()
        try:
            wait_until(lambda: not rack.left(), "the end over there")
        finally:
            client.resume()

    with beside(rack, fall_silent), pytest.raises(HostError, match="exit code 130"):
        rack.sweep()
    assert rack.concurrencies() == [1]


def test_what_finished_while_nobody_was_there_comes_with_the_next_sweep(rack):
    rack.sweep()
    for path in (rack.graph.home / "store" / "sweeps").rglob("*.parquet"):
        path.unlink()
    assert rack.sweep()["n_points_measured_now"] == 0
    assert rack.here == rack.there


def test_an_error_over_there_is_the_error_here_and_names_the_host(rack):
    for built in (rack.far / "home" / "builds" / "vllm_cpu").iterdir():
        built.rename(built.with_name("gone"))
    with pytest.raises(SweepFailedError, match=r"rack_b: sweep cpu\|2026-11-01: .*vllm_cpu: is not built here"):
        rack.sweep()


def test_a_host_whose_key_is_not_known_is_not_talked_to(rack, server):
    known = server.known_hosts.read_text()
    server.known_hosts.write_text("")
    try:
        with pytest.raises(HostError, match="Host key verification failed"):
            rack.sweep()
    finally:
        server.known_hosts.write_text(known)
    assert not rack.there
