"""A process is known again by pid and start, whatever the clock does, and never after a restart of the host."""

import os
import subprocess
import sys

import psutil
import pytest

from resources import processes
from resources.processes import Known, ended_by_now, group_of, known


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], process_group=0)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_a_step_of_the_clock_makes_no_other_process_of_one(sleeper, monkeypatch, step_s):
    before = known(sleeper.pid)
    boot_s = psutil.boot_time()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: boot_s + step_s)
    assert known(sleeper.pid) == before
    assert before.process() is not None
    assert [p.pid for p in group_of(before)] == [sleeper.pid]


def test_nothing_of_before_a_restart_of_the_host_is_known_again(sleeper):
    now = known(sleeper.pid)
    before = Known(now.pid, now.started_s, boot="another start")
    assert before.process() is None
    assert group_of(before) == []


def test_an_ended_process_is_nobody_and_its_session_is_not_that_of_a_younger_one(sleeper):
    assert ended_by_now(2**22 + 1).process() is None
    assert group_of(Known(sleeper.pid, known(sleeper.pid).started_s - 60)) == []


def test_a_name_with_a_bracket_does_not_hide_the_start(tmp_path):
    named = tmp_path / "a) 1 (b"
    named.symlink_to(sys.executable)
    process = subprocess.Popen([named, "-c", "import time; time.sleep(600)"])
    try:
        assert abs(known(process.pid).started_s - known(os.getpid()).started_s) < 10**6
        assert known(process.pid).process() is not None
    finally:
        process.kill()
        process.wait()


def test_a_pid_of_nobody_is_told_as_psutil_tells_it():
    with pytest.raises(psutil.NoSuchProcess):
        processes.known(2**22 + 1)
