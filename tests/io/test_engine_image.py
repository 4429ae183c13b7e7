"""Builds that are container images, behind a fake docker: by digest, proven inside, and no container is left."""

import datetime as dt
import json
import signal
import subprocess
import time

import pytest

from pipeline.errors import BuildError
from resources.engine_builder import EngineBuilder
from resources.engine_image import Containers, container_name
from resources.engine_launch import Place, start_command
from resources.python_environment import host_python
from tests.io.images import DIGEST, INSPECTED, REFERENCE, image_plan, make_world

AT = dt.datetime(2026, 11, 1, 12, 0, tzinfo=dt.UTC)


def silent(_: str) -> None:
    """Nobody listens."""


@pytest.fixture
def world(tmp_path):
    return make_world(tmp_path / "far")


@pytest.fixture
def builder(tmp_path, world):
    return EngineBuilder(root_dir=str(tmp_path / "builds"), containers=world.program)


def left_in(builder) -> list[str]:
    folder = builder.folder(image_plan()).parent
    return sorted(p.name for p in folder.iterdir() if p.name != ".lock") if folder.exists() else []


def test_an_image_is_pulled_by_its_digest_and_its_fingerprint_is_what_is_inside(builder, world):
    built = builder.build(image_plan(), AT, silent)
    assert world.asked("pull") == [["pull", REFERENCE]]
    stored = json.loads((built.folder / "fingerprint.json").read_text())
    assert (stored["kind"], stored["reported_version"], stored["host"]) == ("image", "1.0", "rocm")
    assert stored["image"] == {
        "reference": REFERENCE, "image_id": INSPECTED["Id"], "created": "2026-10-04T00:00:00Z",
    }  # fmt: skip
    assert (stored["platform"], stored["size_mib"], stored["installer"]) == (
        "linux-amd64", 3.0, "Docker version 99.0, a fake",
    )  # fmt: skip
    assert stored["lock_sha256"] == {}
    assert "pytest" in {package["name"] for package in stored["packages"]}  # the fake's container is this Python
    assert built.fingerprint.source == REFERENCE
    with pytest.raises(BuildError, match="tiny_image: has no Python on this host; expected an environment, found a"):
        _ = built.python
    assert built.folder.name == image_plan().build_hash(host_python())


def test_the_same_digest_is_neither_pulled_nor_proven_twice(builder, world):
    first = builder.build(image_plan(), AT, silent)
    n_runs = len(world.asked("run"))
    second = builder.build(image_plan(), AT + dt.timedelta(days=1), silent)
    assert (first.reused, second.reused, second.fingerprint) == (False, True, first.fingerprint)
    assert (len(world.asked("pull")), len(world.asked("run"))) == (1, n_runs)


def test_an_image_that_was_removed_is_not_built_any_more(builder, world):
    builder.build(image_plan(), AT, silent)
    (world.folder / "here.json").unlink()
    assert builder.find(image_plan()) is None
    assert builder.build(image_plan(), AT, silent).reused is False
    assert len(world.asked("pull")) == 2


def refused(builder, plan) -> str:
    with pytest.raises(BuildError) as error:
        builder.build(plan, AT, silent)
    assert "\n" not in str(error.value)
    assert left_in(builder) == []
    return str(error.value)


def test_a_digest_that_no_registry_holds_is_one_sentence(builder, world):
    (world.folder / "images.json").write_text("{}")
    sentence = refused(builder, image_plan())
    assert sentence.startswith("tiny_image: the image was not pulled (exit code 125); found ")
    assert "not found" in sentence


def test_an_image_that_carries_another_digest_is_refused(builder, world):
    world.put(RepoDigests=["tiny/engine@sha256:" + "0" * 64])
    assert f"expected {DIGEST}, found tiny/engine@sha256:0" in refused(builder, image_plan())


def test_an_image_whose_engine_reports_another_version_is_refused(builder):
    assert "expected 2.0, found 1.0" in refused(builder, image_plan(version="2.0"))


def test_an_image_whose_engine_does_not_run_is_refused(builder):
    assert "ModuleNotFoundError" in refused(builder, image_plan(version_code="import tiny_kernels"))


def test_a_host_without_docker_or_podman_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    sentence = refused(EngineBuilder(root_dir=str(tmp_path / "builds")), image_plan())
    assert "there is no program for containers; expected docker or podman" in sentence


def test_questions_are_asked_without_network_and_devices_in_containers_of_their_own(builder, world):
    plan = image_plan(options=["--device", "/dev/kfd"], variables={"TINY": "1"})
    builder.build(plan, AT, silent)
    runs = world.asked("run")
    assert len(runs) == 3  # version, parser, what is inside
    assert len({run[run.index("--name") + 1] for run in runs}) == 3
    for run in runs:
        assert run[run.index("--network") + 1] == "none"
        assert "--device" not in run
        assert run[run.index("--env") + 1] == "TINY=1"
        assert run[run.index("--pull") + 1] == "never"
    assert world.containers() == []


def test_a_launch_line_is_asked_of_the_parser_inside_the_image(builder):
    builder.build(image_plan(), AT, silent)
    builder.check_launch_lines(image_plan(), {"": ["--max-num-seqs", "32"]})
    with pytest.raises(BuildError, match=r"unknown flag --max-num-seq\. Nearest flag that exists: --max-num-seqs\."):
        builder.check_launch_lines(image_plan(), {"": ["--max-num-seq", "32"]})


def test_a_container_that_never_answers_is_removed_by_name(tmp_path, world):
    builder = EngineBuilder(root_dir=str(tmp_path / "builds"), containers=world.program, proof_timeout_s=1)
    (world.folder / "hang").touch()
    assert "no answer within 1 s" in refused(builder, image_plan())
    [run] = world.asked("run")
    assert world.asked("rm") == [["rm", "--force", run[run.index("--name") + 1]]]
    assert world.containers() == []


def started(builder, world, **changes: object):
    plan = image_plan(**changes)
    built = builder.build(plan, AT, silent)
    place = Place(port=18000, folders=("/models/small",), variables={"KEY": "v"})
    return start_command(plan.build, built, ["-m", "tiny_engine.serve"], place, world.program)


def test_a_server_starts_in_a_named_container_whose_port_is_on_loopback_alone(builder, world):
    start = started(builder, world, options=["--device", "/dev/kfd", "--ipc", "host"])
    assert start.command == (
        world.program, "run", "--rm", "--name", start.container, "--pull", "never", "--env", "KEY=v",
        "--device", "/dev/kfd", "--ipc", "host", "--publish", "127.0.0.1:18000:18000",
        "--volume", "/models/small:/models/small:ro", "--entrypoint", "python3", REFERENCE, "-m", "tiny_engine.serve",
    )  # fmt: skip
    assert start.container.startswith("frontier-vllm-")
    assert (start.bind_host, start.variables) == ("0.0.0.0", {})


def wait_until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("how", ["kill", "remove"])
def test_a_container_is_ended_by_name_after_its_starter_was_killed(builder, world, how):
    builder.build(image_plan(), AT, silent)
    (world.folder / "hang").touch()
    containers, name = Containers.found(world.program), container_name("vllm")
    command = containers.server_command(image_plan().build.image, name, [18000], [], {})
    starter = subprocess.Popen([*command, "-m", "tiny_engine.serve"])
    wait_until(lambda: world.containers() == [name])
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    assert not containers.is_gone(name)
    getattr(containers, how)(name)
    containers.remove(name)
    assert containers.is_gone(name)
