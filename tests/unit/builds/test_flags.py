"""Flags of a launch line: spelled as the parser reads them, and refused by name where they do not exist."""

import pytest

from pipeline.builds.flags import flags_of, refuse_unknown_flags, unknown_flags
from pipeline.errors import BuildError

KNOWN = ["--max-num-seqs", "--enforce-eager", "--no-enforce-eager", "--compilation-config", "-tp", "--mem_fraction"]


@pytest.mark.parametrize(
    ("argument", "flags"),
    [
        ("--max-num-seqs=32", ["--max-num-seqs"]),
        ("--max_num_seqs", ["--max-num-seqs"]),
        ("--compilation-config.level", ["--compilation-config"]),
        ("-tp", ["-tp"]),
        ("-1", []),
        ("0.02", []),
        ("model/dir", []),
    ],
)
def test_an_argument_is_a_flag_as_the_parser_reads_it(argument, flags):
    assert flags_of([argument]) == flags


def test_known_flags_pass_in_every_spelling():
    line = ["DIR", "--max_num_seqs", "32", "--no-enforce-eager", "-tp", "8", "--mem-fraction=0.9"]
    assert unknown_flags(line, KNOWN) == []


def test_an_abbreviation_is_not_a_flag():
    assert unknown_flags(["--max-num", "--enforce-eager"], KNOWN) == ["--max-num"]


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--max-num-seq", "vllm_cpu 0123: unknown flag --max-num-seq. Nearest flag that exists: --max-num-seqs."),
        ("--zzz", "vllm_cpu 0123: unknown flag --zzz. It knows 6 others, none close."),
    ],
)
def test_an_unknown_flag_is_a_sentence_with_flag_build_and_nearest(flag, words):
    with pytest.raises(BuildError) as error:
        refuse_unknown_flags(["DIR", flag, "1"], KNOWN, "vllm_cpu 0123")
    assert str(error.value) == words
