"""A server's life and every way in which it fails, with a small program in the engine's place; nothing is ever left."""

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pipeline.definitions import CHECKOUT
from pipeline.errors import DeviceError, EngineError
from pipeline.registry.builds import Build, Environment
from pipeline.sweep import launch_line
from pipeline.sweep.launch_line import ServerPlan
from resources import engine_server
from resources.device_lock import Devices
from resources.engine_server import EngineServers
from tests.io.other_runs import run_with_server

FAKE = str(CHECKOUT / "tests" / "fakes" / "engine.py")
ENVIRONMENT = Environment(installer="uv", lock="fake.lock", version_code="")
BUILD = Build(name="Fake", role="engine", engine="vllm", version="1.0", host="cpu", environment=ENVIRONMENT)


@pytest.fixture(autouse=True)
def _fake_engine(monkeypatch):
    monkeypatch.setitem(launch_line.MODULES, "vllm", (FAKE,))


@pytest.fixture
def devices(tmp_path):
    return Devices(root_dir=str(tmp_path / "devices"))


@pytest.fixture
def servers(tmp_path):
    return EngineServers(root_dir=str(tmp_path / "servers"), grace_s=0.5, free_memory_gib=0, memory_timeout_s=0)


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path):
    """No process of the test names its folder, nothing listens, and no shared memory is new."""
    segments = set(Path("/dev/shm").iterdir())
    yield
    assert [
        p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in str(p.info["cmdline"])
    ] == []
    assert {p for p in Path("/dev/shm").iterdir() if p.name.startswith("psm_fake")} <= segments


def built(version: str = "1.0", python: str = sys.executable) -> SimpleNamespace:
    return SimpleNamespace(build=BUILD, python=Path(python), fingerprint=SimpleNamespace(reported_version=version))


def plan(fake: str = "", tmp_path: object = "weights", silence_s: float = 30) -> ServerPlan:
    arguments = (str(tmp_path), "--served-model-name", "small", *(["--fake", fake] if fake else []))
    return ServerPlan("fake_build", "vllm", "small", arguments, {}, silence_s, 1)


@pytest.fixture
def run(devices, servers, tmp_path):
    """Start a server of a kind and hand it over for a block; what was said is in ``run.heard``."""

    @contextlib.contextmanager
    def running(fake: str = "", silence_s: float = 30, **options: object):
        with (
            devices.hold("cpu", running.heard.append) as held,
            servers.running(
                options.pop("built", built()), plan(fake, tmp_path, silence_s), held, running.heard.append, **options
            ) as server,
        ):
            yield server

    running.heard = []
    return running


def listens(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rsplit(":", 1)[1]))) == 0


def test_a_server_is_up_inside_the_block_and_gone_after_it(run):
    with run() as server:
        assert listens(server.url)
        assert server.pid in server.pids()
        assert server.ended() is None
        assert server.metrics() == "requests_total 7\n"
        assert server.flush_cache()
    assert not listens(server.url)
    assert not psutil.pid_exists(server.pid)
    assert [line.split(",")[0].split(" after")[0] for line in run.heard] == [
        "fake_build: ready",
        "fake_build: the server is gone",
    ]


def test_it_leads_a_process_group_in_the_session_of_the_run(run):
    """Linux schedules sessions, not processes: a server in one of its own can starve the client that measures it."""
    with run() as server:
        assert os.getpgid(server.pid) == server.pid
        assert os.getsid(server.pid) == os.getsid(0)


def test_the_launch_line_has_neither_address_nor_key(run, tmp_path):
    with run() as server:
        assert server.launch_line == ("python", FAKE, str(tmp_path), "--served-model-name", "small")
        assert server.api_key in " ".join(psutil.Process(server.pid).cmdline())


def test_every_start_has_a_port_and_a_key_of_its_own(run):
    with run() as first:
        pass
    with run() as second:
        pass
    assert first.url != second.url
    assert first.api_key != second.api_key


def test_an_engine_without_the_call_cannot_flush(run):
    with run("no_flush") as server:
        assert server.flush_cache() is False


@pytest.mark.parametrize(
    ("fake", "kind", "words"),
    [
        ("refuse", "wrong_flag", r"it refused its launch line, exit code 2: .*unrecognized arguments: --max-num-seq 3"),
        ("dies", "crashed", r"it crashed, exit code 1: .*RuntimeError: no such kernel"),
        ("kv", "out_of_memory", r"it ran out of memory \(kv_cache\), exit code 1: .*available KV cache memory"),
        ("taken", "port_taken", r"it found its port taken, exit code 1: .*Address already in use"),
        ("mute", "stranger", r"answers without a token; found HTTP 200"),
        ("other", "stranger", r"is not the server that was asked for; expected model small, found model \['another'\]"),
    ],
)
def test_a_failed_start_is_one_sentence_with_its_class(run, fake, kind, words):
    with pytest.raises(EngineError, match=words) as error, run(fake):
        pytest.fail("it never came up")
    assert error.value.kind == kind
    assert "\n" not in str(error.value)
    assert "fake_build: the server is gone" in run.heard[-1]


def test_another_version_than_the_builds_is_refused(run):
    with pytest.raises(EngineError, match=r"expected version 2\.0, found version 1\.0"), run(built=built("2.0")):
        pytest.fail("it never came up")


def test_an_interpreter_that_is_not_there_is_one_sentence(run):
    with (
        pytest.raises(EngineError, match="No such file or directory: '/absent/python'"),
        run(built=built(python="/absent/python")),
    ):
        pytest.fail("it never came up")


def test_silence_ends_a_start_and_a_slow_one_that_speaks_is_left_alone(run):
    with pytest.raises(EngineError, match="it showed no sign of life for .* about to hang") as error, run("silent", 1):
        pytest.fail("it never came up")
    assert error.value.kind == "silent"
    with run("slow", 1) as server:  # takes 2 s, but says something every half
        assert server.ended() is None


def test_a_port_that_is_taken_is_refused_before_anything_starts(devices, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        fixed = EngineServers(root_dir=str(tmp_path / "servers"), port=port, free_memory_gib=0)
        with (
            pytest.raises(EngineError, match=f"process {os.getpid()} listens on port {port}") as error,
            devices.hold("cpu", print) as held,
            fixed.running(built(), plan(), held, print),
        ):
            pytest.fail("it never came up")
    assert error.value.kind == "port_taken"


def test_a_server_that_goes_on_without_its_port_is_not_waited_for(run, servers, monkeypatch):
    monkeypatch.setattr(engine_server, "SECONDS_BETWEEN_LINES", 0.5)
    monkeypatch.setattr(EngineServers, "_refuse_taken", lambda *_: None)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setattr(engine_server, "free_port", lambda: other.getsockname()[1])
        with (
            pytest.raises(EngineError, match=f"found its port taken: process {os.getpid()} listens") as error,
            run("silent"),
        ):
            pytest.fail("it never came up")
    assert error.value.kind == "port_taken"


def test_a_full_host_starts_nothing(devices, tmp_path):
    greedy = EngineServers(root_dir=str(tmp_path / "servers"), free_memory_gib=1e9)
    with (
        pytest.raises(EngineError, match="too little memory of the host is free"),
        devices.hold("cpu", print) as held,
        greedy.running(built(), plan(), held, print),
    ):
        pytest.fail("it never came up")


def test_a_server_that_ignores_sigterm_is_killed_after_the_grace(run):
    with run("stubborn") as server:
        pass
    assert server.exit_code() == -signal.SIGKILL


def test_a_grandchild_in_a_session_of_its_own_is_ended_too(run):
    with run("orphan") as server:
        (grandchild,) = psutil.Process(server.pid).children()
    assert not grandchild.is_running()


def test_shared_memory_of_a_killed_server_is_removed(run):
    with run("segment") as server:
        segment = Path(f"/dev/shm/psm_fake_{server.pid}")
        assert segment.exists()
    assert not segment.exists()


def test_a_server_that_dies_while_it_serves_says_how(run):
    with run("orphan") as server:
        os.kill(server.pid, signal.SIGKILL)
        until_s = time.monotonic() + 60
        while server.ended() is None and time.monotonic() < until_s:
            time.sleep(0.05)
        assert server.ended().startswith("was killed, exit code -9")
        assert server.failure() == "killed"
        assert server.metrics() == ""
        assert server.flush_cache() is False


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_teardown_happens_in_every_ending(run, ending):
    with pytest.raises(ending), run() as server:
        raise ending
    assert not psutil.pid_exists(server.pid)


def test_a_device_that_keeps_memory_is_quarantined(run, devices):
    used_gib = iter([2.0, 40.0, 40.0])
    with run(device_memory_gib=lambda: next(used_gib)):
        pass
    assert devices.quarantined("cpu").startswith(
        "40.0 GiB of its memory are in use after the server's end, 2.0 GiB before"
    )
    with pytest.raises(DeviceError, match="cpu: is quarantined; found 40.0 GiB"), devices.hold("cpu", print):
        pytest.fail("quarantined")


def test_a_device_that_gives_its_memory_back_is_free_again(run, devices):
    with run(device_memory_gib=lambda: 2.0):
        pass
    assert devices.quarantined("cpu") is None


CHILD_RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
from tests.io.test_engine_server import *
launch_line.MODULES["vllm"] = (FAKE,)
folder = sys.argv[2]
servers = EngineServers(root_dir=folder + "/servers", grace_s=0.5, free_memory_gib=0)
with Devices(root_dir=folder + "/devices").hold("cpu", print) as held:
    with servers.running(built(), plan("orphan", folder), held, print) as server:
        print("UP", server.pid, server.keeper.pid, flush=True)
        time.sleep(600)
"""


@pytest.fixture
def other_run(tmp_path):
    """Another run with a server up: its process, the server's pid and the keeper's."""
    with run_with_server(CHILD_RUN, tmp_path) as (process, *pids):
        yield process, *pids
    psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], 10)


def test_a_second_sweep_on_a_device_is_refused_and_told_who_holds_it(other_run, devices):
    process, server, _ = other_run
    with (
        pytest.raises(DeviceError, match=f"cpu: is in use by another sweep; found process {process.pid}, since 20"),
        devices.hold("cpu", print),
    ):
        pytest.fail("held by another")
    assert psutil.pid_exists(server)


def test_a_killed_run_takes_its_server_with_it(other_run, devices):
    process, server, keeper = other_run
    process.kill()
    process.wait()
    heard = []
    with devices.hold("cpu", heard.append):
        assert not psutil.pid_exists(server)
        assert not psutil.pid_exists(keeper)


def test_what_a_killed_run_and_a_killed_keeper_left_is_ended_by_the_next_sweep(other_run, devices):
    process, server, keeper = other_run
    os.kill(keeper, signal.SIGKILL)
    process.kill()
    process.wait()
    (grandchild,) = psutil.Process(server).children()
    heard = []
    with devices.hold("cpu", heard.append):
        assert not psutil.pid_exists(server)
    grandchild.kill()  # in a session of its own and adopted by nobody of ours: not known to be ours
    assert heard == [f"cpu: ending a server that an interrupted sweep left, process {server}"]
