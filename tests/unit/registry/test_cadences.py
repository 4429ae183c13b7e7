import dataclasses

import pytest

from pipeline.errors import RegistryError
from pipeline.registry.cadences import parse_cadences
from pipeline.registry.shipped import shipped_cadences, shipped_registry

BLOCK = """[nightly]
name = "Every night"
cron = "15 0 * * *"
gpus = { h100 = 2, b300 = 1 }
recipes = ["h100_vllm_small"]
budget_gpu_hours = 24
"""
GPUS = {"h100_vllm_small": {"h100"}, "a100_vllm_small": {"a100"}}


def parse(text: str):
    return parse_cadences(text, "cadences.toml", shipped_registry(), GPUS)


def test_a_cadence_is_read_as_written():
    nightly = parse(BLOCK)["nightly"]
    assert (nightly.cron, nightly.gpus, nightly.kind) == ("15 0 * * *", {"h100": 2, "b300": 1}, "auto")
    assert (nightly.recipes, nightly.budget_gpu_hours) == (("h100_vllm_small",), 24)


def test_the_shipped_cadences_load_and_no_gpu_is_in_two_of_them():
    cadences = shipped_cadences()
    assert list(cadences) == ["nightly", "weekly"]
    gpus = [gpu for cadence in cadences.values() for gpu in cadence.gpus]
    assert len(set(gpus)) == len(gpus)


def test_a_gpu_that_was_renamed_is_told_with_the_name_that_it_has_now():
    registry = dataclasses.replace(shipped_registry(), renamed_gpus={"h100_old": "h100"})
    with pytest.raises(RegistryError, match="unknown gpu 'h100_old'. h100_old is now h100: write that."):
        parse_cadences(BLOCK.replace("h100 = 2", "h100_old = 2"), "cadences.toml", registry, GPUS)


@pytest.mark.parametrize("cron", ["0 0 * * *", "45 23 1-7 */2 0,6", "5 3 */10 1 1-5/2"])
def test_a_cron_of_numbers_with_one_minute_and_one_hour_is_taken(cron):
    assert parse(BLOCK.replace("15 0 * * *", cron))["nightly"].cron == cron


@pytest.mark.parametrize(
    "cron", ["* 0 * * *", "0 */6 * * *", "0 0 * *", "60 0 * * *", "0 24 * * *", "0 0 0 * *", "0 0 * * MON", "@daily"]
)
def test_a_cron_that_is_none_or_occurs_more_than_once_a_day_is_refused(cron):
    with pytest.raises(RegistryError, match=r"cadences.toml \[nightly\]: bad cron; expected minute hour day"):
        parse(BLOCK.replace("15 0 * * *", cron))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("h100 = 2", "h10 = 2", "unknown gpu 'h10'. Did you mean 'h100'?"),
        ('"h100_vllm_small"', '"h100_vllm_smal"', "unknown recipe 'h100_vllm_smal'. Did you mean 'h100_vllm_small'?"),
        ('"h100_vllm_small"', '"a100_vllm_small"', "a GPU that the cadence does not name; expected one of h100, b300"),
        ("budget_gpu_hours = 24", "budget_gpu_hours = 0", "'budget_gpu_hours': input should be greater than 0"),
        ("budget_gpu_hours = 24", "budget_hours = 24", "unknown key 'budget_hours'. Did you mean 'budget_gpu_hours'?"),
        ("{ h100 = 2, b300 = 1 }", "{}", "'gpus': dictionary should have at least 1 item"),
        ("{ h100 = 2, b300 = 1 }", '["h100"]', "'gpus': input should be a valid dictionary"),
        ('cron = "15 0 * * *"\n', "", "key 'cron': field required"),
    ],
)  # fmt: skip
def test_a_bad_cadence_is_one_sentence(old, new, words):
    with pytest.raises(RegistryError) as error:
        parse(BLOCK.replace(old, new))
    assert words in str(error.value)
    assert "\n" not in str(error.value)
