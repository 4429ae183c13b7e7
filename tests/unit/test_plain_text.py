"""Control characters: dropped from what is published, whatever was stored."""

import re

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.site_files import pair_files
from pipeline.plain_text import plain, refuse_control_characters
from tests.unit.pages.pairs import h100_rows, pair_of


@pytest.mark.parametrize("bad", ["\x00", "\x1b", "\x7f", "\x85", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_does_not_allow_and_other_controls_are_dropped_or_refused(bad):
    assert plain(f"a{bad}b") == "ab"
    with pytest.raises(ValueError, match=f"U\\+{ord(bad):04X}"):
        refuse_control_characters(f"a{bad}b")


def test_white_space_and_every_script_stay():
    text = "a\tb\r\nGröße 模型 🜁 <&>"
    assert plain(text) == refuse_control_characters(text) == text


def test_a_stored_control_character_does_not_stop_a_publication():
    rows = [row | {"engine_build": "a\x1bb", "run_id": "r\x01un"} for row in h100_rows()]
    rows = [row | {"topology": f"tp\x1b{row['topology']}"} for row in rows]
    files = pair_files(build_sections(pair_of(rows)), SiteFacts())
    assert any(name.endswith(".png") for name in files)
    texts = {name: text for name, text in files.items() if name.endswith((".html", ".svg"))}
    assert len(texts) > 1
    assert not [name for name, text in texts.items() if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)]
