import base64

from pipeline.sweep.picture import picture_markdown
from tests.unit.frontier.point_rows import point

PNG = b"\x89PNG"


def test_the_picture_of_valid_points_is_a_png_inside_the_text():
    text = picture_markdown([point(50.0, 900.0, concurrency=1), point(40.0, 1500.0, concurrency=2)])
    head, _, rest = text.partition("base64,")
    assert head == "![the frontier so far](data:image/png;"
    assert base64.b64decode(rest.rstrip(")")).startswith(PNG)


def test_a_further_point_changes_the_picture():
    one = [point(50.0, 900.0, concurrency=1)]
    assert picture_markdown(one) != picture_markdown([*one, point(40.0, 1500.0, concurrency=2)])


def test_without_a_valid_point_it_is_a_sentence():
    assert picture_markdown([]) == picture_markdown([point(50.0, 900.0, valid=False)]) == "No valid point yet."
