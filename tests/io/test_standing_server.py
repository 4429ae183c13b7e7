"""A server that already runs: asked what it is and for one token, never started or stopped, and its key is kept."""

import datetime as dt
import socket
import threading

import pytest

from pipeline.builds.plan import Plan
from pipeline.errors import BuildError
from pipeline.registry.builds import Build, Server
from resources.engine_builder import EngineBuilder
from resources.engine_launch import Place, start_command
from resources.standing_server import address_of
from tests.fakes.inference_server import MODELS, FakeServer, serving, sglang_server, vllm_server

AT = dt.datetime(2026, 11, 1, 12, 0, tzinfo=dt.UTC)


@pytest.fixture
def builder(tmp_path):
    return EngineBuilder(root_dir=str(tmp_path / "builds"), proof_timeout_s=10)


@pytest.fixture
def vllm():
    with serving(vllm_server()) as fake:
        yield fake


@pytest.fixture
def sglang():
    with serving(sglang_server()) as fake:
        yield fake


def silent(_: str) -> None:
    """Nobody listens."""


def plan_of(fake: FakeServer | None, version: str = "0.33.0", **server: object) -> Plan:
    named = server if {"url", "url_variable"} & server.keys() else {"url": fake.url, **server}
    build = Build(name="Ours", role="engine", engine="vllm", version=version, host="cuda", server=Server(**named))
    return Plan("ours", build, {})


def refused(builder, plan) -> str:
    with pytest.raises(BuildError) as error:
        builder.build(plan, AT, silent)
    assert builder.find(plan) is None
    assert "s3cret" not in str(error.value)
    return str(error.value)


def test_a_vllm_server_is_named_by_what_it_says_and_proven_by_one_token(builder, vllm):
    built = builder.build(plan_of(vllm, facts={"gpus_held": "8"}), AT, silent)
    fingerprint = built.fingerprint
    assert (fingerprint.kind, fingerprint.reported_version, fingerprint.source) == ("server", "0.33.0", vllm.url)
    assert fingerprint.server.model_dump() == {
        "url": vllm.url, "models": ("small",), "said": {"version": "0.33.0"}, "declared": {"gpus_held": "8"},
        "n_proof_tok": 1,
    }  # fmt: skip
    assert vllm.asked[-1][:2] == (
        "/v1/chat/completions",
        {"model": "small", "max_tokens": 1, "messages": [{"role": "user", "content": "Say one word."}]},
    )


def test_what_cannot_be_known_from_outside_is_null(builder, vllm):
    fingerprint = builder.build(plan_of(vllm), AT, silent).fingerprint
    unknown = (fingerprint.python, fingerprint.platform, fingerprint.installer, fingerprint.torch)
    assert unknown == (None, None, None, None)
    assert (fingerprint.size_mib, fingerprint.n_packages) == (None, None)


def test_an_sglang_server_says_more_and_neither_its_key_nor_its_token_is_kept(builder, sglang, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "s3cret")
    built = builder.build(plan_of(sglang, "0.5.23", api_key_variable="OUR_KEY"), AT, silent)
    assert built.fingerprint.server.said == {"version": "0.5.23", "tp_size": "8", "model_path": "/models/small"}
    stored = (built.folder / "fingerprint.json").read_text()
    assert "s3cret" not in stored
    assert "t0ken" not in stored
    assert {key for _, _, key in sglang.asked} == {"Bearer s3cret"}


def test_a_key_that_is_not_set_or_wrong_is_one_sentence_without_the_key(builder, sglang, monkeypatch):
    plan = plan_of(sglang, "0.5.23", api_key_variable="OUR_KEY")
    monkeypatch.delenv("OUR_KEY", raising=False)
    assert "ours: the environment variable OUR_KEY is not set. Set OUR_KEY." in refused(builder, plan)
    monkeypatch.setenv("OUR_KEY", "wrong")
    assert "the server refuses the key (HTTP 401)" in refused(builder, plan)


def test_an_address_is_not_shown_with_its_key(monkeypatch):
    monkeypatch.setenv("OUR_KEY", "s3cret")
    address = address_of(Server(url="http://10.0.0.7:8000/v1/", api_key_variable="OUR_KEY"), "ours")
    assert (address.url, address.api_key) == ("http://10.0.0.7:8000", "s3cret")
    assert "s3cret" not in repr(address)


def test_an_address_can_come_from_the_environment(builder, vllm, monkeypatch):
    monkeypatch.setenv("OUR_URL", vllm.url)
    assert builder.build(plan_of(vllm, url_variable="OUR_URL"), AT, silent).fingerprint.source == vllm.url
    monkeypatch.setenv("OUR_URL", "http://me:s3cret@10.0.0.7")
    with pytest.raises(BuildError, match=r"its address is none; .*Correct OUR_URL\.") as error:
        builder.build(plan_of(vllm, url_variable="OUR_URL"), AT, silent)
    assert "s3cret" not in str(error.value)


def test_a_server_is_asked_every_time_and_another_version_is_another_build(builder, vllm):
    first = builder.build(plan_of(vllm), AT, silent)
    again = builder.build(plan_of(vllm), AT, silent)
    assert (again.reused, again.fingerprint.build_hash) == (False, first.fingerprint.build_hash)
    vllm.answers["/version"] = {"version": "0.33.0+patched"}
    other = builder.build(plan_of(vllm), AT, silent)
    assert other.fingerprint.build_hash != first.fingerprint.build_hash
    assert builder.find(plan_of(vllm)).fingerprint == other.fingerprint


def test_a_server_of_another_version_than_its_block_is_refused(builder, vllm):
    assert "expected 0.32.0, found 0.33.0" in refused(builder, plan_of(vllm, "0.32.0"))


def test_a_server_that_does_not_say_its_version_is_taken_at_its_blocks_word(builder, vllm):
    del vllm.answers["/version"]
    fingerprint = builder.build(plan_of(vllm), AT, silent).fingerprint
    assert (fingerprint.version, fingerprint.reported_version) == ("0.33.0", None)


def test_a_fact_that_the_server_contradicts_is_refused(builder, sglang, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "s3cret")
    plan = plan_of(sglang, "0.5.23", api_key_variable="OUR_KEY", facts={"tp_size": "4"})
    assert "the server says another tp_size than its block; expected 4, found 8" in refused(builder, plan)


def test_a_model_that_it_does_not_list_is_refused_though_it_would_answer(builder, vllm):
    assert "it does not serve large; found small" in refused(builder, plan_of(vllm, model="large"))
    vllm.answers["/v1/models"] = {"data": []}
    assert "it does not serve any model" in refused(builder, plan_of(vllm))


@pytest.mark.parametrize(
    "answer",
    [
        (500, {"error": "out of memory"}),
        (404, ""),
        {"model": "small"},
        {"usage": {"completion_tokens": 0}},
        {"usage": None},
    ],
)
def test_health_is_no_proof_without_a_token(builder, vllm, answer):
    vllm.answers["/v1/chat/completions"] = answer
    assert "the server generates no token" in refused(builder, plan_of(vllm))


def test_a_model_without_a_chat_template_is_asked_to_complete(builder, vllm):
    vllm.answers["/v1/chat/completions"] = (400, {"error": "no chat template"})
    vllm.answers["/v1/completions"] = {"usage": {"completion_tokens": 1}}
    assert builder.build(plan_of(vllm), AT, silent).fingerprint.server.n_proof_tok == 1


def test_a_redirect_is_not_followed_for_it_would_carry_the_key_along(builder, vllm, sglang, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "s3cret")
    vllm.answers["/v1/models"] = (302, f"{sglang.url}/v1/models")
    assert "lists no models" in refused(builder, plan_of(vllm, api_key_variable="OUR_KEY"))
    assert sglang.asked == []


@pytest.mark.parametrize("body", ["<html>", [1], {"data": [{}]}, {"object": "list"}])
def test_an_address_where_something_else_answers_is_refused(builder, vllm, body):
    vllm.answers["/v1/models"] = body
    assert "lists no models" in refused(builder, plan_of(vllm))


def test_a_server_that_is_not_there_is_one_sentence(builder):
    with serving(FakeServer({"/v1/models": MODELS})) as gone:
        plan = plan_of(gone)
    assert f"ours at {gone.url}: the server does not answer; found" in refused(builder, plan)


def test_something_that_speaks_no_http_is_one_sentence(builder):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=greet_one, args=(listening,))
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert f"ours at {url}: the server does not answer; found" in refused(builder, plan_of(None, url=url))
        thread.join()


def greet_one(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"220 mail.example ESMTP\r\n")


def test_there_is_nothing_to_start_and_no_parser_to_ask(builder, vllm):
    plan = plan_of(vllm)
    built = builder.build(plan, AT, silent)
    with pytest.raises(BuildError, match="runs already, there is nothing to start"):
        start_command(plan.build, built, ["-m", "x"], Place(port=1), "")
    with pytest.raises(BuildError, match="runs already and has no parser to ask"):
        builder.check_launch_lines(plan, {"": []})
