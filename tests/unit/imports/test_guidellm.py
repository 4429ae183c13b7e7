"""GuideLLM's reports."""

import pytest

from pipeline.errors import UnreadableFileError
from tests.unit.imports.foreign_tools import (
    GUIDELLM_FACTS,
    GUIDELLM_START_S,
    distribution,
    guidellm_benchmark,
    guidellm_report,
    guidellm_request,
)


def of(benchmark, **report):
    return guidellm_report(benchmark, **report)


def without_requests(**metrics):
    benchmark = guidellm_benchmark(requests={"successful": None, "errored": [], "incomplete": [], "total": None})
    return {**benchmark, "metrics": {**benchmark["metrics"], **metrics}}


def test_latencies_are_those_of_the_requests(point):
    found = point(guidellm_report(), **GUIDELLM_FACTS)
    assert found["valid"]
    assert (found["ttft_p50_s"], found["e2el_p50_s"], found["e2el_mean_s"]) == (0.1, 0.5, 0.5)
    assert found["ttft_std_s"] == 0


def test_tpot_leaves_the_first_token_out_and_is_not_guidellms_own(point):
    slow_start = [guidellm_request(at_s, 300.0) for at_s in (0.0, 0.0, 0.5, 0.5)]
    found = point(of(guidellm_benchmark(requests={"successful": slow_start})), **GUIDELLM_FACTS)
    assert found["tpot_p50_s"] == pytest.approx(0.05)  # (500 - 300) ms / 4; GuideLLM's own is 500 / 5


def test_there_is_no_itl(point):
    found = point(guidellm_report(), **GUIDELLM_FACTS)
    assert {found[key] for key in found if key.startswith("itl_")} == {None}


def test_throughput_is_over_the_time_of_the_requests(point):
    found = point(guidellm_report(), **GUIDELLM_FACTS)
    assert (found["window_s"], found["input_tok"], found["output_tok"]) == (1.0, 380, 20)
    assert found["throughput_tok_s_gpu"] == 200.0  # 400 tokens / 1 s / 2 GPUs


def test_facts_of_the_file(point):
    found = point(guidellm_report(), **GUIDELLM_FACTS)
    assert (found["model"], found["run_id"], str(found["run_date"])) == ("gpt_oss_120b", "run-1", "2026-02-25")
    assert (found["workload"], found["provenance"], found["source_format"]) == ("random_95_5", "imported", "guidellm")
    assert found["declared"] == ["engine", "gpu", "n_gpus", "precision"]


@pytest.mark.parametrize(
    ("strategy", "concurrency", "rate"),
    [
        ({"type_": "synchronous", "max_concurrency": 1}, 1, None),
        ({"type_": "concurrent", "streams": 8}, 8, None),
        ({"type_": "constant", "rate": 2.5, "max_concurrency": 512}, None, 2.5),
        ({"type_": "poisson", "rate": 4.0}, None, 4.0),
        ({"type_": "throughput", "max_concurrency": None}, None, None),
        ({"type_": "throughput", "max_concurrency": 64}, 64, None),
    ],
)
def test_each_strategy_is_a_load_of_its_own_kind(point, strategy, concurrency, rate):
    found = point(of(guidellm_benchmark(strategy)), **GUIDELLM_FACTS)
    assert (found["concurrency"], found["request_rate_req_s"]) == (concurrency, rate)
    assert ("throughput_mode" in found["notes"]) == (strategy["type_"] == "throughput")


def test_every_benchmark_of_a_sweep_is_a_point_of_one_run(read):
    kinds = [{"type_": "synchronous"}, {"type_": "throughput"}, {"type_": "constant", "rate": 2.0}]
    outcome = read(guidellm_report(*map(guidellm_benchmark, kinds)), **GUIDELLM_FACTS)
    points = sorted(outcome.points.to_pylist(), key=lambda row: row["source_row"])
    assert (outcome.n_rows_read, outcome.n_valid, outcome.requests.num_rows) == (3, 3, 12)
    assert [row["source_row"] for row in points] == [0, 1, 2]
    assert len({row["point_id"] for row in points}) == 3
    assert {row["run_id"] for row in points} == {"run-1"}


def test_requests_outside_of_the_measured_window_are_warm_up(read):
    benchmark = guidellm_benchmark()
    early = guidellm_request(-2.0)  # ends 1.5 s before the window
    across = guidellm_request(-0.25)  # ends in it
    late = guidellm_request(3.0, request_latency=None, output_tokens=None)
    benchmark["requests"] = {
        "successful": [early, across, *benchmark["requests"]["successful"][1:]],
        "incomplete": [late],
    }
    outcome = read(of(benchmark), **GUIDELLM_FACTS)
    found = outcome.points.to_pylist()[0]
    assert (found["n_requested"], found["n_warmup"], found["n_cancelled"]) == (4, 2, 0)
    assert found["window_s"] == pytest.approx(1.25)
    phases = {r["request_index"]: r["phase"] for r in outcome.requests.to_pylist()}
    assert phases == {0: "warmup", 1: "profiling", 2: "profiling", 3: "profiling", 4: "profiling", 5: "warmup"}


def test_a_window_that_ends_long_after_the_requests_does_not_count(point):
    found = point(of(guidellm_benchmark(end_time=GUIDELLM_START_S + 90, duration=90.0)), **GUIDELLM_FACTS)
    assert (found["window_s"], found["throughput_tok_s_gpu"]) == (1.0, 200.0)


def test_errored_requests_failed_and_incomplete_ones_were_cancelled(read):
    benchmark = guidellm_benchmark()
    failed = guidellm_request(0.0, info={"error": "no route"}, time_to_first_token_ms=None)
    benchmark["requests"] |= {"errored": [failed], "incomplete": [guidellm_request(0.5, request_latency=None)]}
    benchmark["metrics"]["request_totals"] = {"successful": 4, "errored": 1, "incomplete": 1, "total": 6}
    outcome = read(of(benchmark), **GUIDELLM_FACTS)
    found = outcome.points.to_pylist()[0]
    assert (found["n_requested"], found["n_failed"], found["n_cancelled"]) == (6, 1, 1)
    assert found["reasons"] == ["too_many_failed"]
    assert [r["error"] for r in outcome.requests.to_pylist()[4:]] == ["no route", "cancelled"]


@pytest.mark.parametrize(
    ("metric", "stated", "column"),
    [
        ("time_to_first_token_ms", distribution(150.0), "ttft_mean_s"),
        ("request_latency", distribution(0.6), "e2el_mean_s"),
        ("output_token_count", distribution(5.0, 24.0), "output_tok"),
    ],
)
def test_a_summary_that_is_not_that_of_its_requests_is_a_reason(point, metric, stated, column):
    benchmark = guidellm_benchmark()
    benchmark["metrics"][metric] = stated
    found = point(of(benchmark), **GUIDELLM_FACTS)
    assert found["reasons"] == ["summary_mismatch"]
    assert f"summary_differs={column}" in found["notes"]


def test_without_requests_the_statistics_are_the_files_own(point):
    found = point(of(without_requests()), **GUIDELLM_FACTS)
    assert found["valid"]
    assert (found["ttft_p90_s"], found["e2el_p99_s"], found["achieved_concurrency"]) == (0.1, 0.5, 2.0)
    assert found["tpot_p50_s"] == 0.1  # inter_token_latency: all outputs are of one length
    assert found["throughput_tok_s_gpu"] == 200.0


def test_without_requests_a_tpot_that_weighs_tokens_is_left_out(point):
    found = point(of(without_requests(output_token_count=distribution(5.0, 20.0, std=1.0))), **GUIDELLM_FACTS)
    assert found["tpot_p50_s"] is None
    assert found["reasons"] == ["interactivity_missing"]
    assert "tpot_weighted_by_tokens" in found["notes"]


def test_without_requests_a_trimmed_window_has_no_throughput(point):
    found = point(of({**without_requests(), "warmup_duration": 0.2}), **GUIDELLM_FACTS)
    assert found["reasons"] == ["throughput_missing"]


def test_a_sample_of_requests_is_not_taken_for_all(read):
    benchmark = guidellm_benchmark()
    benchmark["requests"]["successful"] = benchmark["requests"]["successful"][:2]
    outcome = read(of(benchmark), **GUIDELLM_FACTS)
    assert outcome.requests.num_rows == 0
    assert "requests_incomplete" in outcome.points.to_pylist()[0]["notes"]
    assert outcome.points.to_pylist()[0]["n_requested"] == 4


@pytest.mark.parametrize(
    ("data", "workload"),
    [
        ('{"prompt_tokens": 128, "output_tokens": 16, "prompt_tokens_stdev": 4}', "random_128_16"),
        ("prompt_tokens=64,output_tokens=8,output_tokens_stdev=2", "random_64_8"),
        ({"kind": "synthetic_text", "prompt_tokens": 32, "output_tokens": 4}, "random_32_4"),
        ("some/dataset", "random_95_5"),
    ],
)
def test_lengths_are_those_of_synthetic_data_else_the_means(point, data, workload):
    found = point(guidellm_report(data=data), **GUIDELLM_FACTS)
    assert found["workload"] == workload
    assert ("lengths_from_means" in found["notes"]) == (data == "some/dataset")


def test_a_report_without_a_benchmark_says_so(read):
    with pytest.raises(UnreadableFileError, match="GuideLLM results without a benchmark"):
        read({**guidellm_report(), "benchmarks": []}, **GUIDELLM_FACTS)


@pytest.mark.parametrize("benchmark", [None, 3, [], {}, {"metrics": None}, {"metrics": 7}])
def test_a_benchmark_without_metrics_is_no_point(read, benchmark):
    outcome = read(guidellm_report(benchmark), **GUIDELLM_FACTS)
    assert [row.code for row in outcome.rejected] == ["not_a_row"]


def test_a_run_that_only_failed_has_no_zero_statistics(point):
    nothing = distribution(0.0)
    failed = [guidellm_request(0.0, time_to_first_token_ms=None, request_latency=None)] * 4
    benchmark = guidellm_benchmark(requests={"successful": [], "errored": failed})
    benchmark["metrics"] = {key: nothing for key in benchmark["metrics"]}
    benchmark["metrics"]["request_totals"] = {"successful": 0, "errored": 4, "incomplete": 0, "total": 4}
    found = point(of(benchmark), workload="random_95_5", **GUIDELLM_FACTS)
    assert found["reasons"] == ["no_success", "too_many_failed"]
    assert {found[key] for key in found if key.startswith(("ttft_", "tpot_", "e2el_"))} == {None}


def test_a_number_that_is_none_is_a_reason(point):
    benchmark = guidellm_benchmark()
    benchmark["metrics"]["request_latency"]["successful"]["mean"] = float("nan")
    assert "metric_not_finite" in point(of(benchmark), **GUIDELLM_FACTS)["reasons"]


def test_reports_before_version_0_4_say_the_same_in_other_places(point):
    requests = [
        {
            "type_": "generative_text_response",
            "start_time": GUIDELLM_START_S + at_s,
            "end_time": GUIDELLM_START_S + at_s + 0.5,
            "request_latency": 0.5,
            "time_to_first_token_ms": 100.0,
            "prompt_tokens": 95,
            "output_tokens": 5,
        }
        for at_s in (0.0, 0.0, 0.5, 0.5)
    ]
    benchmark = guidellm_benchmark(requests={"successful": requests, "errored": [], "incomplete": []})
    totals = benchmark["metrics"].pop("request_totals")
    old = {
        **{key: benchmark[key] for key in ("type_", "metrics", "requests", "start_time", "end_time", "duration")},
        "run_id": "run-0",
        "args": {"strategy": {"type_": "concurrent", "streams": 2}},
        "worker": {"backend_model": "openai/gpt-oss-120b"},
        "request_loader": {"data": "prompt_tokens=96,output_tokens=6"},
        "request_totals": totals,
    }
    found = point({"benchmarks": [old]}, **GUIDELLM_FACTS)
    assert found["valid"]
    assert (found["n_requested"], found["concurrency"], found["run_id"]) == (4, 2, "run-0")
    assert (found["model"], found["workload"]) == ("gpt_oss_120b", "random_96_6")
    assert (found["tpot_p50_s"], found["throughput_tok_s_gpu"]) == (0.1, 200.0)


def test_a_report_that_has_its_arguments_in_a_specification(point):
    report = {**guidellm_report(), "config": {"spec": {"backend": {"model": "gpt2"}, "data": [{"prompt_tokens": 9}]}}}
    del report["args"], report["benchmarks"][0]["config"]["backend"]
    assert point(report, **GUIDELLM_FACTS)["model"] == "gpt2"


def test_loads_that_no_number_tells_apart_are_told_apart_by_the_name_of_the_file(read):
    one, other = (
        read(guidellm_report(guidellm_benchmark({"type_": "throughput"})), name, **GUIDELLM_FACTS)
        for name in ("a", "b")
    )
    assert one.points["topology"].to_pylist() != other.points["topology"].to_pylist()
