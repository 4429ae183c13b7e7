import pytest

from pipeline.errors import SweepRefusedError
from pipeline.registry.shipped import measured_recipes, simulated_recipes
from pipeline.sweep.choice import chosen, is_measured, measurable, way_of

RECIPES = simulated_recipes()


@pytest.mark.parametrize(
    ("kind", "here", "measured"),
    [
        ("auto", ["cpu"], False),
        ("auto", ["cpu", "h100"], True),
        ("simulated", ["cpu", "h100"], False),
        ("measured", ["cpu", "h100"], True),
    ],
)
def test_a_sweep_measures_where_the_gpu_is_unless_it_is_told_otherwise(kind, here, measured):
    assert is_measured(kind, "h100", here) is measured


@pytest.mark.parametrize(
    ("kind", "host", "here", "way"),
    [
        ("auto", None, ["cpu", "h100"], "measured"),
        ("auto", None, ["cpu"], "simulated"),
        ("auto", "lab", [], "elsewhere"),
        ("measured", "lab", [], "elsewhere"),
        ("measured", None, ["cpu"], "measured"),  # whether it can be is the recipes' to say
        ("simulated", "lab", [], "simulated"),
        ("simulated", None, ["cpu", "h100"], "simulated"),
    ],
)
def test_a_sweep_is_sent_to_the_host_that_has_the_gpu_unless_it_is_a_simulation(kind, host, here, way):
    assert way_of(kind, "h100", host, here) == way


def test_recipes_of_a_gpu_that_is_not_here_are_refused():
    with pytest.raises(SweepRefusedError, match="sweep of h100: this host has no such device.*expected one of cpu"):
        measurable(measured_recipes(), "h100", (), ["cpu"], ())


def test_a_server_that_runs_elsewhere_is_measured_and_the_recipes_that_would_start_one_are_not():
    recipes = measured_recipes()
    ours = recipes["h100_vllm_agentx"].model_copy(update={"build": "ours"})
    known = {**recipes, "h100_ours": ours}
    assert measurable(known, "h100", (), ["cpu"], {"ours"}) == {"h100_ours": ours}
    assert measurable(known, "h100", ["h100_ours"], ["cpu"], {"ours"}) == {"h100_ours": ours}
    assert "h100_vllm_agentx" in measurable(known, "h100", (), ["cpu", "h100"], {"ours"})
    with pytest.raises(SweepRefusedError, match="or a recipe whose build is a running server"):
        measurable(known, "h100", ["h100_ours", "h100_vllm_agentx"], ["cpu"], {"ours"})


def test_all_recipes_of_the_gpu_are_chosen_or_those_that_are_named():
    own = {slug for slug, recipe in RECIPES.items() if recipe.gpu == "h100"}
    assert set(chosen(RECIPES, "h100", ())) == own
    assert set(chosen(RECIPES, "h100", ["h100_vllm_fixed_8k1k"])) == {"h100_vllm_fixed_8k1k"}
    assert "cpu_vllm_fixed" in chosen(measured_recipes(), "cpu", ())


def test_a_gpu_without_a_recipe_and_an_unknown_recipe_are_one_sentence_each():
    with pytest.raises(SweepRefusedError, match="sweep of mi300x: no recipe; expected one of b300, gb200, h100"):
        chosen(RECIPES, "mi300x", ())
    with pytest.raises(
        SweepRefusedError, match="unknown recipe 'h100_vllm_fixed'. Did you mean 'h100_vllm_fixed_8k1k'"
    ):
        chosen(RECIPES, "h100", ["h100_vllm_fixed"])
