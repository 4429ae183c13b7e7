"""Arguments and environment of a server, by eye."""

import pytest

from pipeline.errors import RegistryError
from pipeline.registry.measured import Sizes, Topology
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep.launch_line import (
    address_arguments,
    launch_lines,
    module_command,
    server_plan,
    standing_plan,
)

VLLM = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"launch": ("--enforce-eager",)})
SGLANG = measured_recipes()["cpu_sglang_fixed"].model_copy(update={"launch": ("--device", "cpu")})


def line(recipe, **sizes):
    return " ".join(server_plan(recipe, Topology(**sizes), "/models/small").arguments)


def test_a_vllm_server_on_one_device():
    assert line(VLLM, tp=1) == (
        "/models/small --served-model-name small_random_28m --tensor-parallel-size 1 --pipeline-parallel-size 1 "
        "--data-parallel-size 1 --enable-prompt-tokens-details --disable-uvicorn-access-log --dtype float32 "
        "--enforce-eager"
    )


def test_an_sglang_server_on_one_device():
    assert line(SGLANG, tp=1) == (
        "--model-path /models/small --served-model-name small_random_28m --tp-size 1 --pp-size 1 --ep-size 1 "
        "--dp-size 1 --enable-cache-report --enable-metrics --log-level-http warning --dtype float32 --device cpu"
    )


@pytest.mark.parametrize(
    ("recipe", "sizes", "words"),
    [
        (
            VLLM,
            {"tp": 8, "ep": 8},
            "--pipeline-parallel-size 1 --data-parallel-size 1 --enable-expert-parallel",
        ),
        # eight GPUs, each with attention of its own: vLLM multiplies its sizes, SGLang does not
        (
            VLLM,
            {"tp": 8, "ep": 8, "dp": 8},
            "--tensor-parallel-size 1 --pipeline-parallel-size 1 --data-parallel-size 8",
        ),
        (VLLM, {"tp": 8, "dp": 2}, "--tensor-parallel-size 4 --pipeline-parallel-size 1 --data-parallel-size 2 "),
        (SGLANG, {"tp": 8, "ep": 8, "dp": 8}, "--tp-size 8 --pp-size 1 --ep-size 8 --dp-size 8 --enable-dp-attention"),
        (SGLANG, {"tp": 4, "n_workers": 2}, "--tp-size 4 --pp-size 1 --ep-size 1 --dp-size 2 --enable-cache-report"),
        (SGLANG, {"tp": 4, "pp": 2, "ep": 2}, "--tp-size 4 --pp-size 2 --ep-size 2 --dp-size 1 --enable-cache-report"),
    ],
)
def test_sizes_become_flags_of_each_engine(recipe, sizes, words):
    assert words in line(recipe, **sizes)


def test_a_topologys_own_arguments_come_last_and_win():
    assert line(VLLM, tp=1, launch=["--block-size", "64"]).endswith("--enforce-eager --block-size 64")


@pytest.mark.parametrize(
    ("sizes", "n_gpus"), [({"tp": 8, "ep": 8}, 8), ({"tp": 8, "ep": 8, "dp": 8}, 8), ({"tp": 4, "pp": 2}, 8)]
)
def test_gpus_held_are_those_of_tp_and_pp(sizes, n_gpus):
    assert server_plan(VLLM, Topology(**sizes), "w").n_gpus == n_gpus
    assert server_plan(SGLANG, Topology(tp=2, n_workers=3), "w").n_gpus == 6


@pytest.mark.parametrize(
    ("recipe", "sizes", "words"),
    [
        (VLLM, {"tp": 8, "ep": 4}, "expected ep of 1 or 8, found 4"),
        (VLLM, {"tp": 1, "n_workers": 2}, "one vLLM server holds one replica; expected n_workers of 1, found 2"),
        (VLLM, {"tp": 8, "dp": 3}, "dp does not divide tp; expected a divisor of 8, found 3"),
        (SGLANG, {"tp": 8, "dp": 8, "n_workers": 2}, "dp and n_workers are one flag of SGLang"),
    ],
)
def test_a_topology_that_one_server_cannot_be_is_one_sentence(recipe, sizes, words):
    with pytest.raises(RegistryError) as error:
        server_plan(recipe, Topology(**sizes), "w")
    assert words in str(error.value)


@pytest.mark.parametrize(("precision", "flag"), [("fp32", "float32"), ("bf16", "bfloat16"), ("fp16", "float16")])
def test_the_precision_of_a_recipe_is_the_one_it_is_served_in(precision, flag):
    for recipe in (VLLM, SGLANG):
        assert f"--dtype {flag}" in line(recipe.model_copy(update={"precision": precision}), tp=1)


@pytest.mark.parametrize("precision", ["fp4", "fp8", "int8"])
def test_a_smaller_precision_is_the_checkpoints_own(precision):
    assert "--dtype" not in line(VLLM.model_copy(update={"precision": precision}), tp=1)


def test_nothing_is_looked_up_for_weights_that_are_here():
    hub = VLLM.model_copy(update={"weights": "someone/model"})
    folder = VLLM.model_copy(update={"weights": "/models/mine"})
    offline = [server_plan(r, Topology(tp=1), "w").variables.get("HF_HUB_OFFLINE") for r in (VLLM, folder, hub)]
    assert offline == ["1", "1", None]


def test_a_recipes_variables_win():
    recipe = VLLM.model_copy(update={"variables": {"DO_NOT_TRACK": "0", "OMP_NUM_THREADS": "1"}})
    variables = server_plan(recipe, Topology(tp=1), "w").variables
    assert (variables["DO_NOT_TRACK"], variables["OMP_NUM_THREADS"], variables["VLLM_NO_USAGE_STATS"]) == (
        "0",
        "1",
        "1",
    )


def test_name_build_and_patience_come_from_the_recipe():
    plan = server_plan(SGLANG, SGLANG.topologies[0], "w")
    assert (plan.model_name, plan.build, plan.silence_s) == ("small_random_28m", "sglang_cpu", 300)


def test_address_and_command():
    assert address_arguments("vllm", "127.0.0.1", 81, "k") == ("--host", "127.0.0.1", "--port", "81", "--api-key", "k")
    assert module_command("sglang") == ("-m", "sglang.launch_server")
    with pytest.raises(RegistryError, match=r"no server of 'trtllm' can be launched; expected vllm or sglang"):
        module_command("trtllm")


def test_every_topology_of_every_recipe_has_a_line_with_its_name():
    recipes = {slug: r for slug, r in measured_recipes().items() if slug in ("h100_sglang_agentx", "cpu_vllm_fixed")}
    lines = launch_lines(recipes)
    assert set(lines) == {
        "recipe h100_sglang_agentx tp 8 ep 8",
        "recipe h100_sglang_agentx tp 8 ep 8 dp 8",
        "recipe cpu_vllm_fixed",
    }
    assert all(arguments[-2:] == ("--api-key", "key") for arguments in lines.values())


@pytest.mark.parametrize("slug", [s for s, r in measured_recipes().items() if r.model == "deepseek_v4_1_flash"])
def test_a_recipe_of_deepseek_spreads_experts_and_drafts(slug):
    recipe = measured_recipes()[slug]
    words = " ".join(server_plan(recipe, recipe.topologies[0], recipe.weights).arguments)
    assert ("--enable-expert-parallel" in words) or (f"--ep-size {recipe.topologies[0].tp}" in words)
    assert recipe.spec_method in words.lower()
    assert "1048576" in words


def test_a_folder_of_weights_is_read_by_the_server_and_a_hub_name_is_not_a_folder():
    assert server_plan(VLLM, Topology(tp=1), "/models/small").folders == ("/models/small",)
    assert server_plan(VLLM, Topology(tp=1), "somebody/model").folders == ()


def test_a_server_that_runs_already_has_no_arguments_and_may_be_of_any_kind():
    split = Topology(tp=2, n_workers=4, prefill=Sizes(tp=4))
    plan = standing_plan(VLLM.model_copy(update={"engine": "dynamo", "build": "ours"}), split, {}, {})
    assert (plan.build, plan.arguments, plan.variables, plan.n_gpus) == ("ours", (), {}, 12)


def test_the_line_of_a_server_that_was_not_started_here_says_so_and_hides_where_its_weights_are():
    said = {"version": "0.33.0", "model_path": "/secret", "tp_size": "8"}
    plan = standing_plan(VLLM, Topology(tp=8), said, {"gpus_held": "8"})
    assert " ".join(plan.line) == "not started here: gpus_held=8 tp_size=8 version=0.33.0"
