"""InferenceX aggregates of both generations, and their GPU fields."""

import pytest

from tests.unit.imports.foreign import FLAT_FACTS, FLAT_NAME, flat_row


def test_seconds_stay_seconds(point):
    found = point([flat_row()], FLAT_NAME, **FLAT_FACTS)
    assert (found["ttft_p50_s"], found["tpot_p50_s"], found["e2el_p50_s"]) == (0.5, 0.02, 20.0)
    assert found["interactivity_tok_s_user"] == 50.0


def test_decorated_hardware_and_text_booleans(point):
    found = point([flat_row(ep=8, dp_attention="true")], FLAT_NAME, **FLAT_FACTS)
    assert (found["gpu"], found["engine"], found["topology"]) == ("b200", "trtllm", "tp8 ep8 dpa")


def test_lengths_that_only_the_name_has_are_noted(point):
    found = point([flat_row()], FLAT_NAME, **FLAT_FACTS)
    assert (found["workload"], found["input_len_tok"]) == ("fixed_8k1k", 8192)
    assert "lengths_from_file_name" in found["notes"]


def test_a_name_that_the_throughputs_contradict_is_not_believed(rejection):
    assert rejection([flat_row()], "agg_dsr1_1k1k.json", **FLAT_FACTS).code == "workload_missing"


def test_a_row_without_a_day_is_rejected(rejection):
    found = rejection([flat_row()], FLAT_NAME)
    assert (found.code, "--run-date" in found.detail) == ("run_date_missing", True)


def test_input_is_total_less_output_where_only_those_are_there(point):
    row = flat_row()
    del row["input_tput_per_gpu"]
    assert point([row], FLAT_NAME, **FLAT_FACTS)["input_throughput_tok_s_gpu"] == 800.0


def test_one_pool_holds_its_tensor_parallel_gpus(point):
    found = point([flat_row()], FLAT_NAME, **FLAT_FACTS)
    assert (found["n_gpus"], found["throughput_tok_s_gpu"], found["disaggregated"]) == (8, 900.0, None)


def test_throughputs_can_prove_two_pools_whose_gpus_are_all_in_tp(point):
    # 48 GPUs prefill at 800 each, 24 decode at 200 each: (38,400 + 4,800) / 72 = 600
    row = flat_row(hw="gb200", framework="dynamo-trtllm", tp=72, mtp="on", tput_per_gpu=600.0)
    found = point([row | {"input_tput_per_gpu": 800.0, "output_tput_per_gpu": 200.0}], FLAT_NAME, **FLAT_FACTS)
    assert (found["n_gpus"], found["n_gpus_prefill"], found["n_gpus_decode"]) == (72, 48, 24)
    assert found["topology"] == "prefill 48 GPUs + decode 24 GPUs"
    assert found["input_throughput_tok_s_gpu"] == pytest.approx(38_400 / 72)
    assert found["output_throughput_tok_s_gpu"] == pytest.approx(4_800 / 72)
    assert (found["disaggregated"], found["spec_method"], found["tp"]) == (True, "mtp", None)
    assert {"disaggregation_from_throughput", "tp_holds_all_gpus"} <= set(found["notes"])


@pytest.mark.parametrize(("said", "ours"), [("on", "mtp"), ("off", "none"), (None, None)])
def test_mtp_on_is_a_method_and_off_is_none(point, said, ours):
    assert point([flat_row(mtp=said)], FLAT_NAME, **FLAT_FACTS)["spec_method"] == ours


def test_rows_that_differ_only_in_mtp_are_two_points(read):
    outcome = read([flat_row(mtp="on"), flat_row(mtp="off")], FLAT_NAME, **FLAT_FACTS)
    assert outcome.n_valid == 2
    assert len(set(outcome.points["point_id"].to_pylist())) == 2


def test_median_interactivity_stands_in_for_a_missing_median_tpot(point):
    row = {k: v for k, v in flat_row().items() if "tpot" not in k}
    found = point([row], FLAT_NAME, **FLAT_FACTS)
    assert (found["interactivity_tok_s_user"], found["interactivity_source"]) == (50.0, "median_intvty")


def test_mean_tpot_alone_lacks_the_percentile(point):
    row = {k: v for k, v in flat_row().items() if not k.startswith("median_")}
    assert point([row], FLAT_NAME, **FLAT_FACTS)["reasons"] == ["percentile_missing"]


def test_the_second_generation_says_lengths_and_day(point):
    row = flat_row(isl=1024, osl=1024, date="2026-03-01", disagg=False, spec_decoding="none", image="x:1")
    found = point([row], "agg.json")
    assert (found["workload"], str(found["run_date"]), found["engine_build"]) == ("fixed_1k1k", "2026-03-01", "x:1")
    assert found["declared"] == []


def test_a_run_id_and_an_instant_of_the_row_are_kept(point):
    found = point([flat_row(timestamp="2025-10-13T05:30:00Z", run_id="12345")], FLAT_NAME)
    assert (found["run_id"], found["run_started_at"].isoformat()) == ("12345", "2025-10-13T05:30:00+00:00")


def test_a_row_of_another_shape_in_the_list_is_rejected_alone(read):
    outcome = read([flat_row(), 3, {"hw": "b200"}], FLAT_NAME, **FLAT_FACTS)
    assert (outcome.n_valid, [(r.row, r.code) for r in outcome.rejected]) == (1, [(1, "not_a_row"), (2, "not_a_row")])
