import pytest

from pipeline.errors import RegistryError
from pipeline.registry.builds import Build, Server
from pipeline.registry.loader import parse_entries
from pipeline.registry.recipes import parse_measured, parse_simulated
from pipeline.registry.shipped import (
    measured_recipes,
    shipped_builds,
    shipped_registry,
    shipped_text,
    simulated_recipes,
)

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
    recipes = simulated_recipes()
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
        parse_simulated(BLOCK.replace(old, new), "recipes_simulated.toml", shipped_registry())
    assert words in str(error.value)
    assert "\n" not in str(error.value)


MEASURED = """[a]
name = "a"
provenance = "measured"
model = "deepseek_v4_1_flash"
gpu = "h100"
engine = "vllm"
precision = "fp4"
workload = "agentx"
build = "vllm_cuda"
weights = "somewhere/model"
topologies = [{ tp = 8, ep = 8 }]
concurrency = { start = 1, end = 8, factor = 2 }
load = { window_s = 900, scenario = "agentx" }
"""


def test_every_shipped_measured_recipe_names_its_gpu_and_engine_first():
    for slug, recipe in measured_recipes().items():
        assert slug.startswith(f"{recipe.gpu}_{recipe.engine}_")


def test_both_engines_have_a_recipe_of_deepseek_v4_1_flash_fp4_on_the_three_gpus():
    found = {(r.gpu, r.engine) for r in measured_recipes().values() if r.model == "deepseek_v4_1_flash"}
    assert found == {(gpu, engine) for gpu in ("h100", "b300", "gb200") for engine in ("vllm", "sglang")}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('build = "vllm_cuda"', 'build = "vllm_cud"', "unknown build 'vllm_cud'. Did you mean 'vllm_cuda'?"),
        ('build = "vllm_cuda"', 'build = "sglang_cuda"', "is of another engine; expected vllm, found sglang"),
        ("ep = 8", "ep = 3", "ep does not divide tp"),
        ("somewhere/model", "made:smal", "no such made model 'smal'; expected made:tiny or made:small"),
        ("window_s = 900", "window_s = 60", "expected window_s of at least 900, found 60"),
        ("tp = 8", "tp = 0", "topologies.0.tp"),
        ("[{ tp = 8, ep = 8 }]", "[]", "topologies"),
        ("window_s = 900", "windows_s = 900", "unknown key 'load.windows_s'. Did you mean 'window_s'?"),
    ],
)
def test_a_bad_measured_recipe_is_one_sentence(old, new, words):
    with pytest.raises(RegistryError) as error:
        parse_measured(MEASURED.replace(old, new), "m.toml", shipped_registry(), shipped_builds())
    assert words in str(error.value)


def test_a_block_with_several_gpus_is_a_recipe_for_each():
    text = MEASURED.replace('gpu = "h100"', 'gpus = ["h100", "b300"]')
    recipes = parse_measured(text, "m.toml", shipped_registry(), shipped_builds())
    assert {slug: recipe.gpu for slug, recipe in recipes.items()} == {"h100_a": "h100", "b300_a": "b300"}


STANDING = MEASURED.replace('build = "vllm_cuda"', 'build = "ours"')
SPLIT = STANDING.replace("[{ tp = 8, ep = 8 }]", "[{ tp = 8, ep = 8, prefill = { tp = 4, n_workers = 2 } }]")


def parse_with_a_running_server(text):
    server = Server(url="http://10.0.0.7:8000")
    ours = Build(name="Ours", role="engine", engine="vllm", version="0.33.0", host="cuda", server=server)
    return parse_measured(text, "m.toml", shipped_registry(), {**shipped_builds(), "ours": ours})


def test_a_recipe_may_measure_a_server_that_runs_already_and_only_such_a_one_has_pools():
    (whole,) = parse_with_a_running_server(STANDING)["a"].topologies
    assert (whole.n_gpus, whole.prefill) == (8, None)
    (split,) = parse_with_a_running_server(SPLIT)["a"].topologies
    assert (split.n_gpus, split.prefill.n_gpus) == (16, 8)
    with pytest.raises(
        RegistryError, match="workers that only prefill are not started here.*vllm_cuda is an environment"
    ):
        parse_with_a_running_server(SPLIT.replace('build = "ours"', 'build = "vllm_cuda"'))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[{ tp = 8, ep = 8 }]", "[{ tp = 8 }, { tp = 4 }]", "topologies beyond one cannot be ordered of it"),
        ("[{ tp = 8, ep = 8 }]", '[{ tp = 8, launch = ["--x"] }]', "launch cannot be ordered of it"),
        ("topologies", 'launch = ["--x"]\ntopologies', "build ours runs already, and launch cannot be ordered of it"),
        ("topologies", 'variables = { X = "1" }\ntopologies', "variables cannot be ordered of it"),
        ("ep = 8 }]", "ep = 8, prefill = { tp = 4, ep = 3 } }]", "ep does not divide tp; expected a divisor of 4"),
    ],
)
def test_what_cannot_be_so_of_a_running_server_is_one_sentence(old, new, words):
    with pytest.raises(RegistryError) as error:
        parse_with_a_running_server(STANDING.replace(old, new))
    assert words in str(error.value)


def commented(file):
    lines = shipped_text(file).splitlines()
    return "\n".join(line.removeprefix("#   ") for line in lines if line.startswith("#   "))


def test_the_examples_of_a_running_server_and_of_its_recipe_load_together():
    builds = parse_entries(commented("builds.toml"), Build, "builds.toml")
    ((slug, recipe),) = parse_measured(
        commented("recipes_measured.toml"), "recipes_measured.toml", shipped_registry(), builds
    ).items()
    assert (slug, recipe.build, recipe.topologies[0].n_gpus) == ("h100_vllm_lab", "my_vllm", 16)
