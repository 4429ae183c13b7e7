"""Who may use a device, and that only processes of ours are ever ended."""

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pipeline.errors import DeviceError
from resources.device_lock import Devices
from resources.processes import Known, group_of, known, remove_dead_segments

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def devices(tmp_path):
    return Devices(root_dir=str(tmp_path), leftover_timeout_s=2)


@pytest.fixture
def sleeper():
    """A process in a process group of its own."""
    process = subprocess.Popen(SLEEP, process_group=0)
    yield process
    process.kill()
    process.wait()


def silent(_: str) -> None:
    """Nobody listens."""


def test_a_device_is_held_once_and_two_devices_do_not_meet(devices):
    holder = f"h100: is in use by another sweep; found process {os.getpid()}, since 20"
    with devices.hold("h100", silent), devices.hold("b300", silent), pytest.raises(DeviceError, match=holder):
        devices.hold("h100", silent).__enter__()
    with devices.hold("h100", silent):
        pass


def test_a_child_with_the_descriptor_keeps_the_device_locked(devices):
    with devices.hold("cpu", silent) as held:
        child = subprocess.Popen(SLEEP, pass_fds=(held.descriptor,))
    try:
        with pytest.raises(DeviceError, match="cpu: is in use by another sweep; found a process that left no record"):
            devices.hold("cpu", silent).__enter__()
    finally:
        child.kill()
        child.wait()
    with devices.hold("cpu", silent):
        pass


def test_quarantine_is_refused_with_reason_moment_and_way_out_until_it_is_released(devices):
    devices.quarantine("h100", "70.0 GiB stay in use")
    with pytest.raises(DeviceError) as error:
        devices.hold("h100", silent).__enter__()
    assert str(error.value).startswith("h100: is quarantined; found 70.0 GiB stay in use, since 20")
    assert str(error.value).endswith("then run frontier devices release h100 on its host.")
    devices.release("h100")
    assert devices.quarantined("h100") is None
    with devices.hold("h100", silent):
        pass


def test_a_device_says_whether_it_is_free_in_use_or_quarantined(devices):
    assert devices.known_gpus() == []
    with devices.hold("h100", silent):
        assert devices.state("h100").startswith(f"in use by process {os.getpid()}, since 20")
        devices.quarantine("h100", "70.0 GiB stay in use")
        assert devices.state("h100").startswith("quarantined: 70.0 GiB stay in use, since 20")
    devices.quarantine("b300", "fans")
    assert devices.known_gpus() == ["b300", "h100"]
    devices.release("h100")
    assert devices.state("h100") == "free"


def test_a_server_that_an_interrupted_sweep_left_is_named(devices, sleeper, tmp_path):
    server = dataclasses.asdict(known(sleeper.pid))
    (tmp_path / "h100.holder.json").write_text(json.dumps({"run": server | {"started_s": 1.0}, "server": server}))
    assert devices.state("h100") == f"free; the next sweep ends what an interrupted one left, process {sleeper.pid}"


def test_a_folder_that_cannot_be_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DeviceError, match=r"h100, .*: its lock cannot be opened \(.*\)\. Correct the permissions"):
        Devices(root_dir=str(tmp_path / "file" / "devices")).hold("h100", silent).__enter__()


def test_a_second_reason_stands_beside_the_first_and_the_same_one_once(devices):
    for reason in ("fans", "70.0 GiB stay in use", "70.0 GiB stay in use"):
        devices.quarantine("h100", reason)
    assert devices.quarantined("h100").startswith("fans; 70.0 GiB stay in use, since 20")


def test_a_damaged_quarantine_still_holds(devices, tmp_path):
    (tmp_path / "h100.quarantine.json").write_text("half a fi")
    assert devices.quarantined("h100") == "its reason cannot be read, since some time"


def record(tmp_path: Path, server: Known) -> None:
    gone = dataclasses.asdict(Known(2**22 + 1, 1.0))
    content = {"run": gone, "keeper": gone, "server": dataclasses.asdict(server), "since_s": 0}
    (tmp_path / "cpu.holder.json").write_text(json.dumps(content))


def test_a_recorded_server_of_a_run_that_is_gone_is_ended(devices, tmp_path, sleeper):
    record(tmp_path, known(sleeper.pid))
    heard = []
    with devices.hold("cpu", heard.append):
        assert sleeper.poll() is not None
    assert heard[0] == f"cpu: ending a server that an interrupted sweep left, process {sleeper.pid}"


def test_a_younger_process_with_the_recorded_pid_is_left_alone(devices, tmp_path, sleeper):
    record(tmp_path, Known(sleeper.pid, known(sleeper.pid).started_s - 60))
    with devices.hold("cpu", silent):
        assert sleeper.poll() is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"server": 3}', '{"server": {"pid": "x", "started_s": null}}'])
def test_a_damaged_record_ends_nothing_and_stops_nobody(devices, tmp_path, content):
    (tmp_path / "cpu.holder.json").write_text(content)
    with devices.hold("cpu", silent):
        pass


def test_a_session_is_known_by_its_leaders_start(sleeper):
    leader = known(sleeper.pid)
    assert [p.pid for p in group_of(leader)] == [sleeper.pid]
    assert group_of(Known(leader.pid, leader.started_s - 60)) == []
    assert psutil.pid_exists(sleeper.pid)


def test_shared_memory_is_removed_only_where_it_is_new_and_nobody_has_it_open():
    old, used, left = (Path(f"/dev/shm/psm_{os.getpid()}_{name}") for name in ("old", "used", "left"))
    since_s = time.time() + 3600  # what other tests make meanwhile is older
    try:
        old.write_bytes(b"1")
        left.write_bytes(b"1")
        with used.open("wb"):
            for segment in (used, left):
                os.utime(segment, (since_s + 1, since_s + 1))
            removed = remove_dead_segments(since_s)
        assert removed == [left.name]
        assert old.exists()
        assert used.exists()
    finally:
        for segment in (old, used, left):
            segment.unlink(missing_ok=True)
