import pytest

from pipeline.errors import FrontierError
from pipeline.pages.inputs import site_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", None),
        ("https://example.org", "https://example.org/"),
        ("https://example.org/", "https://example.org/"),
        ("http://127.0.0.1:8000/a/b-c", "http://127.0.0.1:8000/a/b-c/"),
        ("https://[::1]:8443/~me/%C3%A4/", "https://[::1]:8443/~me/%C3%A4/"),
    ],
)
def test_an_address_of_a_site_ends_with_a_slash(text, address):
    assert site_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("javascript:alert(1)", "example.org", "ftp://example.org/", "//example.org/", "https://", "https:///path/"),
        *("https://example.org/?a=1", "https://example.org/#a", "https://example.org/<b>", 'https://example.org/"'),
        *("https://example.org/'", "https://exa mple.org/", "https://me:word@example.org/", "https://example.org/\n"),
        *("https://example.org/a//b", "https://example.org/../", "https://example.org:port/"),
    ],
)
def test_what_is_no_plain_http_address_is_refused_by_the_name_of_the_variable(text):
    with pytest.raises(FrontierError, match=r"FRONTIER_BASE_URL: .* expected http\(s\)://host/path/ .*") as error:
        site_address(text)
    assert "\n" not in str(error.value)
