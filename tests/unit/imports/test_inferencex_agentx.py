"""InferenceX agentic aggregates."""

import pytest

from tests.unit.imports.foreign import AGENTX_FACTS, agentx_row, statistics


def without(latency):
    row = agentx_row()
    del row["request_metrics"]["latency"][latency]
    return row


def test_interactivity_is_recomputed_from_the_full_response_gaps(point):
    found = point(agentx_row(), **AGENTX_FACTS)
    assert (found["interactivity_tok_s_user"], found["interactivity_source"]) == (50.0, "full_response_itl.p90")


def test_without_those_it_comes_from_the_other_gaps(point):
    found = point(without("full_response_itl"), **AGENTX_FACTS)
    assert (found["interactivity_tok_s_user"], found["interactivity_source"]) == (40.0, "itl.p90")


def test_gpus_are_total_over_per_gpu_throughput(point):
    found = point(agentx_row(), **AGENTX_FACTS)
    assert (found["n_gpus"], found["throughput_tok_s_gpu"], found["topology"]) == (8, 137.5, "tp8")


def test_warmup_is_counted_apart_from_what_was_requested(point):
    found = point(agentx_row(), **AGENTX_FACTS)
    assert (found["n_requested"], found["n_successful"], found["n_failed"], found["n_warmup"]) == (80, 80, 0, 20)


def test_records_that_are_neither_profiled_nor_warmup_nor_errors_break_the_sum(point):
    assert point(agentx_row(num_requests_successful=79), **AGENTX_FACTS)["reasons"] == ["outcome_sum"]


def test_more_than_ten_percent_of_completed_failed(point):
    accounting = {"records_warmup_dropped": 20, "records_error_dropped": 9}
    found = point(agentx_row(num_requests_successful=71, request_accounting=accounting), **AGENTX_FACTS)
    assert found["reasons"] == ["too_many_failed"]


def test_computed_input_is_input_less_the_cached_share(point):
    found = point(agentx_row(), **AGENTX_FACTS)
    assert (found["cache_hit_share"], found["cached_input_tok"]) == (0.75, 60_000)
    assert found["computed_input_throughput_tok_s_gpu"] == pytest.approx(31.25)  # 125 × 0.25


def test_a_server_that_counted_another_window_gives_a_share_but_no_computed_input(point):
    row = agentx_row()
    row["server_metrics"]["tokens"]["prompt_total"] = 84_000
    found = point(row, **AGENTX_FACTS)
    assert (found["cache_hit_share"], found["computed_input_throughput_tok_s_gpu"]) == (0.75, None)
    assert "cache_window_differs" in found["notes"]


def test_an_absent_share_is_null(point):
    found = point(agentx_row(server_metrics={"present": False}), **AGENTX_FACTS)
    assert (found["cache_hit_share"], found["cached_input_tok"]) == (None, None)


def test_facts(point):
    found = point(agentx_row(), **AGENTX_FACTS)
    assert (found["gpu"], found["workload"], found["percentile"]) == ("h100", "agentx", 90)
    assert (found["kv_offload"], found["spec_method"], found["dp_attention"]) == ("dram-hicache", "mtp", False)
    assert found["engine_build"] == "lmsysorg/sglang:nightly-20260923"
    assert (found["power_w_gpu"], found["energy_j_output_tok"]) == (300.0, 24.0)


def test_the_date_in_an_image_tag_is_not_the_day_of_the_run(rejection):
    assert rejection(agentx_row()).code == "run_date_missing"


def test_no_ninetieth_percentile_is_no_interactivity(point):
    row = agentx_row()
    row["request_metrics"]["latency"] = {"tpot": {"mean": 0.02}, "ttft": statistics(1.0)}
    assert point(row, **AGENTX_FACTS)["reasons"] == ["percentile_missing"]
