"""Registry files are strict: an unknown key or value names the file, the key and the nearest known name."""

import pytest

from pipeline.errors import RegistryError
from pipeline.registry.entries import Gpu
from pipeline.registry.loader import parse_entries
from pipeline.registry.registry import require
from pipeline.registry.shipped import shipped_prices, shipped_registry

H100 = '[h100]\nname = "H100"\nvendor = "NVIDIA"\narchitecture = "Hopper"\nformats = ["fp8"]\n'


def test_a_gpu_is_one_block():
    assert parse_entries(H100, Gpu, "gpus.toml")["h100"].formats == ("fp8",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (H100 + "memory_gb = 80.0\n", "gpus.toml [h100]: unknown key 'memory_gb'. Did you mean 'memory_gib'?"),
        (H100.replace("NVIDIA", "Nvidia"), "gpus.toml [h100]: key 'vendor'"),
        (H100.replace('name = "H100"\n', ""), "key 'name': field required; found nothing"),
        (H100.replace('"H100"', "100"), "key 'name': input should be a valid string; found 100"),
        (H100.replace("[h100]", "[H-100]"), "bad slug; expected [a-z0-9_]+, found H-100"),
        (H100 + H100.replace("[h100]", '[h200]\naliases = ["h100"]'), "alias 'h100' names two entries"),
        ("[h100", "not TOML"),
        ("h100 = 1", "not a block"),
    ],
)
def test_a_bad_entry_is_one_sentence(text, words):
    with pytest.raises(RegistryError) as error:
        parse_entries(text, Gpu, "gpus.toml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_every_shipped_file_loads_and_prices_name_registered_gpus():
    registry = shipped_registry()
    assert {
        "h100",
        "h200",
        "b200",
        "b300",
        "gb200",
        "gb300",
        "mi300x",
        "mi325x",
        "mi355x",
        "cpu",
    } <= registry.gpus.keys()
    assert {p.gpu for p in shipped_prices()} <= registry.gpus.keys()
    assert all(e.family for e in registry.engines.values())


@pytest.mark.parametrize(
    ("spelling", "slug"),
    [
        ("cluster:h100-dgxc", "h100"), ("h100-cw_00", "h100"), ("b200-trt", "b200"), ("GB200 NVL72", "gb200"),
        ("NVIDIA H100 SXM5 80 GB", "h100"), ("h1000", None), ("", None),
    ],
)  # fmt: skip
def test_a_gpu_is_found_under_cluster_and_framework_names(spelling, slug):
    assert shipped_registry().gpu_slug(spelling) == slug


@pytest.mark.parametrize(
    ("spelling", "slug"),
    [
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "llama_3_3_70b"), ("amd/Llama-3.3-70B-Instruct-FP8-KV", "llama_3_3_70b"),
        ("/home/models/openai--gpt-oss-120b", "gpt_oss_120b"), ("/mnt/models/deepseek-r1-0528-fp4-v2", "deepseek_r1"),
        ("deepseek-ai/DeepSeek-V4.1-Flash", "deepseek_v4_1_flash"), ("somebody/unknown-model", None),
    ],
)  # fmt: skip
def test_a_model_is_found_by_hub_id_path_and_quantised_name(spelling, slug):
    assert shipped_registry().model_slug(spelling) == slug


def test_fixed_lengths_are_registered_or_named_by_their_lengths():
    registry = shipped_registry()
    assert registry.fixed_workload(8192, 1024) == "fixed_8k1k"
    assert registry.fixed_workload(128, 64) == "random_128_64"
    assert registry.workload("random_128_64").percentile == 50
    assert registry.workload("agentx").percentile == 90
    with pytest.raises(RegistryError, match="unknown workload 'agentix'. Did you mean 'agentx'"):
        registry.workload("agentix")


def test_an_unknown_spelling_names_the_nearest_known_one():
    with pytest.raises(RegistryError, match="show: unknown gpu 'h10'. Did you mean 'h100'"):
        require(shipped_registry().gpus, "h10", kind="gpu", where="show")
