from pipeline.pages.html_tags import start_tags


def test_a_tag_has_a_name_and_attributes_whatever_their_quotes():
    page = """<A HREF="a&amp;b" id='x' hidden data-n=3><br/><input disabled/>"""
    assert list(start_tags(page)) == [
        ("a", {"href": "a&b", "id": "x", "hidden": "", "data-n": "3"}),
        ("input", {"disabled": ""}),
    ]


def test_scripts_and_styles_are_seen_without_an_attribute_and_escaped_text_is_not_a_tag():
    page = "<p>&lt;script&gt;</p><script></script><style></style><script type='x'>\\u003cb id='y'></script>"
    assert [name for name, _ in start_tags(page)] == ["script", "style", "script"]
