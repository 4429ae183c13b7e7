"""InferenceX API rows, histories and bare rows."""

import pytest

from tests.unit.imports.foreign import api_row


def test_throughput_of_a_pools_gpus_becomes_throughput_of_all_gpus(point):
    found = point([api_row()])
    assert (found["n_gpus"], found["n_gpus_prefill"], found["n_gpus_decode"]) == (12, 4, 8)
    assert found["throughput_tok_s_gpu"] == 400.0
    assert found["input_throughput_tok_s_gpu"] == pytest.approx(300.0)  # 4 × 900 / 12
    assert found["output_throughput_tok_s_gpu"] == pytest.approx(100.0)  # 8 × 150 / 12
    assert found["valid"]


def test_the_topology_of_two_pools(point):
    assert point([api_row()])["topology"] == "prefill 1×tp4 ep4 dpa + decode 1×tp8 ep8"


def test_the_run_is_the_github_run_and_its_attempt_is_not_ours(point):
    found = point([api_row()])
    assert (found["run_id"], found["attempt"], str(found["run_date"])) == ("23438524239", 1, "2026-03-23")


def test_without_disaggregation_both_gpu_fields_name_the_same_gpus(point):
    one = api_row({"tput_per_gpu": 300.0, "input_tput_per_gpu": 200.0, "output_tput_per_gpu": 100.0}, disagg=False)
    found = point([one | {"num_prefill_gpu": 64, "num_decode_gpu": 64, "decode_num_workers": 0}])
    assert (found["n_gpus"], found["topology"], found["throughput_tok_s_gpu"]) == (8, "tp8 ep8", 300.0)


def test_pool_sizes_that_repeat_all_gpus_are_split_by_the_throughputs(point):
    # 4 of 36 GPUs prefill: 146.4 × 4/36 + 18.45 × 32/36 = 32.67
    row = api_row({"tput_per_gpu": (4 * 146.4 + 32 * 18.45) / 36, "input_tput_per_gpu": 146.4})
    row["metrics"]["output_tput_per_gpu"] = 18.45
    found = point([row | {"num_prefill_gpu": 36, "num_decode_gpu": 36}])
    assert (found["n_gpus"], found["n_gpus_prefill"], found["n_gpus_decode"]) == (36, 4, 32)
    assert {"gpu_counts_repeat", "pool_sizes_contradict_throughput"} <= set(found["notes"])


def test_pool_sizes_that_nothing_explains_leave_the_gpus_unknown_and_keep_the_throughput(point):
    found = point([api_row() | {"num_prefill_gpu": 5, "num_decode_gpu": 30}])
    assert found["throughput_tok_s_gpu"] == 400.0
    assert found["input_throughput_tok_s_gpu"] is None
    assert "pool_sizes_contradict_throughput" in found["notes"]


@pytest.mark.parametrize("number", [1, 29, 1001])
def test_fixture_rows_are_rejected_as_invented(rejection, number):
    assert rejection([api_row(id=number, image=None, run_url=None)]).code == "invented_fixture"


def test_a_small_id_with_a_run_is_a_real_row(point):
    assert point([api_row(id=7)])["valid"]


def test_a_history_is_read_through_all_its_models(read):
    outcome = read({"DeepSeek-R1": [api_row(), api_row(conc=48)], "Other": [api_row(conc=96)]})
    assert (outcome.n_rows_read, outcome.n_valid) == (3, 3)
    assert sorted(outcome.points["source_row"].to_pylist()) == [0, 1, 2]


def test_agentic_rows_are_read_at_their_ninetieth_percentile(point):
    row = api_row({"p90_tpot": 0.05}, benchmark_type="agentic_traces", isl=None, osl=None)
    found = point([row])
    assert (found["workload"], found["percentile"], found["interactivity_tok_s_user"]) == ("agentx", 90, 20.0)


def test_bare_rows_need_declarations_and_lack_the_percentile(read):
    row = {"hardware": "b300", "conc": 1, "metrics": {"tput_per_gpu": 1140.1, "mean_tpot": 0.01, "offload_mode": "off"}}
    assert read([row]).rejected[0].code == "model_missing"
    facts = {"model": "kimik3", "engine": "vllm", "precision": "fp4", "workload": "agentx", "run_date": "2026-08-01"}
    found = read([row], **facts).points.to_pylist()[0]
    assert (found["reasons"], found["kv_offload"], found["topology"]) == (["percentile_missing"], "none", "unknown")


def test_a_run_link_that_is_none_is_left_out(point):
    found = point([api_row(run_url="javascript:alert(1)")])
    assert (found["run_url"], "run_url_not_a_link" in found["notes"]) == (None, True)


def test_a_declared_workload_does_not_override_recorded_lengths(point):
    found = point([api_row()], workload="agentx")
    assert found["workload"] == "fixed_1k1k"
    assert "lengths_differ_from_workload=agentx" in found["notes"]
