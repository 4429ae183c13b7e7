"""Every real result file through the importers: an outcome that adds up, or a refusal by name. Totals are pinned."""

from collections import Counter

import pytest

from pipeline.errors import UnsupportedFormatError
from pipeline.imports.reader import read_results
from pipeline.imports.source import Declared, SourceFile, declared_for, parse_declared
from pipeline.measure.attempts import number_attempts
from pipeline.measure.notes import note_sentence
from pipeline.measure.validity import REASONS
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS

pytestmark = pytest.mark.shared

DECLARED = parse_declared(
    """
    [files."InferenceMAX__*"]
    run_date = 2025-11-11
    [files."InferenceMAX__dashboard*"]
    workload = "fixed_1k1k"
    [files."InferenceMAX__dsr1_1k1k_fp4_sglang*"]
    gpu = "b200"
    engine = "sglang"
    precision = "fp4"
    tp = 4
    [files."InferenceX-app__h100-retry*"]
    run_date = 2026-09-24
    [files."InferenceX__local_results*"]
    run_date = 2026-08-22
    [files."InferenceX__tokpos*"]
    gpu = "h200"
    engine = "vllm"
    precision = "fp8"
    tp = 8
    ep = 8
    [files."InferenceX__k3*"]
    model = "kimik3"
    engine = "vllm"
    precision = "fp4"
    workload = "agentx"
    run_date = 2026-08-01
    [files."dsv4-flash*"]
    gpu = "h200"
    engine = "vllm"
    precision = "w4a16"
    n_gpus = 2
    [files."dsv4-flash*_mtp_*"]
    spec_method = "mtp"
    [files."inferencex-profiling*"]
    gpu = "h200"
    precision = "fp4"
    n_gpus = 1
    workload = "fixed_8k1k"
    [files."llm-benchmaxxing__runpod_b200*"]
    gpu = "b200"
    precision = "bf16"
    tp = 8
    [files."llm-benchmaxxing__runpod_h100sxm*TP4_DP2*"]
    gpu = "h100"
    precision = "fp4"
    tp = 4
    n_workers = 2
    [files."llm-benchmaxxing__runpod_h100sxm*TP8_DP1*"]
    gpu = "h100"
    precision = "fp4"
    tp = 8
    [files."llm-benchmaxxing__H100*"]
    gpu = "h100"
    precision = "fp4"
    run_date = 2026-01-29
    [files."llm-d-benchmark*"]
    gpu = "h100"
    engine = "vllm"
    precision = "bf16"
    n_gpus = 2
    [files."nebius*json"]
    gpu = "h200"
    precision = "fp4"
    [files."nebius*_tp2_*json"]
    tp = 2
    [files."nebius*_tp4_*json"]
    tp = 4
    [files."nebius*_tp8_*json"]
    tp = 8
    [files."ray-serve*"]
    gpu = "h100"
    precision = "fp4"
    n_gpus = 2
    [files."vllm-benchmark*"]
    gpu = "a100"
    engine = "vllm"
    precision = "bf16"
    n_gpus = 1
    [files."*all_requests_failed*"]
    workload = "random_32_16"
    [files."h200-benchmarks*"]
    gpu = "h200"
    model = "llama70b"
    precision = "bf16"
    tp = 8
    run_date = 2025-02-01
    [files."sglang-benchmark__*"]
    gpu = "rtx5090"
    precision = "bf16"
    run_date = 2025-12-01
    [files."aiperf__*"]
    model = "Qwen3-0.6B"
    gpu = "rtx6000ada"
    engine = "vllm"
    precision = "bf16"
    n_gpus = 1
    [files."aiperf_weka*"]
    model = "small"
    gpu = "cpu"
    engine = "vllm"
    precision = "fp32"
    n_gpus = 1
    workload = "agentx"
    [files."vllm_s*"]
    gpu = "cpu"
    precision = "fp32"
    [files."sglang_s*"]
    precision = "fp32"
    run_date = 2026-11-30
    """,
    "import.toml",
)

ELSEWHERE = ("genai_bench", "guidellm", "inference_perf", "llmperf")
"""Folders of test_import_tools.py."""

REFUSED = {
    "agentic_multiturn": {"multi-turn agentic results": 18, "multi-turn agentic tables": 2}
    | {
        "multi-turn agentic requests": 1,
        "Prometheus metric differences": 1,
    },
    "aiperf": {"AIPerf CSV exports (import the JSON beside it)": 2},
    "gpu_price": {"GPU price lists": 2, "API price lists": 1, "GPU price changes": 1},
    "gpu_telemetry": {"nvidia-smi telemetry": 1},
    "inferencex": {
        "InferenceX workflow descriptions": 1,
        "server metric samples": 1,
        "extracts of published InferenceX aggregates": 1,
    },
    "other_serving_bench": {
        "tables of vLLM results (import the JSON files)": 2,
        "gpu_conc summaries": 2,
        "LMBenchmark requests": 2,
    },
    "own_runs": {"Prometheus metrics": 1, "Dynamo simulator reports": 1, "Weka traces": 1, "Mooncake traces": 1},
    "reference_tables": {"LLM-Inference-Bench tables": 1, "MLPerf tables": 1},
    "sglang_bench": {},
    "vllm_bench": {
        "tables of vLLM results (import the JSON files)": 1,
        "run lists": 1,
        "printed tables": 1,
        "Prometheus metrics": 1,
    },
}
READ = {  # files, rows read, valid, invalid, rejected
    "aiperf": (5, 5, 4, 1, 0),
    "inferencex": (35, 1101, 1055, 12, 34),
    "own_runs": (9, 9, 6, 3, 0),
    "sglang_bench": (7, 19, 5, 14, 0),
    "vllm_bench": (57, 69, 59, 10, 0),
}


@pytest.fixture(scope="module")
def outcomes(shared_dir):
    """Outcome or refusal of every file, by folder and name."""
    registry = shipped_registry()
    found = {}
    for folder in sorted(
        path for path in (shared_dir / "data").iterdir() if path.is_dir() and path.name not in ELSEWHERE
    ):
        for path in sorted(folder.iterdir()):
            source = SourceFile(path.name, path.read_bytes())
            try:
                result = read_results(source, declared_for(DECLARED, path.name, Declared()), registry)
            except UnsupportedFormatError as refusal:
                result = refusal
            found[folder.name, path.name] = result
    return found


def outcomes_of(outcomes, folder):
    return {name: o for (f, name), o in outcomes.items() if f == folder and not isinstance(o, UnsupportedFormatError)}


def one(outcomes, part):
    """The points of the one file whose name has this part."""
    names = [key for key in outcomes if part in key[1]]
    assert len(names) == 1
    return outcomes[names[0]].points.to_pylist()


@pytest.mark.parametrize("folder", sorted(REFUSED))
def test_other_tools_are_refused_by_name(outcomes, folder):
    refusals = [o for (f, _), o in outcomes.items() if f == folder and isinstance(o, UnsupportedFormatError)]
    tools = Counter(str(o.what).removesuffix(" are not read yet") for o in refusals)
    assert dict(tools) == REFUSED[folder]


def test_every_folder_is_known(outcomes):
    assert {folder for folder, _ in outcomes} == set(REFUSED)


@pytest.mark.parametrize("folder", sorted(READ))
def test_every_row_is_a_point_or_rejected(outcomes, folder):
    read = outcomes_of(outcomes, folder).values()
    counts = [(o.n_rows_read, o.n_valid, o.n_invalid, o.n_rejected) for o in read]
    assert (len(counts), *(sum(column) for column in zip(*counts, strict=True))) == READ[folder]


def test_points_and_requests_have_their_schemas(outcomes):
    for outcome in outcomes.values():
        if not isinstance(outcome, UnsupportedFormatError):
            assert POINTS.violations(outcome.points) == []
            assert REQUESTS.violations(outcome.requests) == []
            assert set(outcome.requests["point_id"].to_pylist()) <= set(outcome.points["point_id"].to_pylist())


def test_every_reason_and_note_has_a_sentence(outcomes):
    for outcome in outcomes.values():
        if not isinstance(outcome, UnsupportedFormatError):
            for row in outcome.points.to_pylist():
                assert set(row["reasons"]) <= set(REASONS)
                assert all(note_sentence(note) for note in row["notes"])


def test_all_api_rows_are_valid_points_of_their_own_identity(outcomes):
    outcome = outcomes["inferencex", "InferenceX-app__api_benchmarks_2026-05-05.json"]
    assert (outcome.n_rows_read, outcome.n_valid) == (435, 435)
    assert set(number_attempts(outcome.points)["attempt"].to_pylist()) == {1}
    assert len(set(outcome.points["point_id"].to_pylist())) == 435


def test_api_throughputs_of_both_pools_add_up_per_gpu_held(outcomes):
    for row in one(outcomes, "api_benchmarks"):
        if row["input_throughput_tok_s_gpu"] is not None:
            both = row["input_throughput_tok_s_gpu"] + row["output_throughput_tok_s_gpu"]
            assert both == pytest.approx(row["throughput_tok_s_gpu"], rel=0.01)


def test_gpus_of_one_pool_are_not_tp_times_ep(outcomes):
    rows = [r for r in one(outcomes, "api_benchmarks") if not r["disaggregated"]]
    assert {row["n_gpus"] == row["tp"] for row in rows} == {True}


def test_fixture_rows_are_invented(outcomes):
    rejected = [r for (_, name), o in outcomes.items() if "api_overview" in name for r in o.rejected]
    assert [r.code for r in rejected] == ["invented_fixture"] * 34


def test_first_generation_rows_of_two_pools_have_whole_gpus(outcomes):
    rows = [row for row in one(outcomes, "official_data__agg_dsr1_8k1k") if row["disaggregated"]]
    assert len(rows) == 30
    assert all(row["n_gpus"] == row["n_gpus_prefill"] + row["n_gpus_decode"] for row in rows)


def test_first_generation_files_lose_no_row_to_deduplication(outcomes):
    for part in ("70b_8k1k__agg_70b", "1k8k__agg_dsr1_1k8k", "gptoss_1k1k__agg", "official_data__agg"):
        rows = [row for (_, name), o in outcomes.items() if part in name for row in o.points.to_pylist()]
        assert {row["attempt"] for row in number_attempts(POINTS.from_rows(rows)).to_pylist()} <= {1}


@pytest.mark.parametrize(
    ("part", "speed", "throughput"), [("h100-retry", 61.92, 405.2768), ("local_results", 32.71, 15196.21766)]
)
def test_agentic_interactivity_is_recomputed(outcomes, part, speed, throughput):
    (row,) = one(outcomes, part)
    assert row["interactivity_tok_s_user"] == pytest.approx(speed, rel=1e-3)
    assert (row["throughput_tok_s_gpu"], row["n_gpus"], row["valid"]) == (throughput, 8, True)


def test_the_retry_counted_another_window_than_the_client(outcomes):
    (row,) = one(outcomes, "h100-retry")
    assert (row["n_requested"], row["n_warmup"], row["cache_hit_share"]) == (112, 44, 0.36214)
    assert row["computed_input_throughput_tok_s_gpu"] is None


def test_rows_with_mean_tpot_only_lack_their_percentile(outcomes):
    assert {tuple(row["reasons"]) for row in one(outcomes, "k3_b300_b200")} == {("percentile_missing",)}


@pytest.mark.parametrize("part", ["vllm_serve_c1.json", "vllm_serve_c16.json"])
def test_measurements_of_the_client_are_caught(outcomes, part):
    (row,) = one(outcomes, part)
    assert "client_bound" in row["reasons"]


@pytest.mark.parametrize(
    ("part", "n_requests"), [("vllm_small_c1.json", 12), ("vllm_small_c4.json", 32), ("vllm_small_c16.json", 64)]
)
def test_sound_measurements_of_our_own_pass(outcomes, part, n_requests):
    (row,) = one(outcomes, part)
    assert (row["valid"], row["n_successful"], row["n_gpus"]) == (True, n_requests, 1)
    assert row["achieved_concurrency"] == pytest.approx(row["concurrency"], rel=0.05)


def test_detailed_files_agree_with_their_own_summaries(outcomes):
    detailed = [o for o in outcomes.values() if not isinstance(o, UnsupportedFormatError) and o.requests.num_rows]
    assert len(detailed) == 14
    assert not [o for o in detailed for row in o.points.to_pylist() if "summary_mismatch" in row["reasons"]]


def test_completed_below_requested_without_a_count_of_failures_is_failure(outcomes):
    for concurrency in (4, 8, 16, 32, 48, 64, 128):
        (row,) = one(outcomes, f"rayturbo251-x2__conc{concurrency}.json")
        assert row["reasons"] == ["too_many_failed"]
        assert {"completed_below_requested", "output_in_bursts"} <= set(row["notes"])


def test_a_run_that_failed_entirely_has_no_zero_statistics(outcomes):
    (row,) = one(outcomes, "all_requests_failed")
    assert row["reasons"] == ["no_success", "too_many_failed"]
    assert {row[key] for key in row if key.endswith("_s") and key != "window_s"} == {None}


def test_an_engine_in_metadata_beats_the_clients_protocol(outcomes):
    assert Counter(row["engine"] for row in one(outcomes, "vllm-benchmark-graphs")) == {"vllm": 6, "sglang": 6}


def test_an_export_in_seconds_labelled_ms_is_read_in_seconds(outcomes):
    rows = one(outcomes, "InferenceX_gpt-oss-120b_interactivity")
    assert len(rows) == 16
    assert all(0.02 < row["ttft_p50_s"] < 5 for row in rows)
    assert all("unit_label_contradicted" in row["notes"] for row in rows)


def test_throughput_per_gpu_is_that_of_the_summary_printed_beside_the_files(outcomes):
    printed = {
        "tp2_conc64": 4195.16,
        "tp4_conc4": 267.64,
        "tp4_conc8": 495.89,
        "tp4_conc64": 2279.87,
        "tp8_conc4": 82.69,
    }
    for part, throughput in printed.items():
        (row,) = one({key: o for key, o in outcomes.items() if key[0] == "vllm_bench"}, f"gptoss_fp4_h200_{part}_")
        assert row["throughput_tok_s_gpu"] == pytest.approx(throughput, abs=0.01)


def test_an_empty_list_holds_no_rows(outcomes):
    (empty,) = [o for (_, name), o in outcomes.items() if "18577146883" in name]
    assert empty.notes == ("holds an empty list: 0 rows",)


def test_gpus_of_sglang_servers_multiply_workers(outcomes):
    (row,) = one(outcomes, "H100_tp4_dp2_in1024")
    assert (row["n_gpus"], row["topology"]) == (8, "2×tp4")


def test_reading_a_file_twice_gives_the_same_bytes(shared_dir):
    path = shared_dir / "data/own_runs/vllm_small_c16.json"
    source = SourceFile(path.name, path.read_bytes())
    declared = declared_for(DECLARED, path.name, Declared())
    first, second = (read_results(source, declared, shipped_registry()) for _ in range(2))
    assert first.points.equals(second.points)
    assert first.requests.equals(second.requests)
