"""The memory of a drawing: its key changes with everything that a pair's files are drawn from."""

import hashlib

from pipeline.pages.checks import PageLinks
from pipeline.pages.drawing import drawing_key, drawing_of
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.policy import POLICY

SITE = SiteFacts(base_url="https://example.org/")


def test_the_key_changes_with_the_page_the_site_and_the_code():
    key = drawing_key(b"page", SITE, "code")
    others = [drawing_key(b"other", SITE, "code"), drawing_key(b"page", SiteFacts(), "code")]
    others.append(drawing_key(b"page", SITE, "other"))
    assert key == drawing_key(b"page", SITE, "code")
    assert len({key, *others}) == 4


def test_a_drawing_remembers_hashes_links_and_what_breaks_the_policy():
    page = (
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><a href="data.json"><a href="#x"><p style="">'
    )
    drawing = drawing_of("k", {"run/a/index.html": page, "run/a/data.json": "{}", "run/a/x.png": b"png"}, SITE)
    assert drawing.files["run/a/x.png"] == hashlib.sha256(b"png").hexdigest()
    assert drawing.files["run/a/index.html"] == hashlib.sha256(page.encode()).hexdigest()
    assert drawing.links == (PageLinks("run/a/index.html", ("data.json",), ("#x",)),)
    assert drawing.breaches == ("run/a/index.html: inline style",)
