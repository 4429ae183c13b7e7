import pytest

from pipeline.errors import RegistryError
from pipeline.registry.recipes import parse_recipes
from pipeline.registry.shipped import shipped_recipes, shipped_registry

BLOCK = """[a]
name = "a"
provenance = "simulated"
model = "deepseek_v4_flash"
gpu = "h100"
engine = "vllm"
precision = "fp8"
workload = "agentx"
tp = 8
pp = 1
ep = 8
concurrency = { start = 1, end = 8, factor = 2 }
tables = { model = "m", system = "h100_sxm", version = "0.24.0" }
"""


def test_every_shipped_recipe_loads_and_names_its_gpu_first():
    recipes = shipped_recipes()
    assert {r.gpu for r in recipes.values()} == {"h100", "b300", "gb200"}
    for slug, recipe in recipes.items():
        assert slug == f"{recipe.gpu}_{recipe.engine}_{recipe.workload}"
        assert recipe.tables.system.startswith(recipe.gpu)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('gpu = "h100"', 'gpu = "h10"', "[a]: unknown gpu 'h10'. Did you mean 'h100'?"),
        ('model = "deepseek_v4_flash"', 'model = "deepseek_v4_flas"', "Did you mean 'deepseek_v4_flash'?"),
        ('engine = "vllm"', 'engine = "vlm"', "unknown engine 'vlm'"),
        ('workload = "agentx"', 'workload = "agent"', "unknown workload 'agent'"),
        ("pp = 1", "pp = 1\ntps = 8", "unknown key 'tps'. Did you mean 'tp'?"),
        ("ep = 8", "ep = 3", "ep does not divide tp; expected a divisor of 8, found 3"),
        ("end = 8", "end = 0", "concurrency.end"),
        ("start = 1", "start = 9", "the concurrency ladder ends before it starts"),
        ('provenance = "simulated"', 'provenance = "measured"', "provenance"),
    ],
)
def test_a_bad_recipe_is_one_sentence(old, new, words):
    with pytest.raises(RegistryError) as error:
        parse_recipes(BLOCK.replace(old, new), "recipes.toml", shipped_registry())
    assert words in str(error.value)
    assert "\n" not in str(error.value)
