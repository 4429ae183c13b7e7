"""Every note has a sentence."""

import pytest

from pipeline.measure.notes import NOTES, note_sentence


def test_a_note_is_one_sentence():
    assert all(text.endswith(".") for text in NOTES.values())


def test_a_detail_stands_in_brackets():
    assert note_sentence("name_says_gpu=h200").endswith(" (h200)")


def test_an_unknown_note_is_an_error():
    with pytest.raises(KeyError):
        note_sentence("nonsense")
