"""Repeats to a mean and a spread. One repeat: 10 requests in 1 s on two lanes, 1,110 tokens, TPOT 10 ms."""

import pytest

from pipeline.measure.repeats import over_repeats, repeat_rows
from pipeline.measure.target import Target
from tests.unit.measure.measured_repeats import AGENTIC, FIXED, Repeat, lanes, request, slower

TARGET = Target(concurrency=2, workload=FIXED, n_gpus=2)


def rows_of(connection, *requests, target=TARGET):
    return repeat_rows(connection, [Repeat(list(r), seed=i) for i, r in enumerate(requests)], target)


def test_a_repeat_has_its_own_statistics(connection):
    first, second = rows_of(connection, lanes(), slower(2))
    assert (first["repeat_index"], first["seed"], first["n_requested"], first["n_successful"]) == (0, 0, 10, 10)
    assert (first["window_s"], first["input_tok"], first["output_tok"]) == (1.0, 1000, 110)
    assert first["throughput_tok_s_gpu"] == pytest.approx(1110 / 1.0 / 2)
    assert (first["tpot_p50_s"], first["interactivity_tok_s_user"]) == pytest.approx((0.01, 100.0))
    assert second["interactivity_tok_s_user"] == pytest.approx(50.0)
    assert (first["achieved_concurrency"], first["steady_window_s"]) == (2.0, 1.0)
    assert first["steady_throughput_tok_s_gpu"] == pytest.approx(555.0)


def test_a_point_is_the_mean_of_its_repeats_and_its_counts_are_sums(connection):
    point = over_repeats(rows_of(connection, lanes(), slower(2)), TARGET)
    # 1,110 tokens on two GPUs in 1 s and in 2 s: 555 and 277.5; speeds 100 and 50
    assert point["throughput_tok_s_gpu"] == pytest.approx(416.25)
    assert point["interactivity_tok_s_user"] == pytest.approx(75.0)
    assert point["tpot_p50_s"] == pytest.approx(0.015)
    assert (point["n_requested"], point["output_tok"], point["window_s"]) == (20, 220, 3.0)
    assert point["output_throughput_tok_s_gpu"] == pytest.approx((55.0 + 27.5) / 2)
    assert (point["n_repeats"], point["window"]) == (2, "whole_run")
    assert point["interactivity_source"] == "tpot_p50_s of each repeat"


def test_the_spread_is_the_sample_deviation_of_the_repeats_and_never_a_reciprocal(connection):
    point = over_repeats(rows_of(connection, lanes(), slower(2)), TARGET)
    # two values that lie d apart: d / √2
    assert point["throughput_std_tok_s_gpu"] == pytest.approx(277.5 / 2**0.5)
    assert point["interactivity_std_tok_s_user"] == pytest.approx(50 / 2**0.5)


def test_one_repeat_has_no_spread(connection):
    point = over_repeats(rows_of(connection, lanes()), TARGET)
    assert (point["throughput_std_tok_s_gpu"], point["interactivity_std_tok_s_user"]) == (None, None)
    assert point["n_repeats"] == 1


def test_warmup_is_counted_and_in_no_number(connection):
    warm = [request(0, phase="warmup", ttft_ns=190 * 1_000_000)]
    point = over_repeats(rows_of(connection, [*warm, *lanes()], [*warm, *lanes()]), TARGET)
    assert (point["n_warmup"], point["n_requested"]) == (2, 20)
    assert point["ttft_p99_s"] == pytest.approx(0.1)


def test_a_repeat_without_success_counts_its_failures_and_is_in_no_mean(connection):
    failed = lanes(outcome="failed", ttft_ns=None, input_tok=None, output_tok=None, itl_ns=None)
    point = over_repeats(rows_of(connection, lanes(), failed), TARGET)
    assert (point["n_requested"], point["n_successful"], point["n_failed"]) == (20, 10, 10)
    assert point["throughput_tok_s_gpu"] == pytest.approx(555.0)
    assert (point["n_repeats"], point["throughput_std_tok_s_gpu"]) == (1, None)


def test_no_repeat_gives_zero_counts_and_null_statistics(connection):
    assert rows_of(connection) == []
    point = over_repeats([], TARGET)
    assert (point["n_requested"], point["n_successful"], point["n_repeats"]) == (0, 0, 0)
    assert (point["window_s"], point["ttft_p50_s"], point["interactivity_tok_s_user"]) == (None, None, None)
    assert "throughput_tok_s_gpu" not in point


def test_an_agentic_lane_pauses_and_has_no_steady_state_and_its_speed_is_the_slow_tail(connection):
    target = Target(concurrency=2, workload=AGENTIC, n_gpus=2)
    nine_and_one = [*lanes(n_lanes=1, n_each=9), request(1800, e2el_ns=300_000_000)]
    (row,) = rows_of(connection, nine_and_one, target=target)
    # TPOT nine times 10 ms and once 20 ms: rank 8.1 of 0 to 9 is 10 + 0.1 × 10
    assert row["interactivity_tok_s_user"] == pytest.approx(1 / 0.011)
    assert (row["steady_window_s"], row["steady_throughput_tok_s_gpu"]) == (None, None)
