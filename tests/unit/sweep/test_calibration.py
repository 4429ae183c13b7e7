"""The client's own error from the requests to a server of known timing."""

import json

import pytest

from pipeline.sweep.calibration import OUTPUT_TOK, ClientError, calibration_trace, client_error
from pipeline.sweep.scripted import Script

SCRIPT = Script(ttft_s=0.2, tpot_s=0.02)


def row(ttft_ms, tpot_ms, n_tok=51, **fields):
    e2el_ms = ttft_ms + tpot_ms * (n_tok - 1)
    told = {"ttft_ns": ttft_ms * 10**6, "e2el_ns": e2el_ms * 10**6, "output_tok": n_tok, "first_chunk_tok": 1}
    return {"phase": "profiling", "outcome": "ok"} | told | fields


def test_the_error_is_of_the_medians_and_signed():
    found = client_error([row(201, 21), row(203, 21), row(900, 19)], SCRIPT)
    assert found.tpot_share == pytest.approx(0.05)
    assert found.ttft_s == pytest.approx(0.003)
    assert found.n_requests == 3


def test_warm_up_and_failures_do_not_count():
    rows = [row(200, 20), row(900, 90, phase="warmup"), row(900, 90, outcome="failed")]
    assert client_error(rows, SCRIPT).n_requests == 1


def test_without_a_timed_request_there_is_no_error():
    assert client_error([], SCRIPT) is None
    assert client_error([row(200, 20, n_tok=1)], SCRIPT) is None


def test_tokens_of_the_first_chunk_took_no_time():
    in_fours = row(200, 20, n_tok=64) | {"e2el_ns": (200 + 60 * 20) * 10**6, "first_chunk_tok": 4}
    assert client_error([in_fours], SCRIPT) == ClientError(pytest.approx(0), pytest.approx(0), 1)


def test_the_lanes_do_not_stay_in_step():
    lengths = {json.loads(line)["output_length"] for line in calibration_trace(32)}
    assert len(lengths) > 40
    assert lengths <= set(range(OUTPUT_TOK[0], OUTPUT_TOK[1] + 1))
