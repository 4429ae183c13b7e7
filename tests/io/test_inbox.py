"""The inbox as a folder: which files are seen, when one looks different, and what is recorded of each."""

import json
import os

import pytest

from pipeline.imports.inbox import Answer
from resources.inbox import Inbox


@pytest.fixture
def inbox(tmp_path) -> Inbox:
    (tmp_path / "inbox" / "b300").mkdir(parents=True)
    return Inbox(folder=str(tmp_path / "inbox"), root_dir=str(tmp_path / "store"))


@pytest.fixture
def file(inbox):
    path = inbox.place("b300/a.json")
    path.write_text("{}")
    return path


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert Inbox(folder=str(tmp_path / "none"), root_dir=str(tmp_path)).looks() == {}


def test_results_are_seen_and_what_is_hidden_unfinished_or_ours_is_not(inbox, file):
    for name in ("b.json.part", ".c.json", "import.toml", "b300/import.toml", "b300/old.json.refused"):
        inbox.place(name).write_text("x")
    inbox.place(".hidden").mkdir()
    inbox.place(".hidden/d.json").write_text("x")
    assert list(inbox.looks()) == ["b300/a.json"]


def test_a_file_that_grows_looks_different_also_where_its_time_is_set_back(inbox, file):
    before, stat = inbox.looks(), file.stat()
    file.write_text("[]")  # as long as before
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert inbox.looks() != before


def test_its_import_toml_is_part_of_how_a_file_looks_and_of_its_key(inbox, file):
    looks, key = inbox.looks(), inbox.key("b300/a.json")
    inbox.place("b300/import.toml").write_text('gpu = "b300"\n')
    assert inbox.looks() != looks
    assert inbox.key("b300/a.json") != key


def test_what_belongs_to_a_file_is_part_of_how_it_looks_and_of_its_key(inbox):
    name = "D100_11_text-to-text_num_concurrency_2_time_4s.json"
    inbox.place(name).write_text("{}")
    looks, key = inbox.looks(), inbox.key(name)
    inbox.place("experiment_metadata.json").write_text("{}")
    assert inbox.looks()[name] != looks[name]
    assert inbox.key(name) != key


def test_the_key_is_of_path_and_content_and_not_of_the_times(inbox, file):
    key = inbox.key("b300/a.json")
    file.touch()
    assert inbox.key("b300/a.json") == key
    inbox.place("b.json").write_text("{}")
    assert inbox.key("b.json") != key
    file.write_text("[]")
    assert inbox.key("b300/a.json") != key


def test_a_file_that_is_too_large_to_be_read_has_a_key_all_the_same(inbox, file, monkeypatch):
    monkeypatch.setattr("resources.inbox.MAX_MIB", 0)
    key = inbox.key("b300/a.json")
    file.write_text("{ }")
    assert inbox.key("b300/a.json") != key


def test_an_answer_is_kept_by_key_and_a_refusal_is_said_beside_the_file(inbox, file):
    key = inbox.key("b300/a.json")
    assert inbox.answer(key) is None
    inbox.record(file, Answer(refused="a.json: is broken."))
    assert inbox.answer(key) == Answer(refused="a.json: is broken.")
    assert (file.parent / "a.json.refused").read_text() == "a.json: is broken.\n"
    assert file.read_text() == "{}"
    inbox.record(file, Answer(("b300|2026-11-01",)))
    assert inbox.answer(key) == Answer(("b300|2026-11-01",))
    assert not (file.parent / "a.json.refused").exists()


def test_a_link_is_recorded_under_its_own_name(inbox, tmp_path):
    (tmp_path / "elsewhere.json").write_text("{}")
    inbox.place("link.json").symlink_to(tmp_path / "elsewhere.json")
    inbox.record(inbox.place("link.json"), Answer(refused="broken"))
    assert inbox.answer(inbox.key("link.json")) == Answer(refused="broken")


def test_of_a_file_that_is_elsewhere_nothing_is_recorded(inbox, tmp_path):
    path = tmp_path / "elsewhere.json"
    path.write_text("{}")
    inbox.record(path, Answer(refused="broken"))
    assert not (tmp_path / "store").exists()
    assert {p.name for p in tmp_path.iterdir()} == {"inbox", "elsewhere.json"}


def test_an_inbox_that_cannot_be_written_still_has_its_record(inbox, file):
    (file.parent / "a.json.refused").mkdir()  # a note cannot be written over a folder
    inbox.record(file, Answer(refused="broken"))
    assert inbox.answer(inbox.key("b300/a.json")) == Answer(refused="broken")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 1, "refused": ""}', json.dumps({"refused": ""})])
def test_a_record_that_cannot_be_read_is_no_answer(inbox, file, content):
    inbox.record(file, Answer())
    key = inbox.key("b300/a.json")
    next((file.parents[2] / "store" / "inbox").iterdir()).write_text(content)
    assert inbox.answer(key) is None
