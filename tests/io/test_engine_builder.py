"""Engine builds from wheels made on the spot: complete or absent, made once, and exactly what the lock names."""

import datetime as dt
import json
import multiprocessing
import subprocess
import sys
import threading

import pytest

from pipeline.errors import BuildError
from resources.engine_builder import EngineBuilder
from resources.file_lock import held
from resources.python_environment import host_python
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of

AT = dt.datetime(2026, 11, 1, 12, 0, tzinfo=dt.UTC)


@pytest.fixture
def wheels(tmp_path):
    return tmp_path / "wheels"


@pytest.fixture
def builder(tmp_path, wheels):
    wheels.mkdir()
    return EngineBuilder(root_dir=str(tmp_path / "builds"), wheels_dir=str(wheels))


@pytest.fixture
def plan(builder, wheels):
    return plan_of(lock_of(tiny=make_wheel(wheels)))


def silent(_: str) -> None:
    """Nobody listens."""


def left_in(builder) -> list[str]:
    """Names of everything below the build's folder but for its lock file."""
    folder = builder.folder(plan_of(lock_of(tiny="0" * 64))).parent
    return sorted(p.name for p in folder.iterdir() if p.name != ".lock") if folder.exists() else []


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_build_is_named_by_its_hash_and_its_command_runs_where_it_is(builder, wheels, installer):
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), installer=installer)
    built = builder.build(plan, AT, silent)
    assert built.folder.name == plan.build_hash(host_python())
    assert left_in(builder) == [built.folder.name]
    said = subprocess.run([built.python.parent / "tiny"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"I am {built.folder}/environment/lib/")


def test_the_fingerprint_holds_what_was_installed_and_what_it_reports(builder, wheels, plan):
    built = builder.build(plan, AT, silent)
    stored = json.loads((built.folder / "fingerprint.json").read_text())
    assert stored["packages"] == [
        {"name": "tiny", "version": "1.0", "sha256": [plan.pins()[0].sha256[0]]},
    ]
    assert (stored["reported_version"], stored["torch"]) == ("1.0", None)
    assert (stored["python"], stored["platform"]) == (host_python().version, host_python().platform)
    assert stored["installer"].startswith("uv ")
    assert stored["built_at"] == "2026-11-01T12:00:00Z"
    assert 0 < stored["size_mib"] < 10
    assert stored["seconds"] > 0
    assert built.fingerprint.summary()["packages"] == {"tiny": "1.0"}


def test_the_same_lock_is_not_installed_twice(builder, wheels, plan):
    first = builder.build(plan, AT, silent)
    for wheel in wheels.iterdir():
        wheel.unlink()
    heard = []
    second = builder.build(plan, AT + dt.timedelta(days=1), heard.append)
    assert (first.reused, second.reused) == (False, True)
    assert (second.folder, second.fingerprint) == (first.folder, first.fingerprint)
    assert heard == [f"tiny: already built, {first.folder.name}"]


def test_another_lock_is_another_build_beside_the_first(builder, wheels, plan):
    first = builder.build(plan, AT, silent)
    other = plan_of(lock_of(tiny=make_wheel(wheels), more=make_wheel(wheels, "more")))
    second = builder.build(other, AT, silent)
    assert left_in(builder) == sorted([first.folder.name, second.folder.name])
    assert builder.find(plan).fingerprint == first.fingerprint


def test_what_an_interrupted_builder_left_is_never_used_and_goes_away(builder, plan):
    folder = builder.folder(plan)
    temp, unfinished = folder.with_name(f".tmp-{folder.name}"), folder
    for half in (temp, folder.with_name(".tmp-0123456789abcdef"), unfinished):
        (half / "environment" / "bin").mkdir(parents=True)
        (half / "environment" / "bin" / "python").write_text("half")
    assert builder.find(plan) is None
    built = builder.build(plan, AT, silent)
    assert built.reused is False
    assert left_in(builder) == [folder.name]


def test_a_cancelled_build_leaves_nothing(builder, plan):
    def cancel(line: str) -> None:
        if "proving" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        builder.build(plan, AT, cancel)
    assert left_in(builder) == []
    assert builder.build(plan, AT, silent).reused is False


UNTIL_THE_PARENT_ENDS = """
import os, time
parent = os.getppid()
while os.getppid() == parent != 1:
    time.sleep(0.05)
"""


def build_until_killed(root: str, wheels: str, plan, heard) -> None:
    EngineBuilder(root_dir=root, wheels_dir=wheels).build(plan, AT, heard.put)


def test_a_killed_builder_keeps_nobody_out_and_its_half_is_not_used(builder, wheels):
    lock = lock_of(tiny=make_wheel(wheels))
    stuck = plan_of(lock, version_code=UNTIL_THE_PARENT_ENDS)
    context = multiprocessing.get_context("spawn")
    heard = context.Queue()
    child = context.Process(target=build_until_killed, args=(builder.root_dir, builder.wheels_dir, stuck, heard))
    child.start()
    while "proving" not in heard.get(timeout=120):
        pass
    child.kill()
    child.join()
    plan = plan_of(lock)
    assert left_in(builder) == [f".tmp-{builder.folder(plan).name}"]
    assert builder.find(plan) is None
    assert builder.build(plan, AT, silent).reused is False
    assert left_in(builder) == [builder.folder(plan).name]


def test_a_build_whose_python_is_gone_is_made_again(builder, plan):
    builder.build(plan, AT, silent).python.unlink()
    assert builder.find(plan) is None
    assert builder.build(plan, AT, silent).reused is False


def refused(builder, plan) -> str:
    """The sentence of a build that fails; nothing of it may be left."""
    before = left_in(builder)
    with pytest.raises(BuildError) as error:
        builder.build(plan, AT, silent)
    assert "\n" not in str(error.value)
    assert left_in(builder) == before
    return str(error.value)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_wheel_with_another_hash_is_refused(builder, wheels, installer):
    make_wheel(wheels)
    sentence = refused(builder, plan_of(lock_of(tiny="0" * 64), installer=installer))
    assert sentence.startswith("tiny: tiny.lock was not installed (exit code 1); found ")
    assert "hash" in sentence.lower()


def test_a_wheel_that_is_not_there_is_a_sentence_with_the_installers_words(builder):
    sentence = refused(builder, plan_of(lock_of(tiny="0" * 64)))
    assert "tiny was not found in the provided package locations" in sentence


def test_a_requirement_that_the_lock_leaves_out_is_refused(builder, wheels):
    plan = plan_of(lock_of(tiny=make_wheel(wheels, requires="more")))
    make_wheel(wheels, "more")
    assert "more" in refused(builder, plan)


def test_the_second_lock_is_installed_without_requirements(builder, wheels):
    tiny = lock_of(tiny=make_wheel(wheels, requires="absent"))
    built = builder.build(plan_of(lock_of(more=make_wheel(wheels, "more")), no_deps=tiny), AT, silent)
    assert [pin.name for pin in built.fingerprint.packages] == ["more", "tiny"]
    assert sorted(built.fingerprint.lock_sha256) == ["tiny.lock", "tiny_no_deps.lock"]


def test_a_distribution_that_the_wheel_does_not_register_is_registered(builder, wheels):
    code = "from importlib.metadata import version; print(version('tiny_engine'))"
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), distribution="tiny_engine==1.0+cpu", version_code=code)
    assert builder.build(plan, AT, silent).fingerprint.reported_version == "1.0+cpu"


def test_a_build_sees_its_variables_and_not_our_python_path(builder, wheels, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    code = "import os; assert 'PYTHONPATH' not in os.environ; print(os.environ['TINY'])"
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), version_code=code, variables={"TINY": "1.0"})
    assert builder.build(plan, AT, silent).fingerprint.reported_version == "1.0"


def test_a_build_that_does_not_run_does_not_count(builder, wheels):
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), version_code="import tiny.kernels")
    sentence = refused(builder, plan)
    assert sentence.startswith("tiny: it does not run (exit code 1); found ")
    assert "ModuleNotFoundError" in sentence


def test_a_build_that_reports_another_version_does_not_count(builder, wheels):
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), version="2.0")
    assert "expected 2.0, found 1.0" in refused(builder, plan)


def test_a_build_that_never_answers_does_not_count(tmp_path, wheels):
    builder = EngineBuilder(root_dir=str(tmp_path / "builds"), wheels_dir=str(wheels), proof_timeout_s=0.5)
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), version_code="import time; time.sleep(60)")
    assert "no answer within 0.5 s" in refused(builder, plan)


def test_a_lock_for_another_python_is_refused_before_anything_is_installed(builder, wheels):
    plan = plan_of(lock_of(tiny=make_wheel(wheels)), python="3.99")
    assert "expected Python 3.99" in refused(builder, plan)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, wheels):
    (tmp_path / "builds").write_text("a file in the way")
    builder = EngineBuilder(root_dir=str(tmp_path / "builds"), wheels_dir=str(wheels))
    with pytest.raises(BuildError, match="cannot build"):
        builder.build(plan_of(lock_of(tiny=make_wheel(wheels))), AT, silent)


def test_two_threads_make_one_build(builder, plan):
    results = []
    threads = [threading.Thread(target=lambda: results.append(builder.build(plan, AT, silent))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r.reused for r in results) == [False, True, True]
    assert len({r.folder for r in results}) == 1


def build_in_child(root: str, wheels: str, plan, answers) -> None:
    answers.put(EngineBuilder(root_dir=root, wheels_dir=wheels).build(plan, AT, silent).reused)


def test_two_processes_make_one_build(builder, plan):
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    arguments = (builder.root_dir, builder.wheels_dir, plan, answers)
    children = [context.Process(target=build_in_child, args=arguments) for _ in range(2)]
    for child in children:
        child.start()
    assert sorted(answers.get(timeout=120) for _ in children) == [False, True]
    for child in children:
        child.join()


def test_a_lock_lives_as_long_as_a_child_that_inherited_it(tmp_path):
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with held(tmp_path / ".lock", lambda: pytest.fail("nobody else holds it")) as descriptor:
        installer = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(descriptor,))
    waits = []

    def end_it():
        waits.append("second")
        installer.stdin.close()

    with held(tmp_path / ".lock", end_it):
        assert installer.wait() == 0
    assert waits == ["second"]
