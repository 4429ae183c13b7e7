"""AIPerf's summary and its records."""

import json

import pytest

from tests.unit.imports.foreign import AIPERF_FACTS, aiperf_record, aiperf_row, metric

RECORD_FACTS = {"gpu": "h100", "model": "qwen3_0_6b", "workload": "random_100_3", **AIPERF_FACTS}


def records(*rows):
    return "\n".join(json.dumps(row) for row in rows)


def test_each_metric_has_its_own_unit(point):
    found = point(aiperf_row(), **AIPERF_FACTS)
    assert (found["ttft_p50_s"], found["e2el_mean_s"]) == (0.02, 1.0)
    assert (found["tpot_p90_s"], found["itl_p90_s"]) == (0.02, 0.04)


def test_a_metric_of_an_unknown_unit_is_not_read(point):
    assert point(aiperf_row(time_to_first_token=metric(20.0, "fortnight")), **AIPERF_FACTS)["ttft_p50_s"] is None


def test_totals_load_and_lengths(point):
    found = point(aiperf_row(), **AIPERF_FACTS)
    assert (found["throughput_tok_s_gpu"], found["concurrency"], found["n_warmup"]) == (300.0, 2, 1)
    assert (found["workload"], found["n_requested"], found["n_failed"]) == ("random_100_50", 10, 0)


def test_errors_are_requested_too(point):
    found = point(aiperf_row(error_request_count={"avg": 2.0}), **AIPERF_FACTS)
    assert (found["n_requested"], found["n_failed"], found["reasons"]) == (12, 2, ["too_many_failed"])


def test_the_day_is_that_of_the_first_request_in_utc(point):
    found = point(aiperf_row(), **AIPERF_FACTS)
    assert found["run_started_at"].isoformat().startswith("2025-11-07T21:38:54")


def test_telemetry_names_the_device(point):
    found = point(aiperf_row(), **AIPERF_FACTS)
    assert (found["gpu"], found["device_name"]) == ("rtx6000ada", "NVIDIA RTX 6000 Ada Generation")


def test_without_streaming_there_is_no_interactivity(point):
    row = {k: v for k, v in aiperf_row().items() if k not in ("time_to_first_token", "inter_token_latency")}
    assert point(row, **AIPERF_FACTS)["reasons"] == ["interactivity_missing"]


def test_all_records_are_one_point(read):
    outcome = read(records(aiperf_record(0), aiperf_record(1)), "profile_export.jsonl", **RECORD_FACTS)
    assert (outcome.n_rows_read, outcome.n_valid, outcome.requests.num_rows) == (1, 1, 2)
    found = outcome.points.to_pylist()[0]
    assert found["tpot_p50_s"] == pytest.approx(0.05)
    assert found["window_s"] == pytest.approx(1.2)
    assert found["throughput_tok_s_gpu"] == pytest.approx(206 / 1.2)
    assert [r["start_ns"] for r in outcome.requests.to_pylist()] == [0, 1_000_000_000]


def test_warmup_records_are_kept_and_excluded(read):
    warm = aiperf_record(0, benchmark_phase="warmup")
    outcome = read(records(warm, aiperf_record(1), aiperf_record(2)), "x", **RECORD_FACTS)
    found = outcome.points.to_pylist()[0]
    assert (found["n_requested"], found["n_warmup"], found["input_tok"]) == (2, 1, 200)
    assert [r["phase"] for r in outcome.requests.to_pylist()] == ["warmup", "profiling", "profiling"]


def test_errors_and_cancellations_are_outcomes(read):
    failed = {**aiperf_record(0), "error": {"type": "Timeout", "message": "too slow"}}
    cancelled = aiperf_record(1, was_cancelled=True)
    outcome = read(records(failed, cancelled, aiperf_record(2)), "x", **RECORD_FACTS)
    assert [(r["outcome"], r["error"]) for r in outcome.requests.to_pylist()] == [
        ("failed", "too slow"),
        ("cancelled", "cancelled"),
        ("ok", None),
    ]
    assert outcome.points.to_pylist()[0]["reasons"] == ["too_many_failed"]


def test_a_line_that_is_no_record_rejects_the_point(read):
    assert read(records(aiperf_record(0), {"other": 1}), "x", **RECORD_FACTS).rejected[0].code == "not_a_row"


def test_one_line_is_a_file_of_records_too(read):
    assert read(records(aiperf_record(0)), "x", **RECORD_FACTS).n_valid == 1
