"""The memory of what was drawn: late, damaged or gone, it only costs time."""

import pytest

from pipeline.pages.checks import PageLinks
from pipeline.pages.drawing import Drawing
from resources.drawings import drawings_file, new_drawings, read_drawings


def drawing(key):
    return Drawing(key, {f"{key}/index.html": "ab"}, (PageLinks(f"{key}/index.html", ("../",), ()),), ("inline style",))


@pytest.fixture
def live(tmp_path):
    return tmp_path / "site"


def remember(live, *keys):
    with new_drawings(live) as drawings:
        for key in keys:
            drawings.put(f"h100/{key}", drawing(key))


def known(live, *keys):
    with read_drawings(live) as drawings:
        return [drawings.get(f"h100/{key}") for key in keys]


def test_what_is_put_is_found_by_name_and_given_in_order(live):
    remember(live, "b", "a")
    assert known(live, "a", "b", "c") == [drawing("a"), drawing("b"), None]
    with read_drawings(live) as drawings:
        assert list(drawings) == [drawing("b"), drawing("a")]


def test_a_drawing_is_found_while_others_are_put(live):
    with new_drawings(live) as drawings:
        drawings.put("h100/a", drawing("a"))
        assert drawings.get("h100/a") == drawing("a")
        drawings.put("h100/b", drawing("b"))
        assert list(drawings) == [drawing("a"), drawing("b")]


def test_a_new_memory_takes_the_place_of_the_old_one_when_it_is_whole(live):
    remember(live, "a", "b")
    with pytest.raises(UnicodeEncodeError):
        remember(live, "c", "\ud800")
    assert known(live, "a", "c") == [drawing("a"), None]
    remember(live, "c")
    assert known(live, "a", "c") == [None, drawing("c")]


def test_without_a_memory_nothing_is_known(live):
    assert known(live, "a") == [None]


def test_a_damaged_line_is_no_drawing_and_the_others_are(live):
    remember(live, "a", "b", "c")
    lines = drawings_file(live).read_bytes().splitlines(keepends=True)
    drawings_file(live).write_bytes(lines[0] + lines[1][:40] + b"\n" + b"no tab\n\xff\t{}\n" + lines[2][:-20])
    assert known(live, "a", "b", "c") == [drawing("a"), None, None]


def test_a_memory_of_another_version_is_none(live):
    drawings_file(live).write_text('{"h100/a": {"key": "a", "files": {}, "links": [], "breaches": []}}\n')
    assert known(live, "a") == [None]
