"""Declarations: which wins, and what is refused."""

import datetime as dt

import pytest

from pipeline.errors import RegistryError
from pipeline.imports.source import Declared, SourceFile, declared_for, declared_from_options, parse_declared

TOML = """
gpu = "h100"
run_date = 2026-01-02
tp = 4

[files."*_c8.json"]
tp = 8

[files."special/*"]
gpu = "b200"
"""


def test_defaults_hold_for_every_file():
    found = declared_for(parse_declared(TOML, "import.toml"), "a_c4.json", Declared())
    assert (found.gpu, found.tp, found.run_date) == ("h100", 4, dt.date(2026, 1, 2))


def test_a_block_wins_over_the_defaults():
    assert declared_for(parse_declared(TOML, "import.toml"), "a_c8.json", Declared()).tp == 8


def test_a_pattern_matches_the_path_or_its_last_part():
    toml = parse_declared(TOML, "import.toml")
    assert declared_for(toml, "special/a_c8.json", Declared()) == Declared(
        gpu="b200", run_date=dt.date(2026, 1, 2), tp=8
    )


def test_the_command_line_wins_over_a_block():
    assert declared_for(parse_declared(TOML, "import.toml"), "a_c8.json", Declared(tp=2)).tp == 2


def test_without_a_file_the_command_line_is_all():
    assert declared_for(None, "a.json", Declared(tp=2)) == Declared(tp=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('gpus = "h100"', "unknown key 'gpus'.*Did you mean 'gpu'"),
        ('[files."a"]\nprecison = "fp8"', r"\[files.\"a\"\].*Did you mean 'precision'"),
        ("tp = 0", "key 'tp'"),
        ("tp = [", "not TOML"),
        ("files = 3", "not a table"),
        ("[files]\na = 3", "not a block"),
        ('run_url = "javascript:alert(1)"', "key 'run_url'"),
        ('gpu = ""', "key 'gpu'"),
        ('run_date = "soon"', "key 'run_date'"),
        (r'engine_build = "a\u001Bb"', r"engine_build: a character that no page can show; found U\+001B in 'a\\x1bb'"),
        (r'run_id = "a\u0085"', r"found U\+0085"),
        (r'run_url = "https://a/\u0007"', r"found U\+0007"),
    ],
)
def test_a_faulty_declaration_is_a_registry_error(text, message):
    with pytest.raises(RegistryError, match=f"(?s)import.toml.*{message}"):
        parse_declared(text, "import.toml")


def test_a_lone_surrogate_is_refused_and_letters_of_any_script_are_not():
    with pytest.raises(RegistryError, match="command line.*engine_build"):
        declared_from_options({"engine_build": "a\udcffb"})
    assert declared_from_options({"engine_build": "Größe 模型 🜁"}).engine_build == "Größe 模型 🜁"


def test_options_that_are_not_given_are_not_said():
    assert declared_from_options({"gpu": "h100", "tp": None}) == Declared(gpu="h100")


def test_an_option_that_is_unknown_is_a_registry_error():
    with pytest.raises(RegistryError, match="command line: unknown key"):
        declared_from_options({"gpux": "h100"})


def test_the_hash_is_of_the_bytes():
    assert SourceFile("a", b"").sha256.startswith("e3b0c44298fc1c14")
