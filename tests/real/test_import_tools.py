"""Real files of GuideLLM, inference-perf, GenAI-Bench and LLMPerf: values against the raw JSON, computed here anew."""

import json
import shutil
import statistics

import pytest

from pipeline.imports.reader import read_results
from pipeline.imports.source import Declared
from pipeline.measure.notes import note_sentence
from pipeline.measure.validity import REASONS
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.result_files import ResultFiles

pytestmark = pytest.mark.shared

DECLARED = {
    "guidellm": {"gpu": "h100", "engine": "vllm", "precision": "fp8", "n_gpus": 4},
    "inference_perf": {
        **{"gpu": "h100", "engine": "vllm", "precision": "bf16", "n_gpus": 1},
        **{"model": "llama_3_1_8b", "run_date": "2025-11-05"},
    },
    "genai_bench": {"gpu": "b200", "engine": "vllm", "precision": "fp8", "n_gpus": 1, "run_date": "2025-09-25"},
    "llmperf": {"gpu": "a100", "engine": "vllm", "precision": "fp16", "n_gpus": 4},
}


@pytest.fixture(scope="module")
def tools(shared_dir):
    """By folder and file name: the outcome, and the raw JSON."""
    registry = shipped_registry()
    found = {}
    for folder, facts in DECLARED.items():
        for path in sorted((shared_dir / "data" / folder).glob("*.json")):
            outcome = read_results(ResultFiles().read(path), Declared(**facts), registry)
            found[folder, path.name] = (outcome, json.loads(path.read_bytes()))
    return found


def of(tools, folder, part=""):
    return [both for (where, name), both in tools.items() if where == folder and part in name]


def one(tools, folder, part):
    ((outcome, raw),) = of(tools, folder, part)
    (row,) = outcome.points.to_pylist()
    return row, raw


def total(tools, folder):
    outcomes = [outcome for outcome, _ in of(tools, folder)]
    counts = [(o.n_rows_read, o.n_valid, o.n_invalid, o.n_rejected, o.passed_over) for o in outcomes]
    return (len(outcomes), *(sum(column) for column in zip(*counts, strict=True)))


@pytest.mark.parametrize(
    ("folder", "totals"),  # files, rows, valid, invalid, rejected, files passed over
    [
        ("guidellm", (3, 3, 3, 0, 0, 0)),
        ("inference_perf", (10, 7, 0, 7, 0, 3)),
        ("genai_bench", (7, 5, 3, 2, 0, 2)),
        ("llmperf", (6, 10, 2, 8, 0, 3)),
    ],
)
def test_every_row_is_a_point_and_every_other_file_is_passed_over(tools, folder, totals):
    assert total(tools, folder) == totals


def test_points_requests_notes_and_reasons_are_of_their_kind(tools):
    for outcome, _ in tools.values():
        assert POINTS.violations(outcome.points) == []
        assert REQUESTS.violations(outcome.requests) == []
        assert set(outcome.requests["point_id"].to_pylist()) <= set(outcome.points["point_id"].to_pylist())
        for row in outcome.points.to_pylist():
            assert set(row["reasons"]) <= set(REASONS)
            assert all(note_sentence(note) for note in row["notes"])


def measured(benchmark):
    """The successful requests that GuideLLM counts: those that overlap its measured window."""
    return [
        request
        for request in benchmark["requests"]["successful"]
        if request["request_end_time"] >= benchmark["start_time"]
        and request["request_start_time"] <= benchmark["end_time"]
    ]


@pytest.mark.parametrize(("part", "n"), [("30B-A3B", 19), ("__results__Qwen_Qwen3-4B", 26), ("sanity", 4)])
def test_guidellm_medians_are_those_of_the_requests_that_it_counts(tools, part, n):
    row, raw = one(tools, "guidellm", part)
    requests = measured(raw["benchmarks"][0])
    assert row["n_successful"] == len(requests) == n
    first_ms = [request["time_to_first_token_ms"] for request in requests]
    assert row["ttft_p50_s"] == pytest.approx(statistics.median(first_ms) / 1e3, rel=1e-6)
    tpots_s = [(r["request_latency"] - r["time_to_first_token_ms"] / 1e3) / (r["output_tokens"] - 1) for r in requests]
    assert row["tpot_p50_s"] == pytest.approx(statistics.median(tpots_s), rel=1e-6)
    inter_token_ms = raw["benchmarks"][0]["metrics"]["inter_token_latency_ms"]["successful"]["median"]
    assert row["tpot_p50_s"] == pytest.approx(inter_token_ms / 1e3, rel=1e-3)  # all outputs are of one length


@pytest.mark.parametrize(("part", "n"), [("30B-A3B", 19), ("__results__Qwen_Qwen3-4B", 26), ("sanity", 4)])
def test_guidellm_throughput_is_over_the_time_that_its_requests_took(tools, part, n):
    row, raw = one(tools, "guidellm", part)
    requests = measured(raw["benchmarks"][0])
    took_s = max(r["request_end_time"] for r in requests) - min(r["request_start_time"] for r in requests)
    tokens = sum(r["total_tokens"] for r in requests)
    assert row["throughput_tok_s_gpu"] == pytest.approx(tokens / took_s / 4, rel=1e-6)
    assert row["n_warmup"] == sum(len(of_status or ()) for of_status in raw["benchmarks"][0]["requests"].values()) - n


def test_guidellm_strategies_are_their_concurrency(tools):
    rows = [row for outcome, _ in of(tools, "guidellm") for row in outcome.points.to_pylist()]
    assert [row["concurrency"] for row in rows] == [1, 1, 4]


@pytest.mark.parametrize("stage", range(7))
def test_inference_perf_stages_keep_rate_tokens_and_percentiles(tools, stage):
    row, raw = one(tools, "inference_perf", f"stage_{stage}_lifecycle")
    successes = raw["successes"]
    assert row["request_rate_req_s"] == raw["load_summary"]["requested_rate"]
    assert row["ttft_p50_s"] == successes["latency"]["time_to_first_token"]["median"]
    assert row["e2el_p99_s"] == successes["latency"]["request_latency"]["p99"]
    assert row["throughput_tok_s_gpu"] == pytest.approx(successes["throughput"]["total_tokens_per_sec"], rel=1e-6)
    assert row["output_tok"] == round(successes["output_len"]["mean"] * successes["count"])
    assert any(note.startswith("rate_not_reached") for note in row["notes"]) == (stage >= 4)


def test_inference_perf_of_that_version_stamped_each_token_twice(tools):
    for stage in range(7):
        row, _ = one(tools, "inference_perf", f"stage_{stage}_lifecycle")
        assert row["tpot_p50_s"] is None
        assert row["reasons"] == ["interactivity_missing", "tpot_contradicted"]
        (multiple,) = [float(note.partition("=")[2]) for note in row["notes"] if note.startswith("tpot_left_out")]
        assert multiple == pytest.approx(2.1, abs=0.03)


def test_inference_perfs_server_had_twice_the_tpot_too(tools, shared_dir):
    _, raw = one(tools, "inference_perf", "stage_3_lifecycle")
    (path,) = (shared_dir / "data/inference_perf").glob("*stage_3_prometheus*")
    server = json.loads(path.read_bytes())["successes"]["time_per_output_token"]["mean"]
    client = raw["successes"]["latency"]["time_per_output_token"]["mean"]
    assert server / client == pytest.approx(2.05, abs=0.02)


@pytest.mark.parametrize("concurrency", [2, 8, 32])
def test_genai_bench_medians_are_those_of_its_requests(tools, concurrency):
    row, raw = one(tools, "genai_bench", f"N2000_200_200_20_text-to-text_num_concurrency_{concurrency}_")
    requests = raw["individual_request_metrics"]
    assert row["ttft_p50_s"] == pytest.approx(statistics.median(r["ttft"] for r in requests), rel=1e-6)
    tpots_s = [(r["e2e_latency"] - r["ttft"]) / (r["num_output_tokens"] - 1) for r in requests]
    assert row["interactivity_tok_s_user"] == pytest.approx(1 / statistics.median(tpots_s), rel=1e-6)
    tokens = sum(r["num_input_tokens"] + r["num_output_tokens"] for r in requests)
    assert row["throughput_tok_s_gpu"] == pytest.approx(tokens / raw["aggregated_metrics"]["run_duration"], rel=1e-6)
    assert (row["concurrency"], row["workload"]) == (concurrency, "random_2000_200")


def test_genai_bench_descriptions_beside_the_results_win_over_what_is_declared(tools):
    row, _ = one(tools, "genai_bench", "N2000_200_200_20_text-to-text_num_concurrency_2_")
    assert (row["gpu"], row["n_gpus"], row["model"]) == ("h100", 1, "qwen3_30b_a3b_instruct_2507")
    assert (row["run_id"], row["declared"]) == ("baseten_training_benchmark", ["engine", "precision", "run_date"])
    assert "declared_contradicts_file=gpu" in row["notes"]


@pytest.mark.parametrize("concurrency", [1, 2])
def test_genai_bench_answers_that_were_not_streamed_have_no_first_token(tools, concurrency):
    row, raw = one(tools, "genai_bench", f"openai_gpt-oss-120b_num_concurrency_{concurrency}_")
    assert raw["aggregated_metrics"]["stats"]["ttft"]["stddev"] == 0
    assert (row["engine"], row["ttft_p50_s"], row["tpot_p50_s"]) == ("trtllm", None, None)
    assert row["reasons"] == ["interactivity_missing", "too_many_failed"]


def test_genai_bench_folders_as_the_tool_leaves_them(shared_dir, tmp_path):
    prefix = "genai-bench__benchmark_training_job__"
    for path in (shared_dir / "data/genai_bench").glob(f"{prefix}*"):
        shutil.copy(path, tmp_path / path.name.removeprefix(prefix))
    facts = Declared(engine="vllm", precision="fp8", run_date="2025-09-25")
    outcomes = [read_results(ResultFiles().read(path), facts, shipped_registry()) for path in tmp_path.iterdir()]
    assert sum(outcome.n_valid for outcome in outcomes) == 3
    assert sum(outcome.passed_over for outcome in outcomes) == 1


@pytest.mark.parametrize("provider", ["anyscale", "fireworks"])
def test_llmperf_summaries_have_the_tpot_of_their_requests(tools, provider, shared_dir):
    row, raw = one(tools, "llmperf", f"summary__{provider}")
    (path,) = (shared_dir / "data/llmperf").glob(f"*individual__{provider}*")
    requests = json.loads(path.read_bytes())
    assert row["ttft_p50_s"] == pytest.approx(statistics.median(r["ttft_s"] for r in requests), rel=1e-6)
    tpots_s = [(r["end_to_end_latency_s"] - r["ttft_s"]) / (r["number_output_tokens"] - 1) for r in requests]
    assert row["tpot_p50_s"] == pytest.approx(statistics.median(tpots_s), rel=1e-6)
    assert row["tpot_p50_s"] < raw["results_inter_token_latency_s_quantiles_p50"]  # the first token is in that one
    assert row["ttft_std_s"] == pytest.approx(statistics.pstdev(r["ttft_s"] for r in requests), rel=1e-6)
    assert row["output_tok"] == sum(r["number_output_tokens"] for r in requests)


def test_llmperf_counted_more_tokens_than_it_allowed(tools):
    ((outcome, raw),) = of(tools, "llmperf", "_results.json")
    rows = {row["concurrency"]: row for row in outcome.points.to_pylist()}
    assert sorted(rows) == [1, 2, 4, 8, 16, 32, 64, 128]
    for concurrency, summary in raw.items():
        row = rows[int(concurrency)]
        assert summary["results_number_output_tokens_mean"] > 1.1 * summary["mean_output_tokens"]
        assert row["reasons"] == ["interactivity_missing", "token_count_mismatch"]
        assert row["output_throughput_tok_s_gpu"] * 4 == pytest.approx(
            summary["results_mean_output_throughput_token_per_s"], rel=1e-6
        )
