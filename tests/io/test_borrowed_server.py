"""A server of somebody else's under a sweep: proven, watched, and never started or stopped."""

import dataclasses
import datetime as dt

import pytest

from pipeline.builds.plan import Plan
from pipeline.errors import BuildError, EngineError
from pipeline.registry.builds import Build, Server
from pipeline.sweep.launch_line import ServerPlan
from resources import borrowed_server
from resources.borrowed_server import borrowed
from resources.device_lock import Devices
from resources.engine_builder import EngineBuilder
from resources.engine_server import EngineServers
from resources.server_answers import Address
from tests.fakes.inference_server import MODELS, serving, sglang_server, vllm_server

AT = dt.datetime(2026, 11, 1, 12, 0, tzinfo=dt.UTC)
PLAN = ServerPlan("ours", "vllm", "small_random_28m", (), {}, 30, 8)


def silent(_: str) -> None:
    """Nobody listens."""


@pytest.fixture
def vllm():
    with serving(vllm_server()) as fake:
        fake.answers |= {"/metrics": "requests_total 7\n", "/reset_prefix_cache": {}}
        yield fake


def build_of(tmp_path, fake, version="0.33.0", engine="vllm", **server):
    named = Server(url=fake.url, **server)
    build = Build(name="Ours", role="engine", engine=engine, version=version, host="cuda", server=named)
    return EngineBuilder(root_dir=str(tmp_path), proof_timeout_s=10).build(Plan("ours", build, {}), AT, silent)


def test_it_is_asked_as_a_server_of_ours_is_and_goes_by_its_own_models_name(tmp_path, vllm):
    built = build_of(tmp_path, vllm, facts={"gpus_held": "8"})
    vllm.asked.clear()
    heard = []
    server = borrowed(built, PLAN, 10, heard.append)
    assert heard == ["ours: answers; it was not started here, and it is left as it is"]
    assert (server.url, server.api_key, server.model_name) == (vllm.url, "", "small")
    assert server.metrics() == "requests_total 7\n"
    assert server.flush_cache() is True
    assert (server.pids(), server.ended()) == (set(), None)
    assert "/v1/chat/completions" in [path for path, _, _ in vllm.asked]


def test_a_server_without_the_call_or_of_another_engine_cannot_flush(tmp_path, vllm):
    server = borrowed(build_of(tmp_path, vllm), PLAN, 10, silent)
    del vllm.answers["/reset_prefix_cache"]
    assert server.flush_cache() is False
    assert dataclasses.replace(server, engine="dynamo").flush_cache() is False


def test_a_key_goes_with_every_question(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "s3cret")
    with serving(sglang_server()) as fake:
        fake.answers |= {"/metrics": "x 1\n", "/flush_cache": ""}
        built = build_of(tmp_path, fake, "0.5.23", "sglang", api_key_variable="OUR_KEY")
        server = borrowed(built, dataclasses.replace(PLAN, engine="sglang"), 10, silent)
        assert (server.metrics(), server.flush_cache(), server.ended()) == ("x 1\n", True, None)
        assert {key for _, _, key in fake.asked} == {"Bearer s3cret"}
        assert "s3cret" not in repr(server)


def test_another_server_than_was_built_is_refused(tmp_path, vllm):
    built = build_of(tmp_path, vllm)
    vllm.answers["/v1/models"] = {"data": [*MODELS["data"], {"id": "large"}]}
    with pytest.raises(
        EngineError, match="ours: is not the server that was asked for; expected what answered"
    ) as error:
        borrowed(built, PLAN, 10, silent)
    assert error.value.kind == "stranger"


def test_it_has_ended_where_nobody_listens_and_it_is_never_started(tmp_path):
    with serving(vllm_server()) as fake:
        built = build_of(tmp_path, fake)
        server = borrowed(built, PLAN, 10, silent)
    assert server.ended() == "does not answer any more: nobody listens at its address"
    assert (server.metrics(), server.flush_cache()) == ("", False)
    with pytest.raises(BuildError, match="the server does not answer"):
        borrowed(built, PLAN, 10, silent)


def test_a_server_that_fails_for_a_while_has_not_ended_and_for_long_has(tmp_path, vllm, monkeypatch):
    monkeypatch.setattr(borrowed_server, "SECONDS_BETWEEN_LOOKS", -1)
    server = borrowed(build_of(tmp_path, vllm), PLAN, 10, silent)
    vllm.answers["/v1/models"] = (502, "")
    assert (server.ended(), server.ended()) == (None, None)
    vllm.answers["/v1/models"] = MODELS
    assert server.ended() is None
    vllm.answers["/v1/models"] = (502, "")
    server.patience_s = 0
    assert server.ended() == "does not answer for 0 s: HTTP 502"
    vllm.answers["/v1/models"] = MODELS
    assert server.ended() == "does not answer for 0 s: HTTP 502"  # the measurement was cut already


@pytest.mark.parametrize("ending", [None, KeyboardInterrupt])
def test_after_the_block_it_runs_as_before(tmp_path, vllm, ending):
    built = build_of(tmp_path, vllm)
    servers = EngineServers(root_dir=str(tmp_path / "servers"), free_memory_gib=1e9)  # nothing is started here
    try:
        with Devices(root_dir=str(tmp_path)).hold("h100", silent) as held, servers.running(built, PLAN, held, silent):
            if ending:
                raise ending
    except KeyboardInterrupt:
        pass
    assert borrowed(built, PLAN, 10, silent).ended() is None


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://localhost", True),
        ("https://192.0.2.7", False),
        ("http://no.invalid", False),
    ],
)
def test_a_server_is_here_where_its_address_is_one_of_this_host(url, here):
    assert Address(url, None).is_here() is here
