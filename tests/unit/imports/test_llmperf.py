"""LLMPerf's summaries, and the requests beside them."""

import json
import math

import pytest

from pipeline.imports.reader import read_results
from pipeline.imports.source import Declared, SourceFile
from tests.unit.imports.foreign_tools import LLMPERF_FACTS, LLMPERF_NAME, llmperf_request, llmperf_summary

REQUESTS_NAME = "gpt-oss-120b_100_10_individual_responses.json"
FOUR = [llmperf_request()] * 4


@pytest.fixture
def beside(registry):
    """A summary read with requests beside it."""

    def beside_(summary, requests, name=LLMPERF_NAME, other=REQUESTS_NAME):
        source = SourceFile(name, json.dumps(summary).encode(), {other: json.dumps(requests).encode()})
        return read_results(source, Declared(**LLMPERF_FACTS), registry)

    return beside_


def one(outcome):
    assert outcome.rejected == ()
    return outcome.points.to_pylist()[0]


def test_tpot_is_computed_from_the_requests(beside):
    outcome = beside(llmperf_summary(), FOUR)
    found = one(outcome)
    assert found["valid"]
    assert found["tpot_p50_s"] == 0.1  # (1.1 - 0.1) s / 10
    assert outcome.requests.num_rows == 4


def test_llmperfs_inter_token_latency_is_neither_tpot_nor_itl(point):
    found = point(llmperf_summary(), LLMPERF_NAME, **LLMPERF_FACTS)
    assert {found[key] for key in found if key.startswith(("tpot_", "itl_"))} == {None}
    assert found["reasons"] == ["interactivity_missing"]


def test_other_latencies_are_those_of_the_summary(point):
    found = point(llmperf_summary(), LLMPERF_NAME, **LLMPERF_FACTS)
    assert (found["ttft_p50_s"], found["ttft_p99_s"], found["e2el_mean_s"]) == (0.1, 0.1, 1.1)


def test_a_standard_deviation_becomes_the_populations(point):
    found = point(llmperf_summary(results_ttft_s_stddev=0.02), **LLMPERF_FACTS)
    assert found["ttft_std_s"] == pytest.approx(0.02 * math.sqrt(3 / 4))


def test_the_window_follows_from_the_requests_a_minute(point):
    found = point(llmperf_summary(), **LLMPERF_FACTS)
    assert (found["window_s"], found["input_tok"], found["output_tok"]) == (4.0, 400, 44)
    assert found["throughput_tok_s_gpu"] == 55.5  # 444 tokens / 4 s / 2 GPUs


def test_facts_of_the_file(point):
    found = point(llmperf_summary(), **LLMPERF_FACTS)
    assert (found["model"], found["concurrency"], found["workload"]) == ("gpt_oss_120b", 2, "random_100_10")
    assert (str(found["run_date"]), found["run_started_at"]) == ("2026-02-25", None)
    assert "tokens_of_another_tokenizer" in found["notes"]


def test_a_count_above_the_limit_of_every_request_is_not_the_models(point):
    found = point(llmperf_summary(results_number_output_tokens_mean=12.0), **LLMPERF_FACTS)
    assert "token_count_mismatch" in found["reasons"]


def test_limits_that_vary_prove_nothing(point):
    varied = llmperf_summary(results_number_output_tokens_mean=12.0, stddev_output_tokens=3)
    assert "token_count_mismatch" not in point(varied, **LLMPERF_FACTS)["reasons"]


def test_an_object_of_summaries_is_a_point_each(read):
    outcome = read({"1": llmperf_summary(num_concurrent_requests=1), "2": llmperf_summary()}, **LLMPERF_FACTS)
    assert sorted(row["concurrency"] for row in outcome.points.to_pylist()) == [1, 2]


def test_requests_of_another_run_contradict_the_summary(beside):
    assert one(beside(llmperf_summary(), FOUR[:3]))["reasons"] == ["summary_mismatch"]
    slower = [llmperf_request(0.2, 1.2)] * 4
    found = one(beside(llmperf_summary(), slower))
    assert found["reasons"] == ["summary_mismatch"]
    assert "summary_differs=ttft_p50_s" in found["notes"]


def test_a_request_with_an_error_code_failed(beside):
    error = {"error_code": 429, "error_msg": "", "ttft_s": 0, "end_to_end_latency_s": 0, "inter_token_latency_s": 0}
    summary = llmperf_summary(results_num_requests_started=5, results_number_errors=1)
    outcome = beside(summary, [*FOUR, llmperf_request(**error)])
    found = one(outcome)
    assert (found["n_requested"], found["n_failed"], found["reasons"]) == (5, 1, ["too_many_failed"])
    last = outcome.requests.to_pylist()[4]
    assert (last["error"], last["ttft_ns"], last["e2el_ns"]) == ("error 429", None, None)


@pytest.mark.parametrize("other", [[], {}, 3, [1], [{"a": 1}], [llmperf_request(), None]])
def test_a_file_of_that_name_without_requests_says_nothing(beside, other):
    assert one(beside(llmperf_summary(), other))["reasons"] == ["interactivity_missing"]


def test_requests_beside_their_summary_are_passed_over(beside):
    outcome = beside(FOUR, llmperf_summary(), REQUESTS_NAME, LLMPERF_NAME)
    assert outcome.passed_over
    assert "read with the summary" in outcome.notes[0]


def test_requests_alone_say_what_is_missing(rejection):
    found = rejection(FOUR, REQUESTS_NAME, **LLMPERF_FACTS)
    assert found.code == "summary_missing"
    assert "_summary.json" in found.detail


def test_means_that_a_script_drew_are_passed_over(read):
    means = {"1": {"concurrency": 1, "first-time-to-token_mean_in_ms": 158.1, "throughput_token_per_s": 30.4}}
    outcome = read(means, **LLMPERF_FACTS)
    assert (outcome.passed_over, outcome.points.num_rows) == (True, 0)


def test_a_run_without_a_success_has_no_statistics(point):
    nothing = {key: None for key in llmperf_summary() if key.startswith(("results_ttft", "results_end"))}
    found = point(
        llmperf_summary(
            **nothing,
            results_num_completed_requests=0,
            results_number_errors=4,
            results_num_completed_requests_per_min=0.0,
            results_number_input_tokens_mean=float("nan"),
        ),
        **LLMPERF_FACTS,
    )
    assert {"no_success", "too_many_failed"} <= set(found["reasons"])
    assert (found["ttft_p50_s"], found["window_s"]) == (None, None)


@pytest.mark.parametrize("key", ["gpu", "engine", "precision"])
def test_what_no_summary_says_is_declared(rejection, key):
    found = rejection(llmperf_summary(), **{k: v for k, v in LLMPERF_FACTS.items() if k != key})
    assert (found.code, f"--{key}" in found.detail) == (f"{key}_missing", True)
