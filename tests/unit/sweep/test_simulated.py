"""The simulator's answer as a row: a small report and four requests written by hand."""

import dataclasses
import datetime as dt

import pytest

from pipeline.measure.notes import note_sentence
from pipeline.registry.shipped import shipped_registry, simulated_recipes
from pipeline.sweep.plan import plan
from pipeline.sweep.simulated import Answer, largest_drop, simulated_point
from pipeline.sweep.simulator_requests import profile_request, replay_request
from pipeline.tables.points import POINTS

DAY = dt.date(2026, 11, 1)
FACTS = {"decode_ms": [10.0, 9.0, 12.0], "silicon_share": 0.4, "n_kv_blocks": 1000}
# start, TTFT, E2EL [ms]; input, output, cached [tok]: TPOT is (1100 − 100) / 100 = 10 ms, and twice that in the last
REQUESTS = [
    [0.0, 100.0, 1100.0, 8192, 101, 0],
    [0.0, 100.0, 1100.0, 8192, 101, 0],
    [1100.0, 100.0, 1100.0, 8192, 101, 4096],
    [1100.0, 200.0, 2200.0, 8192, 101, 4096],
]
REPORT = {"num_requests": 4, "completed_requests": 4, "mean_itl_ms": 12.0, "median_itl_ms": 10.0, "wall_time_ms": 3.5}
ANSWER = Answer(REPORT, REQUESTS, FACTS)


def planned(slug, concurrency=2):
    recipe = simulated_recipes()[slug]
    (point,) = [p for p in plan({slug: recipe}) if p.concurrency == concurrency]
    return point, shipped_registry().workload(recipe.workload)


def row_of(connection, slug="h100_vllm_fixed_8k1k", answer=ANSWER):
    return simulated_point(connection, *planned(slug), DAY, answer)


def test_throughput_is_the_workers_tokens_divided_by_its_gpus_once(connection):
    row = row_of(connection)
    # 4 × (8192 + 101) tokens / 3.3 s / 8 GPUs
    assert row["window_s"] == 3.3
    assert row["n_gpus"] == 8
    assert row["throughput_tok_s_gpu"] == pytest.approx(4 * 8293 / 3.3 / 8)
    assert row["output_throughput_tok_s_gpu"] == pytest.approx(404 / 3.3 / 8)
    assert row["computed_input_throughput_tok_s_gpu"] == pytest.approx((4 * 8192 - 8192) / 3.3 / 8)
    assert row["cache_hit_share"] == 0.25


def test_speed_is_read_at_the_workloads_percentile(connection):
    fixed, agentic = row_of(connection), row_of(connection, "h100_vllm_agentic_synthetic")
    # TPOT 10, 10, 10, 20 ms: the median is 10; rank 2.7 of 0 to 3 is 10 + 0.7 × 10
    assert (fixed["percentile"], fixed["interactivity_tok_s_user"]) == (50, pytest.approx(100))
    assert (agentic["percentile"], agentic["interactivity_tok_s_user"]) == (90, pytest.approx(1 / 0.017))
    assert agentic["interactivity_source"] == "tpot_p90_s"


def test_latencies_are_of_the_requests_and_gaps_are_the_reports(connection):
    row = row_of(connection)
    assert row["ttft_p50_s"] == 0.1
    assert row["e2el_mean_s"] == pytest.approx((1.1 * 3 + 2.2) / 4)
    assert (row["itl_mean_s"], row["itl_p50_s"]) == (0.012, 0.01)
    assert row["itl_p99_s"] is None


def test_requests_in_flight_and_the_steady_state_are_stored_beside_the_whole_run(connection):
    row = row_of(connection)
    # 1.1 + 1.1 + 1.1 + 2.2 request seconds in 3.3 s; two are in flight until 2.2 s
    assert row["achieved_concurrency"] == pytest.approx(5.5 / 3.3)
    assert row["steady_window_s"] == 2.2
    assert row["steady_throughput_tok_s_gpu"] == pytest.approx(8293 * 3.5 / 2.2 / 8)
    assert "steady_window_s" not in row_of(connection, "h100_vllm_agentic_synthetic")


def test_a_point_says_what_it_is(connection):
    row = row_of(connection, "h100_sglang_agentic_synthetic")
    assert row["provenance"] == row["source_format"] == "simulated"
    assert row["engine_build"] == "simulated on tables of 0.5.14 (ai-dynamo 1.4.2, aiconfigurator 0.12.0)"
    assert row["notes"] == ["low_fidelity=40%", "not_monotone=10%", "synthetic_trace", "unchunked_prefill"]
    assert all(note_sentence(note) for note in row["notes"])
    assert row["valid"]
    assert POINTS.violations(POINTS.from_rows([row])) == []


def test_neither_the_seconds_that_the_simulation_took_nor_the_order_of_its_sums_change_a_point(connection):
    slower = {**REPORT, "wall_time_ms": 99.0, "processed_tokens_per_s": 1.0, "mean_itl_ms": 12.0 + 1e-13}
    assert row_of(connection) == row_of(connection, answer=dataclasses.replace(ANSWER, report=slower))


def test_requests_that_did_not_complete_are_failures(connection):
    row = row_of(connection, answer=dataclasses.replace(ANSWER, report={**REPORT, "num_requests": 8}))
    assert (row["n_requested"], row["n_successful"], row["n_failed"]) == (8, 4, 4)
    assert row["reasons"] == ["too_many_failed"]


def test_an_answer_without_requests_is_an_invalid_point(connection):
    row = row_of(connection, answer=Answer({"num_requests": 3}, [], FACTS))
    assert row["reasons"] == ["no_success", "too_many_failed"]
    assert row.get("throughput_tok_s_gpu") is None
    assert POINTS.violations(POINTS.from_rows([row])) == []


def test_the_largest_drop_is_measured_from_the_highest_value_before_it():
    assert largest_drop([10.0, 20.0, 15.0, 18.0]) == 0.25
    assert largest_drop([1.0, 2.0, 3.0]) == 0.0


def test_agentic_turns_are_timed_behind_a_cached_context_and_fixed_prompts_behind_none():
    recipe = simulated_recipes()["h100_vllm_agentic_synthetic"]
    workloads = shipped_registry().workloads
    assert profile_request(recipe, workloads["agentic_synthetic"])["prefix_tok"] == 65_536
    assert profile_request(recipe, workloads["fixed_8k1k"])["prefix_tok"] == 0


def test_only_sglangs_agentic_prompts_are_unchunked():
    chunks = {}
    for slug in ("h100_vllm_agentic_synthetic", "h100_sglang_agentic_synthetic", "h100_sglang_fixed_8k1k"):
        chunks[slug] = replay_request(*planned(slug), 1000)["engine"]["max_num_batched_tokens"]
    assert chunks == {
        "h100_vllm_agentic_synthetic": 8192,
        "h100_sglang_agentic_synthetic": 131_072,
        "h100_sglang_fixed_8k1k": 8192,
    }
