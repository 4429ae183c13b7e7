"""The load generator's process against a stand-in: its records, its endings, and that nothing of it is left."""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pipeline.errors import LoadError
from pipeline.registry.measured import Load
from pipeline.registry.shipped import shipped_registry
from pipeline.sweep.load import PointLoad
from resources.load_generator import Endpoint, LoadGenerator
from tests.fakes import load_child

ENDPOINT = Endpoint("http://127.0.0.1:9", "key")


@pytest.fixture
def far_side(tmp_path) -> Path:
    """A copy of the stand-in, so that files beside it steer this test's only."""
    return Path(shutil.copy(load_child.__file__, tmp_path / "load_child.py"))


@pytest.fixture
def built(tmp_path):
    python = tmp_path / "python"
    python.symlink_to(Path(os.sys.executable))
    return SimpleNamespace(folder=tmp_path, python=Path(os.sys.executable))


def load(tmp_path, workload="random_256_64", **fields) -> PointLoad:
    recipe = Load(repeats=3, warmup_s=1, window_s=1, grace_s=1, **fields)
    return PointLoad("tiny", shipped_registry().workload(workload), 2, recipe, 7, str(tmp_path / "no-folder"))


def run(far_side, built, point, alive=lambda: None, say=lambda line: None, **fields):
    generator = LoadGenerator(root_dir=str(far_side.parent / "runs"), child=str(far_side), **fields)
    return generator.run(built, point, ENDPOINT, alive, say)


def nothing_is_left(far_side) -> bool:
    pids = json.loads((far_side.parent / "pids").read_text())
    alive = [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    return not alive and not list((far_side.parent / "runs").iterdir())


def test_each_repeat_has_its_own_warm_up_and_starts_at_zero(far_side, built, tmp_path):
    answer = run(far_side, built, load(tmp_path))
    assert answer.ended is None
    assert [repeat.seed for repeat in answer.repeats] == [7, 7, 7]
    for index, repeat in enumerate(answer.repeats):
        assert [row["phase"] for row in repeat.requests] == ["warmup", "warmup", "profiling", "profiling"]
        assert [row["start_ns"] for row in repeat.requests] == [0, 10**9, 2 * 10**9, 3 * 10**9]
        assert {row["repeat_index"] for row in repeat.requests} == {index}
    assert (answer.client_input_tok, answer.client_output_tok) == (6 * 256, 6 * 64)
    assert answer.counted.n_reused_prompts == 0
    assert nothing_is_left(far_side)


def test_it_leads_a_process_group_in_the_session_of_the_run(far_side, built, tmp_path):
    (far_side.parent / "does").write_text("hang")
    seen = []

    def alive():
        pids = far_side.parent / "pids"
        if pids.exists() and (written := pids.read_text()):
            seen.extend((pid, os.getpgid(pid), os.getsid(pid)) for pid in json.loads(written))
        return "seen" if seen else None

    assert run(far_side, built, load(tmp_path), alive).ended == "seen"
    pid, group, session = seen[0]
    assert (group, session) == (pid, os.getsid(0))


def test_a_server_that_ended_ends_the_load_and_keeps_what_was_recorded(far_side, built, tmp_path):
    (far_side.parent / "does").write_text("hang")
    records = far_side.parent / "runs"

    def alive():
        return "the server was killed" if list(records.rglob("profile_export.jsonl")) else None

    answer = run(far_side, built, load(tmp_path), alive)
    assert answer.ended == "the server was killed"
    assert nothing_is_left(far_side)


def test_a_load_generator_that_says_nothing_is_ended(far_side, built, tmp_path):
    (far_side.parent / "does").write_text("hang")
    answer = run(far_side, built, load(tmp_path), silence_s=0.5)
    assert answer.ended == "the load generator gave no sign of life for 4 s"
    assert len(answer.repeats) == 1
    assert nothing_is_left(far_side)


def test_an_interrupt_leaves_nothing_even_of_those_that_ignore_sigterm(far_side, built, tmp_path):
    (far_side.parent / "does").write_text("stubborn")

    def alive():
        if list((far_side.parent / "runs").rglob("profile_export.jsonl")):
            raise KeyboardInterrupt
        return

    with pytest.raises(KeyboardInterrupt):
        run(far_side, built, load(tmp_path), alive)
    assert nothing_is_left(far_side)


def test_a_crash_after_some_requests_is_an_answer_that_says_so(far_side, built, tmp_path):
    (far_side.parent / "does").write_text("crash")
    answer = run(far_side, built, load(tmp_path))
    assert answer.ended == "the load generator ended with exit code 3"
    assert [len(repeat.requests) for repeat in answer.repeats] == [4]


@pytest.mark.parametrize(("does", "said"), [("refuse", "no such dataset"), ("garbage", "exit code 0 and sent nothing")])
def test_no_request_at_all_is_an_error_with_the_last_words(far_side, built, tmp_path, does, said):
    (far_side.parent / "does").write_text(does)
    with pytest.raises(LoadError, match=said):
        run(far_side, built, load(tmp_path))
    assert nothing_is_left(far_side)


def test_what_a_killed_run_left_goes_with_the_next_one(far_side, built, tmp_path):
    left = far_side.parent / "runs" / ".tmp-4194303-left"
    left.mkdir(parents=True)
    run(far_side, built, load(tmp_path))
    assert not left.exists()


def test_a_file_of_prompts_that_is_none_is_refused(far_side, built, tmp_path):
    (tmp_path / "prompts.jsonl").write_text("plain text\n")
    with pytest.raises(LoadError, match="no file of prompts"):
        run(far_side, built, load(tmp_path, prompts=str(tmp_path / "prompts.jsonl")))
    with pytest.raises(LoadError, match="cannot be read"):
        run(far_side, built, load(tmp_path, prompts=str(tmp_path / "absent.jsonl")))
