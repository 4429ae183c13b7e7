"""Every type of page in a real browser: loads, reads without a script, fits a phone, prints, and is accessible."""

import re

import pytest

from tests.browser.rows import FLASH, R1

pytestmark = pytest.mark.browser

RUN = f"run/{FLASH}-on-h100/"
PAGES = {
    "overview": "",
    "measured run": RUN,
    "simulated run": f"{RUN}agentx-simulated/",
    "published readings": f"run/{FLASH}-on-b300/",
    "only invalid points": f"run/{FLASH}-on-h200/",
    "500 points": f"run/{R1}-on-h100/",
    "every point": f"run/{R1}-on-h100/points/",
    "markup in names": f"run/{R1}-on-b300/",
    "model": f"model/{FLASH}/",
    "gpu": "gpu/h100/",
    "compared gpus": f"compare/{R1}/b300-vs-h100/",
    "compared on one gpu": f"compare/{R1}/on-h100/",
    "comparisons": f"compare/{R1}/",
    "nothing to compare with": f"compare/{FLASH}/",
    "not found": "404.html",
}
every_page = pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)


@every_page
def test_a_page_loads_without_an_error_or_a_request_to_another_host(open_page, path):
    page = open_page(path)
    page.wait_for_load_state("networkidle")
    assert page.troubles == []


UNFOLD = "document.querySelectorAll('details').forEach(d => { d.open = true; })"


@every_page
def test_axe_finds_no_serious_fault_in_light_or_dark(open_page, path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(path)
    page.evaluate(UNFOLD)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(page).response["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        assert [(scheme, v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in serious] == []


@every_page
def test_no_page_scrolls_sideways_from_320_px_on(open_page, path):
    page = open_page(path)
    page.evaluate(UNFOLD)
    for width_px in (320, 390, 500, 768):
        page.set_viewport_size({"width": width_px, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width_px


@every_page
def test_a_table_wider_than_the_page_says_that_it_scrolls(open_page, path):
    page = open_page(path, 390)
    page.wait_for_timeout(100)
    told = page.evaluate(
        """Array.from(document.querySelectorAll('.scroll')).map(box =>
        [box.scrollWidth > box.clientWidth + 1, box.previousElementSibling.classList.contains('shown')])"""
    )
    assert [wide for wide, _ in told] == [hint for _, hint in told]


def numbers(html: str) -> set[str]:
    """Every number in the text of a page's main part; tags stand between the words that they part."""
    main = html.split("<main", 1)[1].split("</main>")[0]
    return set(re.findall(r"\$?\d[\d,]*\.?\d*", re.sub(r"<script.*?</script>|<[^>]*>", " ", main, flags=re.DOTALL)))


@every_page
def test_without_a_script_every_number_is_still_there(open_page, path):
    bare = open_page(path, java_script_enabled=False).content()
    scripted = open_page(path)
    scripted.evaluate("document.querySelectorAll('[data-live], .tip').forEach(part => part.remove())")
    assert numbers(scripted.content()) <= numbers(bare)


@every_page
def test_the_keyboard_alone_reaches_everything(open_page, path):
    page = open_page(path)
    page.evaluate(UNFOLD)
    reachable = page.evaluate(
        """() => {
          const focusable = 'a[href], button, select, input, summary, [tabindex="0"]';
          const seen = Array.from(document.querySelectorAll(focusable)).filter(e => e.checkVisibility());
          window.wanted = new Set(seen);
          return wanted.size;
        }"""
    )
    for _ in range(reachable + 5):
        page.keyboard.press("Tab")
        page.evaluate("window.wanted.delete(document.activeElement)")
    missed = page.evaluate("Array.from(window.wanted).map(e => e.outerHTML.slice(0, 120))")
    assert missed == []


@every_page
def test_print_shows_what_is_folded_away_and_cuts_nothing_off(open_page, path):
    page = open_page(path, 1040)
    page.emulate_media(media="print")
    hidden = page.evaluate(
        """Array.from(document.querySelectorAll('main :is(td, dd, figure, pre, li)')).filter(e =>
        !e.closest('.calculator, .downloads') && !e.checkVisibility({contentVisibilityAuto: true})).length"""
    )
    assert hidden == 0
    assert page.evaluate(
        "Array.from(document.querySelectorAll('.scroll')).every(b => getComputedStyle(b).overflowX === 'visible')"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 1040
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_every_page_is_valid_html_with_unique_ids(site):
    justhtml = pytest.importorskip("justhtml", reason="justhtml is not installed")
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        justhtml.JustHTML(text, strict=True)
        ids = re.findall(r'<[^>]* id="([^"]+)"', text)
        assert len(ids) == len(set(ids)), path


def test_every_link_of_the_site_leads_to_a_page_and_to_its_anchor(site):
    pages = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    for path, text in pages.items():
        for link in re.findall(r'href="([^"#:]*)#([^"]+)"', text):
            folder, anchor = link
            target = (site / path).parent.joinpath(folder).resolve() if folder else site / path
            target = target / "index.html" if target.is_dir() else target
            assert f'id="{anchor}"' in target.read_text(encoding="utf-8"), (path, link)


def test_a_run_page_weighs_at_most_200_kb_with_all_that_it_loads(open_page):
    for path in (PAGES["measured run"], PAGES["500 points"]):
        page = open_page(path)
        weights = page.evaluate(
            """performance.getEntries().filter(e => e.decodedBodySize).map(e => [e.name, e.decodedBodySize])"""
        )
        assert sum(size for _, size in weights) <= 200_000, weights


@pytest.mark.parametrize(("day", "n_notices"), [("2026-11-01", 0), ("2026-11-02", 1)])
def test_a_page_that_is_read_after_it_was_due_says_that_it_is_overdue(open_page, day, n_notices):
    for path, notice in ((RUN, ".banner.overdue"), ("", "text=overdue since 2026-11-01")):
        page = open_page(path)
        page.clock.set_fixed_time(f"{day}T12:00:00Z")
        page.reload()
        page.wait_for_load_state("networkidle")
        assert min(page.locator(notice).count(), 1) == n_notices
    assert page.troubles == []


def test_without_a_script_a_page_says_until_when_it_is_due(open_page):
    page = open_page(RUN, java_script_enabled=False)
    assert "Measured on 2026-10-02; due again by 2026-11-01." in page.content()
    assert page.locator(".banner.overdue").count() == 0
