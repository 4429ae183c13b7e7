"""SGLang's results."""

import pytest

from tests.unit.imports.foreign import SGLANG_FACTS, sglang_row


def test_gpus_are_workers_times_tensor_parallel_size(point):
    found = point(sglang_row(), **SGLANG_FACTS)
    assert (found["n_gpus"], found["topology"], found["n_workers"]) == (8, "2×tp4", 2)
    assert found["throughput_tok_s_gpu"] == pytest.approx(25.0)


def test_data_parallel_attention_reuses_the_gpus(point):
    row = sglang_row()
    row["server_info"]["enable_dp_attention"] = True
    found = point(row, **SGLANG_FACTS)
    assert (found["n_gpus"], found["topology"]) == (4, "tp4 dpa")


def test_latencies_and_lengths(point):
    found = point(sglang_row(), **SGLANG_FACTS)
    assert (found["e2el_p50_s"], found["tpot_p50_s"], found["interactivity_tok_s_user"]) == (0.48, 0.01, 100.0)
    assert (found["input_len_tok"], found["output_len_tok"], found["workload"]) == (128, 32, "random_128_32")
    assert found["achieved_concurrency"] == 4.5


def test_the_server_says_model_build_precision_and_speculation(point):
    found = point(sglang_row(), **SGLANG_FACTS)
    assert (found["model"], found["engine"], found["engine_build"]) == ("gpt_oss_120b", "sglang", "0.5.8")
    assert (found["precision"], found["spec_method"], found["disaggregated"]) == ("fp4", "none", False)
    assert found["multinode"] is False


def test_the_dtype_of_the_arithmetic_is_not_the_precision_of_the_weights(rejection):
    row = sglang_row()
    row["server_info"]["quantization"] = None
    assert rejection(row, **SGLANG_FACTS).code == "precision_missing"


def test_a_cpu_server_says_its_hardware(point):
    row = sglang_row()
    row["server_info"]["device"] = "cpu"
    assert point(row, run_date="2026-03-04")["gpu"] == "cpu"


def test_without_server_info_everything_else_is_declared(read):
    row = sglang_row()
    del row["server_info"]
    facts = {"model": "llama70b", "precision": "fp8", "tp": 8, **SGLANG_FACTS}
    found = read(row, **facts).points.to_pylist()[0]
    assert (found["engine"], found["n_gpus"], found["throughput_tok_s_gpu"]) == ("sglang", 8, 25.0)
    assert found["declared"] == ["gpu", "model", "n_gpus", "precision", "run_date", "tp"]


def test_without_a_time_per_output_token_the_point_is_invalid(point):
    row = {k: v for k, v in sglang_row().items() if "tpot" not in k}
    assert point(row, **SGLANG_FACTS)["reasons"] == ["interactivity_missing"]


def test_an_infinite_rate_in_bare_json_is_no_limit(point):
    assert point(sglang_row(request_rate=float("inf")), **SGLANG_FACTS)["request_rate_req_s"] is None
