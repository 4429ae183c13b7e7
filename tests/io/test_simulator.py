"""The process border of the simulator: what is asked, what is kept, and every way in which the far side can fail."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from pipeline.definitions import CHECKOUT
from pipeline.errors import SimulatorError
from resources.simulator import Simulator

ASKED = {"model": "m", "system": "h100_sxm", "backend": "vllm", "version": "0.24.0"}
REPLAY = {"concurrency": 1, "engine": {}}
TRACE = ['{"session_id":"r0","input_length":512,"output_length":11,"hash_ids":[1]}']


@pytest.fixture
def far_side(tmp_path) -> Path:
    """A folder with the fake child; files beside it steer it."""
    folder = tmp_path / "far"
    folder.mkdir()
    shutil.copy(CHECKOUT / "tests" / "fakes" / "simulator_child.py", folder)
    return folder


def simulator(far_side: Path, **changes: object) -> Simulator:
    fields = {"python": sys.executable, "cache_dir": str(far_side / "cache")}
    return Simulator(**(fields | {"child": str(far_side / "simulator_child.py")} | changes))


def test_a_missing_interpreter_is_one_sentence_that_says_what_to_do(far_side):
    with pytest.raises(SimulatorError) as error, simulator(far_side, python="absent/python").session():
        pass
    assert str(error.value).startswith("absent/python: the simulator's interpreter is not there.")
    assert "ai-dynamo==1.4.2 aiconfigurator==0.12.0 in FRONTIER_SIMULATOR_PYTHON" in str(error.value)


def test_another_version_is_refused(far_side):
    (far_side / "versions").write_text(json.dumps({"ai-dynamo": "9.9.9", "aiconfigurator": "0.12.0"}))
    with pytest.raises(
        SimulatorError, match=r"another version of the simulator; expected .*1\.4\.2.*, found .*9\.9\.9"
    ):
        simulator(far_side).session().__enter__()


def test_a_profile_is_made_once_and_found_by_content(far_side):
    for asked in (ASKED, ASKED, {**ASKED, "version": "0.25.0"}):
        with simulator(far_side).session() as session:
            profile = session.profile(asked)
            assert profile.npz.read_bytes() == b"npz"
            assert profile.facts["n_kv_blocks"] == 1000
    assert (far_side / "asked.log").read_text().split().count("profile") == 2


def test_a_replay_answers_with_report_and_requests(far_side):
    with simulator(far_side).session() as session:
        said = session.replay(REPLAY, TRACE, session.profile(ASKED))
    # 100 ms to the first token, then ten tokens of 10 ms
    assert said["requests"] == [[0.0, 100.0, 200.0, 512, 11, 0]]
    assert said["report"]["num_requests"] == 1


def test_a_child_that_dies_is_one_sentence(far_side):
    (far_side / "die_at").write_text("1")
    with (
        pytest.raises(SimulatorError, match="cannot do replay .*; found it ended without an answer"),
        simulator(far_side).session() as session,
    ):
        session.replay(REPLAY, TRACE, session.profile(ASKED))


def test_a_child_that_never_answers_is_ended(far_side):
    (far_side / "hang").touch()
    with (
        pytest.raises(SimulatorError, match="cannot do profile .*; found it ended without an answer"),
        simulator(far_side, answer_timeout_s=2).session() as session,
    ):
        session.profile(ASKED)


def test_the_real_child_says_which_package_is_missing_and_makes_a_sentence_of_it(far_side):
    with pytest.raises(SimulatorError, match="cannot do versions; found PackageNotFoundError"):
        Simulator(python=sys.executable, cache_dir=str(far_side)).session().__enter__()


def test_no_process_is_left_after_the_session(far_side):
    with simulator(far_side).session() as session:
        pid = session._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
