"""The scripted server over a socket: what it says, in which order, and how it breaks off. No tight timing here."""

import http.client
import json
import urllib.error
import urllib.request

import psutil
import pytest

from pipeline.errors import LoadError
from pipeline.sweep.scripted import Fault, Script
from resources.scripted_server import scripted_server

QUICK = {"ttft_s": 0.01, "tpot_s": 0.001}


def post(url, **body):
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 6} | body
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=20) as response:
        return [line.strip() for line in response.read().decode().splitlines() if line.strip()]


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=20) as response:
        return response.read().decode()


def test_a_stream_has_its_tokens_its_finish_its_counts_and_an_end():
    with scripted_server(Script(**QUICK)) as url:
        *lines, done = post(url)
    bodies = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert done == "data: [DONE]"
    assert "".join(body["choices"][0]["delta"].get("content", "") for body in bodies[:-1]) == "a" * 6
    assert bodies[-2]["choices"][0]["finish_reason"] == "length"
    assert bodies[-1]["usage"] == {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}


def test_the_counters_agree_with_what_was_sent():
    with scripted_server(Script(**QUICK, cached_tok=3)) as url:
        post(url)
        post(url)
        values = dict(line.rsplit(" ", 1) for line in get(url, "/metrics").splitlines())
    labels = '{model_name="scripted",engine="0"}'
    assert values[f"vllm:prompt_tokens_total{labels}"] == "10"
    assert values[f"vllm:generation_tokens_total{labels}"] == "12"
    assert values[f"vllm:prefix_cache_hits_total{labels}"] == "6"
    assert values[f"vllm:num_requests_running{labels}"] == "0"


@pytest.mark.parametrize(("kind", "status"), [("http_500", 500), ("http_429", 429)])
def test_a_refusal_comes_instead_of_a_stream(kind, status):
    with (
        scripted_server(Script(**QUICK, faults=(Fault(kind),))) as url,
        pytest.raises(urllib.error.HTTPError, match=str(status)) as refused,
    ):
        post(url)
    refused.value.close()


def test_a_cut_connection_ends_without_the_end_of_the_answer():
    with scripted_server(Script(**QUICK, faults=(Fault("cut"),))) as url, pytest.raises(http.client.IncompleteRead):
        post(url)


def test_only_the_requests_that_a_fault_names_are_hit():
    with scripted_server(Script(**QUICK, faults=(Fault("no_finish", every=2, first=1),))) as url:
        ends = [post(url)[-1] == "data: [DONE]" for _ in range(4)]
    assert ends == [True, False, True, False]


def test_it_names_its_model_and_knows_no_other_path():
    with scripted_server(Script()) as url:
        assert json.loads(get(url, "/v1/models"))["data"][0]["id"] == "scripted"
        with pytest.raises(urllib.error.HTTPError, match="404") as unknown:
            get(url, "/nothing")
        unknown.value.close()


def test_no_process_is_left():
    before = set(psutil.Process().children())
    with scripted_server(Script()):
        assert set(psutil.Process().children()) - before
    assert set(psutil.Process().children()) == before


def test_a_script_that_is_none_is_refused(capfd):
    with pytest.raises(LoadError, match="before it served"), scripted_server(Script(faults=("cut",))):  # type: ignore
        pass
    assert "Traceback" in capfd.readouterr().err
