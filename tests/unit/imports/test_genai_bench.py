"""GenAI-Bench's results, and the description of their experiment."""

import json

import pytest

from pipeline.errors import UnreadableFileError
from pipeline.imports.reader import read_results
from pipeline.imports.source import Declared, SourceFile
from tests.unit.imports.foreign_tools import (
    GENAI_FACTS,
    GENAI_FAILED,
    GENAI_NAME,
    genai_description,
    genai_request,
    genai_result,
    genai_statistics,
)

DESCRIPTION = "experiment_metadata.json"


@pytest.fixture
def beside(registry):
    """A result read with a description beside it."""

    def beside_(result, description, **declared):
        files = {DESCRIPTION: description if isinstance(description, bytes) else json.dumps(description).encode()}
        source = SourceFile(GENAI_NAME, json.dumps(result).encode(), files)
        return read_results(source, Declared(**declared), registry)

    return beside_


def one(outcome):
    assert outcome.rejected == ()
    return outcome.points.to_pylist()[0]


def test_latencies_are_those_of_the_requests(point):
    found = point(genai_result(), **GENAI_FACTS)
    assert found["valid"]
    assert found["tpot_p50_s"] == pytest.approx(0.09)  # between (1.1 - 0.1) / 10 and (1.1 - 0.3) / 10
    assert (found["ttft_p50_s"], found["e2el_p50_s"]) == (pytest.approx(0.2), 1.1)


def test_throughput_is_over_the_runs_duration(point):
    found = point(genai_result(), **GENAI_FACTS)
    assert (found["window_s"], found["input_tok"], found["output_tok"]) == (4.0, 400, 44)
    assert found["throughput_tok_s_gpu"] == 55.5  # 444 tokens / 4 s / 2 GPUs


def test_what_no_request_says_is_null(point):
    found = point(genai_result(), **GENAI_FACTS)
    assert (found["achieved_concurrency"], found["itl_p50_s"], found["steady_window_s"]) == (None, None, None)


def test_milliseconds_are_read_as_such(point):
    requests = [genai_request(100.0, 1100.0), genai_request(300.0, 1100.0)] * 2
    stats = {
        "ttft": genai_statistics(200.0, std=100.0) | {"p75": 300, "p90": 300, "p95": 300, "p99": 300},
        "tpot": genai_statistics(90.0, std=10.0) | {"p75": 100, "p90": 100, "p95": 100, "p99": 100},
        "e2e_latency": genai_statistics(1100.0),
    }
    found = point({**genai_result(requests, stats), "_time_unit": "ms"}, **GENAI_FACTS)
    assert found["valid"]
    assert (found["e2el_p50_s"], found["window_s"]) == (pytest.approx(1.1), 4.0)


def test_latencies_of_an_unknown_unit_are_no_row(rejection):
    assert rejection({**genai_result(), "_time_unit": "fortnight"}, **GENAI_FACTS).code == "unit_unknown"


def test_errors_failed_whatever_the_error_rate_says(read):
    ok = [genai_request(0.1), genai_request(0.3)] * 2
    outcome = read(genai_result([*ok, GENAI_FAILED]), **GENAI_FACTS)
    found = outcome.points.to_pylist()[0]
    assert (found["n_requested"], found["n_failed"], found["reasons"]) == (5, 1, ["too_many_failed"])
    assert outcome.requests.to_pylist()[4]["error"] == "a bad day"


def test_a_summary_that_is_not_that_of_its_requests_is_a_reason(point):
    found = point(genai_result(stats={"e2e_latency": genai_statistics(1.3)}), **GENAI_FACTS)
    assert found["reasons"] == ["summary_mismatch"]
    assert "summary_differs=e2el_p50_s" in found["notes"]


def test_statistics_over_fewer_requests_are_not_compared(point):
    without_warmup = {"total_tokens": genai_statistics(111, n=3), "ttft": genai_statistics(0.25)}
    found = point(genai_result(stats=without_warmup), **GENAI_FACTS)
    assert found["valid"]
    assert "summary_of_fewer_requests" in found["notes"]
    assert (found["ttft_p50_s"], found["input_tok"]) == (pytest.approx(0.2), 400)


@pytest.mark.parametrize(
    "requests",
    [
        [genai_request(0.001), genai_request(0.001, 1.2)],  # one value for all
        [genai_request(0.001)],  # the placeholder
        [genai_request(1.1, 1.1), genai_request(1.2, 1.2)],  # the end
    ],
)
def test_a_first_token_that_was_not_streamed_is_left_out(read, requests):
    stats = {"ttft": genai_statistics(0.001), "tpot": genai_statistics(0.1), "total_tokens": {}}
    outcome = read(genai_result(requests, {**stats, "e2e_latency": {}, **dict.fromkeys(
        ("num_input_tokens", "num_output_tokens"))}), **GENAI_FACTS)  # fmt: skip
    found = outcome.points.to_pylist()[0]
    assert (found["ttft_p50_s"], found["tpot_p50_s"]) == (None, None)
    assert found["reasons"] == ["interactivity_missing"]
    assert "not_streamed" in found["notes"]
    assert {r["ttft_ns"] for r in outcome.requests.to_pylist()} == {None}


def test_streaming_that_was_switched_off_is_known_from_the_command(beside):
    off = genai_description(cmd="genai-bench --disable-streaming True --task text-to-text")
    on = genai_description(cmd="genai-bench --disable-streaming False --task text-to-text")
    assert one(beside(genai_result(), off, precision="bf16"))["reasons"] == ["interactivity_missing"]
    assert one(beside(genai_result(), on, precision="bf16"))["valid"]


@pytest.mark.parametrize(
    ("scenario", "workload"),
    [
        ("D(128,16)", "random_128_16"),
        ("N(120,10)/(12,3)", "random_120_12"),
        ("U(90,110)/(10,12)", "random_110_12"),
        ("U(110,12)", "random_110_12"),
        ("dataset", "random_100_11"),
        (None, "random_100_11"),
    ],
)
def test_the_scenario_says_the_lengths(point, scenario, workload):
    assert point(genai_result(scenario=scenario), **GENAI_FACTS)["workload"] == workload


def test_only_a_kept_concurrency_is_one(point):
    assert point(genai_result(), **GENAI_FACTS)["concurrency"] == 2
    assert point(genai_result(iteration_type="request_rate"), **GENAI_FACTS)["concurrency"] is None


def test_the_description_says_what_served(beside):
    found = one(beside(genai_result(), genai_description(), precision="fp4"))
    assert (found["gpu"], found["n_gpus"], found["model"]) == ("h200", 4, "gpt_oss_120b")
    assert (found["engine"], found["engine_build"]) == ("sglang", "v0.5.8")
    assert found["declared"] == ["precision"]


def test_the_run_is_the_experiment_and_its_day_the_clients(beside):
    found = one(beside(genai_result(), genai_description(), precision="fp4"))
    assert found["run_id"] == "openai_SGLang_text-to-text_gpt-oss-120b_20260106_003622"
    assert str(found["run_date"]) == "2026-01-06"
    assert "local_time_date" in found["notes"]


def test_an_experiment_with_a_name_of_its_own_has_no_day(beside):
    named = genai_description(experiment_folder_name="/mnt/checkpoints/my_run/")
    assert beside(genai_result(), named, precision="fp4").rejected[0].code == "run_date_missing"
    assert one(beside(genai_result(), named, precision="fp4", run_date="2026-01-07"))["run_id"] == "my_run"


def test_a_version_that_names_an_engine_is_the_engine(beside):
    versioned = genai_description(server_engine=None, server_version="TRT-LLM")
    found = one(beside(genai_result(), versioned, precision="fp4"))
    assert (found["engine"], found["engine_build"]) == ("trtllm", None)


@pytest.mark.parametrize("key", ["gpu", "engine", "model"])
def test_without_a_description_it_is_declared(rejection, key):
    found = rejection(genai_result(), **{k: v for k, v in GENAI_FACTS.items() if k != key})
    assert (found.code, f"--{key}" in found.detail) == (f"{key}_missing", True)


def test_a_damaged_description_is_said_by_its_name(beside):
    with pytest.raises(UnreadableFileError, match=DESCRIPTION):
        beside(genai_result(), b'{"cmd": ', precision="fp4")


@pytest.mark.parametrize("other", [[], 3, {}, {"cmd": None}, [None]])
def test_a_file_of_that_name_that_describes_nothing_says_nothing(beside, other):
    assert one(beside(genai_result(), other, **GENAI_FACTS))["run_id"] == "imported-2026-01-06"


def test_the_description_itself_is_passed_over(read):
    outcome = read(genai_description(), DESCRIPTION)
    assert (outcome.n_rows_read, outcome.passed_over) == (0, True)
    assert "0 rows" in outcome.notes[0]


def test_without_requests_the_statistics_are_the_files_own(point):
    result = {**genai_result(), "individual_request_metrics": []}
    found = point(result, **GENAI_FACTS)
    assert (found["ttft_p50_s"], found["tpot_p99_s"], found["output_tok"], found["valid"]) == (0.2, 0.1, 44, True)


def test_a_run_that_only_failed_has_no_zero_statistics(point):
    result = genai_result([GENAI_FAILED] * 3, dict.fromkeys(("ttft", "tpot", "e2e_latency")))
    assert point(result, **GENAI_FACTS)["reasons"] == ["no_success", "too_many_failed"]
