"""A launch line is parsed by the build's own parser, in the build's own Python."""

import datetime as dt

import pytest

from pipeline.errors import BuildError
from resources.engine_builder import EngineBuilder
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of

AT = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)

PARSER = """
import argparse, tiny
parser = argparse.ArgumentParser()
parser.add_argument("--max-num-seqs", type=int)
parser.add_argument("--dtype", choices=["float16", "float32"])
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("builds")
    builder = EngineBuilder(root_dir=str(folder / "builds"), wheels_dir=str(folder / "wheels"))
    lock = lock_of(tiny=make_wheel(folder / "wheels"))
    builder.build(plan_of(lock), AT, lambda _: None)

    def check(*arguments: str, parser: str | None = PARSER) -> None:
        builder.check_launch_lines(plan_of(lock, parser_code=parser), {"": arguments})

    return check


def test_a_good_line_passes(checked):
    checked("--max-num-seqs", "32", "--dtype", "float32")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--max-num-seq", "32"], "unknown flag --max-num-seq. Nearest flag that exists: --max-num-seqs."),
        (["--dtype", "float99"], "the launch line is refused; found"),
        (["--dtype", "float99"], "invalid choice: 'float99'"),
        (["--max-num-seqs", "many"], "invalid int value: 'many'"),
        (["stray"], "unrecognized arguments: stray"),
    ],
)
def test_a_bad_line_is_one_sentence(checked, arguments, words):
    with pytest.raises(BuildError) as error:
        checked(*arguments)
    assert words in str(error.value)
    assert str(error.value).startswith("tiny ")
    assert "\n" not in str(error.value)


def test_a_parser_that_does_not_run_or_is_not_named_is_one_sentence(checked):
    with pytest.raises(BuildError, match="its argument parser does not run"):
        checked(parser="import tiny.moved")
    with pytest.raises(BuildError, match="has no argument parser to ask"):
        checked(parser=None)


def test_a_build_whose_parser_does_not_run_does_not_count(tmp_path):
    builder = EngineBuilder(root_dir=str(tmp_path / "builds"), wheels_dir=str(tmp_path / "wheels"))
    plan = plan_of(lock_of(tiny=make_wheel(tmp_path / "wheels")), parser_code="import tiny.moved")
    with pytest.raises(BuildError, match=r"tiny [0-9a-f]{16}: its argument parser does not run"):
        builder.build(plan, AT, lambda _: None)
    assert builder.find(plan) is None


def test_what_is_not_built_cannot_be_asked(tmp_path):
    plan = plan_of(lock_of(tiny="0" * 64), parser_code=PARSER)
    with pytest.raises(BuildError, match=r"tiny: is not built here\. Run frontier build tiny\."):
        EngineBuilder(root_dir=str(tmp_path)).check_launch_lines(plan, {"": []})
