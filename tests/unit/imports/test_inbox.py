from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from pipeline.imports.inbox import (
    N_ATTEMPTS,
    Answer,
    Decision,
    answered,
    as_cursor,
    decide,
    is_unfinished,
    remembered,
)
from pipeline.imports.outcome import Outcome, Rejected, passed_over
from pipeline.imports.source import SourceFile
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS


@dataclass
class Box:
    """An inbox of looks by name, keys that are the names, and answers by key; it remembers through a cursor."""

    files: dict[str, str]
    answers: dict[str, Answer] = field(default_factory=dict)
    cursor: str | None = None
    asked: list[str] = field(default_factory=list)

    def look(self) -> Decision:
        decision = decide(remembered(self.cursor), self.files, self.key, self.answers.get)
        self.cursor = as_cursor(decision.known)
        return decision

    def key(self, name: str) -> str:
        self.asked.append(name)
        return f"key of {name}"


def test_a_file_is_imported_when_two_looks_in_a_row_saw_it_unchanged():
    box = Box({"a": "1 byte"})
    assert (box.look().together, box.look().together) == ([], ["a"])


def test_a_file_that_grows_waits_until_it_does_not():
    box = Box({"a": "1 byte"})
    box.look()
    box.files["a"] = "2 bytes"
    growing = box.look()
    assert (growing.together, growing.n_waiting) == ([], 1)
    assert box.look().together == ["a"]


def test_new_files_are_imported_together_and_a_growing_one_keeps_none_of_them_waiting():
    box = Box({"a": "1", "b": "1", "c": "1"})
    box.look()
    box.files["b"] = "2"
    assert box.look().together == ["a", "c"]


def test_an_imported_file_hands_its_cells_on_once_and_its_content_is_read_once():
    box = Box({"a": "1"})
    box.look()
    box.look()
    box.answers["key of a"] = Answer(("h100|2026-11-01",))
    assert box.look().cells == {"h100|2026-11-01"}
    later = box.look()
    assert (later.cells, later.together, later.alone, later.n_waiting) == (set(), [], [], 0)
    assert box.asked == ["a"]


def test_what_was_answered_before_is_not_asked_for_again():
    box = Box({"a": "1"}, {"key of a": Answer(refused="broken")})
    box.look()
    assert box.look().together == []


def test_a_file_whose_import_ended_without_an_answer_is_imported_alone_and_then_given_up():
    box = Box({"bad": "1", "good": "1"})
    box.look()
    assert box.look().together == ["bad", "good"]
    assert box.look().alone == ["bad", "good"]
    box.answers["key of good"] = Answer()
    looks = [box.look() for _ in range(N_ATTEMPTS)]
    assert [look.alone for look in looks] == [["bad"], [], []]
    assert [look.given_up for look in looks] == [[], ["bad"], []]


def test_a_file_that_is_taken_away_is_forgotten():
    box = Box({"a": "1"})
    box.look()
    box.files.clear()
    assert box.look().known == {}


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"a": 1}', '{"a": {"size": 1}}'])
def test_a_cursor_of_another_form_is_none(text):
    assert remembered(text) == {}


@pytest.mark.parametrize("name", [".a.json", "a.json.tmp", "a.PART", "a.crdownload", ".a.swp", "~lock"])
def test_a_name_says_that_a_file_is_not_whole(name):
    assert is_unfinished(name)


@pytest.mark.parametrize("name", ["a.json", "part.csv", "a.tmp.json", "tmp"])
def test_other_names_do_not(name):
    assert not is_unfinished(name)


def test_a_file_of_which_no_row_could_be_imported_is_refused_in_its_first_rows_words():
    rejected = (Rejected(3, "no_gpu", "it names none"),)
    outcome = Outcome("test", 1, POINTS.empty(), REQUESTS.empty(), rejected, ())
    assert answered(SourceFile("a.csv", b""), outcome, []) == Answer(
        refused="a.csv: none of its rows could be imported, row 3: no_gpu, it names none"
    )


def test_a_file_that_is_passed_over_is_not_refused():
    outcome = passed_over("test", "described: 0 rows")
    assert answered(SourceFile("a.json", b""), outcome, []) == Answer()


def test_the_cells_of_an_import_are_in_order():
    points = pa.table({"valid": [True]})
    outcome = Outcome("test", 1, points, REQUESTS.empty(), (), ())
    assert answered(SourceFile("a.csv", b""), outcome, ["b|2", "a|1"]) == Answer(("a|1", "b|2"))
