"""Recorded against declared, spellings, lengths and what a name says."""

import pytest

from pipeline.errors import RegistryError
from pipeline.imports.facts import refuse_unknown
from pipeline.imports.lengths import guess_words, guessed_workloads, rounded_length
from pipeline.imports.names import lengths_in_name, said_by_name
from pipeline.imports.source import Declared
from pipeline.measure.topology import n_gpus_held, topology
from tests.unit.imports.foreign import FLAT_FACTS, FLAT_NAME, VLLM_FACTS, api_row, flat_row, vllm_row


def test_content_wins_over_a_declaration_that_contradicts_it(point):
    found = point([flat_row()], FLAT_NAME, gpu="h200", **FLAT_FACTS)
    assert found["gpu"] == "b200"
    assert "declared_contradicts_file=gpu" in found["notes"]
    assert "gpu" not in found["declared"]


def test_another_spelling_of_the_same_thing_is_no_contradiction(point):
    found = point([flat_row()], FLAT_NAME, gpu="nvidia b200", precision="FP8", **FLAT_FACTS)
    assert not [note for note in found["notes"] if note.startswith("declared_contradicts")]


@pytest.mark.parametrize(
    ("changes", "code", "hint"),
    [
        ({"hw": "b2000"}, "gpu_unknown", "Did you mean 'b200'"),
        ({"framework": "vlllm"}, "engine_unknown", "Did you mean 'vllm'"),
        ({"model": "DeepSeek-R2"}, "model_unknown", "Did you mean"),
        ({"precision": "fp9"}, "precision_unknown", "Did you mean 'fp"),
        ({"model": "<script>alert(1)</script>"}, "model_unknown", "Known:"),
    ],
)
def test_an_unknown_spelling_rejects_the_row_with_the_nearest_name(rejection, changes, code, hint):
    found = rejection([flat_row(**changes)], FLAT_NAME, **FLAT_FACTS)
    assert (found.code, hint in found.detail) == (code, True)


def test_an_unknown_workload_rejects_the_row(rejection):
    found = rejection([flat_row()], FLAT_NAME, workload="fixed_8k2k", **FLAT_FACTS)
    assert (found.code, "Did you mean 'fixed_8k1k'" in found.detail) == ("workload_unknown", True)


@pytest.mark.parametrize(
    ("spelling", "ours"), [("NVFP4", "fp4"), ("mxfp4", "fp4"), ("bfloat16", "bf16"), ("FP8", "fp8")]
)
def test_number_formats_have_one_spelling(point, spelling, ours):
    assert point([flat_row(precision=spelling)], FLAT_NAME, **FLAT_FACTS)["precision"] == ours


def test_a_name_that_lies_is_noted_and_not_believed(point):
    found = point(vllm_row(), "gptoss_sglang_h200_tp8_conc64.json", tp=2, **VLLM_FACTS)
    assert (found["engine"], found["gpu"], found["concurrency"]) == ("vllm", "h100", 2)
    assert {
        "name_says_model=gpt_oss_120b",
        "name_says_engine=sglang",
        "name_says_gpu=h200",
        "name_says_concurrency=64",
        "name_says_tp=8",
    } <= set(found["notes"])


def test_a_name_with_two_gpus_names_neither(registry):
    assert "gpu" not in said_by_name("k3_b300_b200.json", registry)


def test_the_longest_run_of_words_names_the_model(registry):
    assert said_by_name("dsv4-flash-w4a16__bs4.json", registry)["model"] == "deepseek_v4_flash"


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("agg_dsr1_8k1k.json", (8192, 1024)),
        ("x_isl1024_osl128_conc4.json", (1024, 128)),
        ("agg_n100_in512_out128_c8.jsonl", (512, 128)),
        ("run_1_TP4_DP2_CTX15000_C100_P100_O128.json", (15000, 128)),
        ("results.json", None),
    ],
)
def test_lengths_in_a_name(name, lengths):
    assert lengths_in_name(name) == lengths


@pytest.mark.parametrize(
    ("mean_tok", "nominal"), [(128.2, 128), (7197.2, 7200), (1000.0, 1000), (3.4, 3), (0.2, 1), (97.6, 98)]
)
def test_a_mean_length_is_rounded_to_a_power_of_two_or_two_digits(mean_tok, nominal):
    assert rounded_length(mean_tok) == nominal


def test_declared_lengths_win_over_the_name(point):
    found = point([flat_row()], FLAT_NAME, input_len_tok=8000, output_len_tok=1000, **FLAT_FACTS)
    assert (found["workload"], found["input_len_tok"]) == ("random_8000_1000", 8000)
    assert {"workload", "input_len_tok", "output_len_tok"} <= set(found["declared"])


def test_a_name_that_the_means_contradict_is_noted(point):
    found = point(vllm_row(), "x_8k1k.json", **VLLM_FACTS)
    assert (found["workload"], "name_says_lengths=8192/1024" in found["notes"]) == ("random_100_50", True)


def test_a_declared_run_id_gives_way_to_the_run_in_the_link(point):
    assert point([api_row()], run_id="mine")["run_id"] == "23438524239"
    assert point([api_row(run_url=None)], run_id="mine")["run_id"] == "mine"


@pytest.mark.parametrize(
    ("columns", "spelled", "n_gpus"),
    [
        ({"tp": 8, "ep": 8, "dp_attention": True}, "tp8 ep8 dpa", 8),
        ({"tp": 4, "pp": 2}, "pp2 tp4", 8),
        ({"tp": 4, "n_workers": 2, "ep": 4, "dcp": 2}, "2×tp4 dcp2 ep4", 8),
        ({"tp": 2, "pcp": 8}, "tp2 pcp8", 16),
        ({}, "unknown", None),
        ({"n_gpus": 8}, "unknown", 8),
        ({"disaggregated": True, "tp": 8, "n_workers": 4, "prefill_tp": 4, "prefill_n_workers": 1}, None, 36),
        ({"disaggregated": True, "tp": 8}, "unknown", None),
    ],
)
def test_topology_and_gpus_held(columns, spelled, n_gpus):
    assert n_gpus_held(columns) == n_gpus
    assert topology(columns) == (spelled or "prefill 1×tp4 + decode 4×tp8")


def test_sizes_that_the_file_records_win_over_declared_gpus(point):
    found = point(vllm_row(tp="2"), gpu="h100", precision="bf16", n_gpus=8)
    assert (found["n_gpus"], found["throughput_tok_s_gpu"]) == (2, 60.0)
    assert "n_gpus" not in found["declared"]
    assert "declared_contradicts_file=n_gpus" in found["notes"]


def test_declared_sizes_give_the_gpus(point):
    found = point(vllm_row(), gpu="h100", precision="bf16", tp=4, n_workers=2)
    assert (found["n_gpus"], found["topology"], found["throughput_tok_s_gpu"]) == (8, "2×tp4", 15.0)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"gpu": "h1000"}, "unknown gpu 'h1000' is declared.*Did you mean 'h100'"),
        ({"model": "gpt_oss_12b"}, "unknown model.*Did you mean 'gpt_oss_120b'"),
        ({"engine": "vlllm"}, "unknown engine.*Did you mean 'vllm'"),
        ({"precision": "fp9"}, "unknown precision.*Did you mean 'fp"),
        ({"workload": "nosuch"}, "unknown workload 'nosuch' is declared. Known: .*agentx.* Of fixed lengths: random_"),
        ({"workload": "random_0_5"}, "unknown workload"),
    ],
)
def test_an_unknown_word_that_is_declared_is_one_sentence_with_the_nearest(registry, said, words):
    with pytest.raises(RegistryError, match=words):
        refuse_unknown(Declared(**said), registry, "command line")


def test_every_spelling_that_a_row_may_have_can_be_declared(registry):
    said = {"gpu": "H100-dgxc", "model": "openai/gpt-oss-120b", "engine": "vLLM", "precision": "NVFP4"}
    for declared in (Declared(**said, workload="random_128_64"), Declared(workload="fixed-8k1k"), Declared()):
        assert refuse_unknown(declared, registry, "command line") is declared


def test_workloads_of_rounded_means_are_found_and_said(read):
    # 800 / 8 and 400 / 8 tokens a request
    assert guessed_workloads(read(vllm_row(), **VLLM_FACTS).points) == ["random_100_50"]
    words = guess_words({"random_1024_128", "random_1000_128"})
    assert "no file says nominal ones: random_1000_128, random_1024_128 (2)" in words
    assert "--declare workload=" in words


def test_a_workload_that_is_declared_is_no_guess(read):
    outcome = read(vllm_row(), **VLLM_FACTS, workload="random_100_50")
    assert guessed_workloads(outcome.points) == []
    assert guess_words(()) == ""
