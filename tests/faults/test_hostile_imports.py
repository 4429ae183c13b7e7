"""Folders as an enemy packs them: each file is a sentence or rows, nothing hangs, and nothing is written outside."""

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.faults.site_states import files_of
from tests.faults.test_kills import VLLM

DECLARED = ("--gpu", "h100", "--gpus", "8", "--engine", "vllm", "--precision", "fp8")
GOOD = json.dumps(VLLM | {"date": "20261015-101500"})


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    return made


def test_what_is_no_file_is_passed_over_and_what_is_good_is_read(frontier, folder):
    os.mkfifo(folder / "pipe.json")
    (folder / "loop").symlink_to("loop")
    (folder / "up").symlink_to(folder)
    (folder / "endless.json").symlink_to("/dev/zero")
    (folder / "gone.json").symlink_to("/no/such/file")
    (folder / "good.json").write_text(GOOD)
    code, said, lines = frontier("import", str(folder), *DECLARED, "--no-publish")
    assert (code, lines) == (0, [])
    assert "1 row read from 1 file: 1 imported" in said


@pytest.mark.parametrize(
    "make", [lambda p: os.mkfifo(p), lambda p: p.symlink_to("/dev/zero"), lambda p: p.symlink_to(p)]
)
def test_what_is_no_file_is_refused_where_it_is_named(frontier, folder, make):
    make(folder / "named.json")
    code, _, lines = frontier("import", str(folder / "named.json"), *DECLARED)
    assert code == 1
    assert "named.json: no" in lines[-1] or "/dev/zero: not a file" in lines[-1]


def test_a_packed_file_is_refused_and_never_unpacked(frontier, folder):
    (folder / "bomb.json.gz").write_bytes(gzip.compress(bytes(200 * 2**20)))
    code, _, lines = frontier("import", str(folder), *DECLARED)
    assert code == 1
    assert lines[0].startswith("bomb.json.gz: ")


def test_a_million_keys_and_one_of_them_twice_are_told_at_once(frontier, folder):
    keys = ",".join(f'"k{n}":1' for n in range(1_000_000))
    (folder / "keys.json").write_text("{" + keys + "}")
    (folder / "twice.json").write_text("{" + keys + ',"k999999":2}')
    code, _, lines = frontier("import", str(folder), *DECLARED)
    assert code == 1
    assert any("keys.json: the content is of no known tool" in line for line in lines)
    assert any("twice.json: the key 'k999999' occurs twice in one object" in line for line in lines)


@pytest.mark.parametrize(
    ("declarations", "words"),
    [
        ("gpu = " + "[" * 100_000, "import.toml: n"),
        ("#" * (2 * 2**20), "import.toml: too large; expected at most 1 MiB, found 2 MiB."),
        ("gpu = 'h100'\x00", "import.toml: not TOML"),
    ],
    ids=["deep", "large", "binary"],
)
def test_hostile_declarations_are_a_sentence_a_file(frontier, folder, declarations, words):
    (folder / "good.json").write_text(GOOD)
    (folder / "import.toml").write_text(declarations)
    code, _, lines = frontier("import", str(folder), *DECLARED)
    assert code == 1
    assert words in lines[0]
    assert not any("Traceback" in line for line in lines)


def test_names_are_no_paths_and_their_letters_do_no_harm(frontier, folder, tmp_path):
    words = {"run_id": "../../../evil", "engine_build": "../../x", "run_url": "https://h/../../y"}
    for name in (b"\xff\xfe.json", b"new\nline.json", b"..json", "größe 🜁.json".encode()):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(
            json.dumps(json.loads(GOOD) | {"x": repr(name)})
        )
    before = {p.name for p in tmp_path.iterdir()}
    declared = [f"--declare={key}={value}" for key, value in words.items()]
    code, said, lines = frontier("import", str(folder), *DECLARED, *declared)
    assert (code, lines) == (0, [])
    assert "4 imported" in said or "3 imported" in said
    assert {p.name for p in tmp_path.iterdir()} == before | {"home"}
    assert not [name for name in files_of(tmp_path / "home") if "evil" in name]
