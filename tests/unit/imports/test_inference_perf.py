"""inference-perf's reports."""

import pytest

from pipeline.errors import UnsupportedFormatError
from tests.unit.imports.foreign_tools import INFERENCE_PERF_FACTS, inference_perf_stage, summarized


def test_percentiles_go_to_their_columns(point):
    found = point(inference_perf_stage(), **INFERENCE_PERF_FACTS)
    assert found["valid"]
    assert (found["ttft_p50_s"], found["tpot_p90_s"], found["itl_p99_s"], found["e2el_mean_s"]) == (
        0.1,
        0.02,
        0.02,
        1.1,
    )
    assert found["interactivity_tok_s_user"] == 50.0


def test_what_a_report_does_not_have_is_null(point):
    found = point(inference_perf_stage(), **INFERENCE_PERF_FACTS)
    assert (found["ttft_std_s"], found["run_started_at"], found["cached_input_tok"]) == (None, None, None)


def test_tokens_and_window_follow_from_the_rates(point):
    found = point(inference_perf_stage(), **INFERENCE_PERF_FACTS)
    assert (found["window_s"], found["input_tok"], found["output_tok"]) == (10.0, 4000, 1020)
    assert found["throughput_tok_s_gpu"] == 251.0  # 502 tok/s on 2 GPUs
    assert found["achieved_concurrency"] == pytest.approx(2.2)  # 20 × 1.1 s in 10 s


def test_a_window_that_is_said_counts(point):
    assert point({**inference_perf_stage(), "benchmark_time_seconds": 10.0}, **INFERENCE_PERF_FACTS)["window_s"] == 10.0


def test_the_load_is_the_rate_that_was_asked_for(point):
    found = point(inference_perf_stage(), **INFERENCE_PERF_FACTS)
    assert (found["request_rate_req_s"], found["concurrency"]) == (2.0, None)
    assert not any(note.startswith("rate_not_reached") for note in found["notes"])


def test_a_rate_that_the_client_did_not_reach_is_noted(point):
    found = point(inference_perf_stage({"requested_rate": 4.0, "achieved_rate": 3.0}), **INFERENCE_PERF_FACTS)
    assert found["request_rate_req_s"] == 4.0
    assert "rate_not_reached=3" in found["notes"]


def test_a_kept_concurrency_is_no_rate(point):
    found = point(inference_perf_stage({"concurrency": 8, "requested_rate": 1000.0}), **INFERENCE_PERF_FACTS)
    assert (found["concurrency"], found["request_rate_req_s"]) == (8, None)


@pytest.mark.parametrize("tpot_s", [0.0095, 0.042])
def test_a_tpot_that_its_own_latencies_contradict_is_left_out(point, tpot_s):
    found = point(inference_perf_stage(time_per_output_token=tpot_s), **INFERENCE_PERF_FACTS)
    assert (found["tpot_p50_s"], found["itl_p50_s"], found["ttft_p50_s"]) == (None, None, 0.1)
    assert found["reasons"] == ["interactivity_missing", "tpot_contradicted"]


def test_how_often_a_token_was_stamped_is_noted(point):
    found = point(inference_perf_stage(time_per_output_token=0.01), **INFERENCE_PERF_FACTS)
    assert "tpot_left_out=2" in found["notes"]  # (1.1 - 0.1) s / 50 is 20 ms


def test_a_mean_that_differs_as_lengths_do_is_kept(point):
    assert point(inference_perf_stage(time_per_output_token=0.026), **INFERENCE_PERF_FACTS)["tpot_p50_s"] == 0.026


def test_gaps_inside_of_chunks_are_no_itl(point):
    stage = inference_perf_stage()
    stage["successes"]["latency"]["inter_token_latency"]["min"] = 0.0
    found = point(stage, **INFERENCE_PERF_FACTS)
    assert (found["itl_p99_s"], found["itl_mean_s"], found["tpot_p50_s"]) == (None, None, 0.02)


def test_answers_in_one_piece_have_no_speed(point):
    pieces = {"time_per_output_token": None, "time_to_first_token": None, "inter_token_latency": None}
    assert point(inference_perf_stage(**pieces), **INFERENCE_PERF_FACTS)["reasons"] == ["interactivity_missing"]


def test_failures_count_and_their_time_was_in_flight(point):
    stage = inference_perf_stage({"count": 25})
    stage["failures"] = {"count": 5, "request_latency": summarized(2.0)}
    found = point(stage, **INFERENCE_PERF_FACTS)
    assert (found["n_requested"], found["n_failed"], found["reasons"]) == (25, 5, ["too_many_failed"])
    assert found["achieved_concurrency"] == pytest.approx(3.2)  # (20 × 1.1 + 5 × 2) s in 10 s


@pytest.mark.parametrize("key", ["gpu", "engine", "precision", "model", "run_date"])
def test_what_no_report_says_is_declared(rejection, key):
    found = rejection(inference_perf_stage(), **{k: v for k, v in INFERENCE_PERF_FACTS.items() if k != key})
    assert found.code == f"{key}_missing"
    assert f"--{key.replace('_', '-')}" in found.detail


def test_a_report_over_all_stages_is_passed_over(read):
    stage = inference_perf_stage()
    outcome = read({**stage, "load_summary": {"count": 20, "schedule_delay": {}}}, **INFERENCE_PERF_FACTS)
    assert (outcome.n_rows_read, outcome.passed_over) == (0, True)
    assert "over all stages: 0 rows" in outcome.notes[0]


def test_server_metrics_are_passed_over(read):
    scraped = {"load_summary": {}, "successes": {"count": 20, "request_latency": {"mean": 1.1}}, "failures": {}}
    outcome = read(scraped, **INFERENCE_PERF_FACTS)
    assert outcome.passed_over
    assert "server metrics" in outcome.notes[0]


def test_requests_of_several_stages_are_refused_by_name(read):
    request = dict.fromkeys(("start_time", "end_time", "request", "response", "info", "error"))
    with pytest.raises(UnsupportedFormatError, match="inference-perf requests"):
        read([request], **INFERENCE_PERF_FACTS)


def test_a_stage_where_nothing_succeeded_has_no_statistics(point):
    stage = inference_perf_stage()
    stage["successes"] = {"count": 0, "latency": dict.fromkeys(stage["successes"]["latency"]), "throughput": {}}
    stage["failures"] = {"count": 20, "request_latency": summarized(1.0)}
    found = point(stage, workload="random_200_51", **INFERENCE_PERF_FACTS)
    assert found["reasons"] == ["no_success", "too_many_failed"]
