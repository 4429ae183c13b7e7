"""A build counts when it knows its recipes' flags and, on a CPU, answers; a changed recipe is asked about again."""

import dataclasses
import datetime as dt

import pytest

from pipeline.definitions import CHECKOUT
from pipeline.errors import BuildError
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep import launch_line
from resources import made_model
from resources.engine_builder import EngineBuilder
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of

AT = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
FAKES = CHECKOUT / "tests" / "fakes"

PARSER = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("weights")
for flag in ("host", "port", "api-key", "served-model-name", "fake", "dtype", "tensor-parallel-size"):
    parser.add_argument(f"--{flag}")
parser.add_argument("--pipeline-parallel-size")
parser.add_argument("--data-parallel-size")
parser.add_argument("--enable-prompt-tokens-details", action="store_true")
parser.add_argument("--disable-uvicorn-access-log", action="store_true")
"""


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    monkeypatch.setitem(launch_line.MODULES, "vllm", (str(FAKES / "engine.py"),))
    monkeypatch.setattr(made_model, "CHILD", FAKES / "made_model_child.py")


@pytest.fixture
def builder(tmp_path):
    return EngineBuilder(root_dir=str(tmp_path / "builds"), wheels_dir=str(tmp_path / "wheels"))


@pytest.fixture
def plan(tmp_path):
    lock = lock_of(tiny=make_wheel(tmp_path / "wheels"))

    def of(*launch: str, host: str = "cpu"):
        recipe = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"launch": launch})
        known = plan_of(lock, parser_code=PARSER)
        build = known.build.model_copy(update={"host": host, "role": "engine", "engine": "vllm"})
        return dataclasses.replace(known, build=build, recipes={"mine": recipe})

    return of


def test_a_build_that_answers_counts_and_keeps_nothing_of_the_proof(builder, plan):
    heard = []
    built = builder.build(plan(), AT, heard.append)
    assert "tiny: it answers" in heard
    assert builder.find(plan()) is not None
    assert not (built.folder / "proof").exists()
    assert built.fingerprint.seconds > 0


def test_a_build_that_does_not_answer_does_not_count(builder, plan):
    with pytest.raises(BuildError, match="tiny: it does not answer one request of a tiny model.*no such kernel"):
        builder.build(plan("--fake", "dies"), AT, print)
    assert builder.find(plan()) is None


def test_a_build_for_another_host_is_not_asked(builder, plan):
    heard = []
    builder.build(plan("--fake", "dies", host="cuda"), AT, heard.append)
    assert "tiny: it answers" not in heard


def test_a_recipe_with_an_unknown_flag_is_named_with_the_nearest_flag(builder, plan):
    with pytest.raises(BuildError) as error:
        builder.build(plan("--fakes", "slow"), AT, print)
    assert str(error.value).endswith(", recipe mine: unknown flag --fakes. Nearest flag that exists: --fake.")
    assert builder.find(plan()) is None


def test_a_changed_recipe_asks_for_no_new_build_and_is_checked_when_it_is_swept(builder, plan):
    built = builder.build(plan(), AT, print)
    assert builder.require(plan("--fakes", "slow")).folder == built.folder
    builder.check_recipes(plan("--fake", "slow"))
    with pytest.raises(BuildError, match=f"tiny {built.folder.name}, recipe mine: unknown flag --fakes"):
        builder.check_recipes(plan("--fakes", "slow"))


def test_recipes_of_what_is_not_built_cannot_be_checked(builder, plan):
    with pytest.raises(BuildError, match=r"tiny: is not built here\. Run frontier build tiny\."):
        builder.check_recipes(plan())
