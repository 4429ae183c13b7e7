"""Servers in containers, behind a fake docker: ended by name in every ending, by the next sweep after a SIGKILL."""

import dataclasses
import datetime as dt
import os
import signal
import time

import psutil
import pytest

from pipeline.builds.fingerprint import Fingerprint
from pipeline.definitions import CHECKOUT
from pipeline.errors import DeviceError, EngineError
from pipeline.sweep import launch_line
from resources.built import Built
from resources.device_lock import Devices
from resources.engine_server import EngineServers
from resources.server_container import ServerContainer
from tests.io.images import REFERENCE, image_plan, make_world
from tests.io.other_runs import run_with_server
from tests.io.test_engine_server import FAKE, plan


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setitem(launch_line.MODULES, "vllm", (FAKE,))
    world = make_world(tmp_path / "far")
    (world.folder / "here.json").write_text(f'{{"{REFERENCE}": true}}')
    yield world
    left = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in str(p.info["cmdline"])]
    assert (left, world.containers()) == ([], [])


@pytest.fixture
def devices(tmp_path):
    return Devices(root_dir=str(tmp_path / "devices"), leftover_timeout_s=2)


def servers_in(folder, program: str) -> EngineServers:
    return EngineServers(root_dir=str(folder / "servers"), grace_s=0.5, free_memory_gib=0, containers=program)


def built_image() -> Built:
    unknown = dict.fromkeys(("python", "platform", "installer", "torch", "size_mib"))
    fingerprint = Fingerprint(
        build="tiny_image", build_hash="0", engine="vllm", version="1.0", host="rocm", kind="image",
        reported_version="1.0", packages=(), lock_sha256={}, seconds=0,
        built_at=dt.datetime(2026, 11, 1, tzinfo=dt.UTC), **unknown,
    )  # fmt: skip
    return Built(image_plan().build, CHECKOUT, fingerprint, reused=True)


def up(tmp_path, devices, world, fake="", silence_s=30.0):
    held = devices.hold("cpu", print)
    asked = dataclasses.replace(plan(fake, tmp_path, silence_s), folders=(str(tmp_path),))
    return held, lambda hold: servers_in(tmp_path, world.program).running(built_image(), asked, hold, print)


def runs(pid: int) -> bool:
    """Whether a process does anything any more. One that was killed takes a moment, and may wait for its parent."""
    until_s = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > until_s:
            return True
        time.sleep(0.05)
    return False


def pid_of(world) -> int:
    (name,) = world.containers()
    return int((world.folder / "containers" / name).read_text())


def test_a_container_serves_inside_the_block_and_is_gone_after_it(tmp_path, devices, world):
    held, running = up(tmp_path, devices, world)
    with held as hold, running(hold) as server:
        inside = pid_of(world)
        assert inside in server.pids()
        assert (server.metrics(), server.flush_cache(), server.ended()) == ("requests_total 7\n", True, None)
        assert server.launch_line == ("python", FAKE, str(tmp_path), "--served-model-name", "small")
        [run] = world.asked("run")
        assert run[run.index("--volume") + 1] == f"{tmp_path}:{tmp_path}:ro"
        assert run[run.index("--host") + 1] == "0.0.0.0"
        assert run[run.index("--publish") + 1].startswith("127.0.0.1:")
    assert not runs(inside)


def test_a_container_that_ignores_sigterm_is_ended_by_name(tmp_path, devices, world):
    held, running = up(tmp_path, devices, world, "stubborn")
    with held as hold, running(hold):
        (name,) = world.containers()
    assert ["kill", name] in world.asked("kill")
    assert devices.quarantined("cpu") is None


def test_a_container_outlives_its_killed_program_and_is_ended_by_name(tmp_path, devices, world):
    held, running = up(tmp_path, devices, world)
    with held as hold, running(hold) as server:
        inside = pid_of(world)
        os.kill(server.pid, signal.SIGKILL)
        server.keeper.wait()
        assert server.ended().startswith("was killed")
        assert not runs(inside)


@pytest.mark.parametrize(
    ("fake", "kind"), [("refuse", "wrong_flag"), ("dies", "crashed"), ("other", "stranger"), ("silent", "silent")]
)
def test_a_failed_start_in_a_container_has_its_class_and_leaves_none(tmp_path, devices, world, fake, kind):
    held, running = up(tmp_path, devices, world, fake, 1 if fake == "silent" else 30)
    with held as hold, pytest.raises(EngineError) as error, running(hold):
        pytest.fail("it never came up")
    assert error.value.kind == kind


def test_where_nobody_says_that_a_container_is_gone_the_device_is_quarantined(tmp_path, devices, world, monkeypatch):
    monkeypatch.setattr("resources.server_container.GONE_TIMEOUT_S", 0)
    held, running = up(tmp_path, devices, world)
    with held as hold, running(hold):
        (name,) = world.containers()
        (world.folder / "down").touch()
    assert devices.quarantined("cpu").startswith(f"the container {name} cannot be ended after a server of fake_build")


OTHER_RUN = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.io.test_server_container import *
launch_line.MODULES["vllm"] = (FAKE,)
folder = Path(sys.argv[2])
with Devices(root_dir=str(folder / "devices")).hold("cpu", print) as held:
    with servers_in(folder, sys.argv[3]).running(built_image(), plan("", folder), held, print) as server:
        print("UP", server.pid, server.keeper.pid, flush=True)
        time.sleep(600)
"""


@pytest.fixture
def other_run(tmp_path, world):
    """Another run with a container up: its process, the pid of the program that started it, and the keeper's."""
    with run_with_server(OTHER_RUN, tmp_path, world.program) as run:
        yield run


def test_a_killed_run_takes_its_container_with_it(other_run, devices, world):
    process, _, keeper = other_run
    inside = pid_of(world)
    process.kill()
    process.wait()
    with devices.hold("cpu", print):
        assert not runs(inside)
        assert not psutil.pid_exists(keeper)


def test_a_container_whose_run_keeper_and_program_were_killed_is_ended_by_the_next_sweep(other_run, devices, world):
    process, program, keeper = other_run
    inside, (name,) = pid_of(world), world.containers()
    os.kill(keeper, signal.SIGKILL)
    os.kill(program, signal.SIGKILL)
    process.kill()
    process.wait()
    assert psutil.pid_exists(inside)  # and nobody holds the lock any more
    heard = []
    with devices.hold("cpu", heard.append):
        assert not runs(inside)
    assert heard == [f"cpu: ending a server that an interrupted sweep left, container {name}"]


def test_a_recorded_container_that_cannot_be_ended_keeps_everybody_out(devices, world, monkeypatch):
    monkeypatch.setattr("resources.server_container.GONE_TIMEOUT_S", 0)
    container = ServerContainer(world.program, "frontier-vllm-1")
    devices.record("cpu", {"container": dataclasses.asdict(container)})
    (world.folder / "down").touch()
    with (
        pytest.raises(DeviceError, match="container frontier-vllm-1 of an interrupted sweep cannot be ended"),
        devices.hold("cpu", print),
    ):
        pytest.fail("quarantined")


def test_a_host_whose_program_for_containers_is_gone_cannot_say_so(tmp_path):
    container = ServerContainer(str(tmp_path / "docker"), "frontier-vllm-1")
    assert (container.pid(), container.is_gone()) == (None, False)
