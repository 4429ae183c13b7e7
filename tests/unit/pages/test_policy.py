import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.compare_page import compare_files
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.policy import POLICY, policy_breaches
from pipeline.pages.site_files import SiteContents, pair_files, site_files
from tests.unit.pages.pairs import h100_rows, pair_of

META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'


def test_every_page_keeps_the_policy_that_it_carries():
    sections = build_sections(pair_of(h100_rows()))
    files = pair_files(sections, SiteFacts(base_url="https://example.org/")) | compare_files([sections], SiteFacts())
    files |= {path: "".join(parts) for path, parts in site_files(SiteContents([sections]), [], SiteFacts())}
    pages = {path: text for path, text in files.items() if path.endswith(".html")}
    assert len(pages) == 7
    assert [breach for path, html in pages.items() for breach in policy_breaches(path, html)] == []


def test_the_policy_allows_no_other_host_no_inline_script_and_no_sending():
    assert POLICY.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    assert not {"unsafe", "http", "data:", "*"} & set(POLICY.replace("-", " ").split())
    assert "form-action 'none'" in POLICY


@pytest.mark.parametrize(
    ("html", "breach"),
    [
        ("<script>alert(1)</script>", "inline script"),
        ('<p onclick="x()">', "inline onclick"),
        ('<p style="color:red">', "inline style"),
        ("<style>p{}</style>", "inline style"),
        ('<script src="https://cdn.example/x.js"></script>', "script loads https://cdn.example/x.js"),
        ('<img src="//cdn.example/x.png">', "img loads //cdn.example/x.png"),
        ('<link rel="stylesheet" href="https://fonts.example/x.css">', "link loads https://fonts.example/x.css"),
        ('<form action="/send">', "form with action"),
        ('<base href="/">', "base with href"),
    ],
)
def test_what_the_policy_would_block_is_found(html, breach):
    assert policy_breaches("a.html", META + html) == [f"a.html: {breach}"]


def test_the_sites_own_address_is_not_another_host():
    html = f'{META}<link rel="icon" href="https://example.org/f/favicon.svg">'
    assert policy_breaches("404.html", html, "https://example.org/f/") == []
    assert len(policy_breaches("404.html", html, "https://example.org/other/")) == 1


def test_a_page_without_the_policy_is_found():
    assert policy_breaches("a.html", "<p>x") == ["a.html: not the site's Content-Security-Policy"]


def test_data_blocks_links_and_scripts_of_the_site_are_allowed():
    html = f"{META}<script type='application/ld+json'>{{}}</script>"
    assert policy_breaches("a.html", html + '<a href="https://example.org/">x</a><script src="../a.js"></script>') == []
