"""The switches of the overview write what the page and its data say."""

import json

import pytest

from pipeline.pages import formats

pytestmark = pytest.mark.browser

CELLS = "Array.from(document.querySelectorAll('[data-c]')).map(td => td.innerText.trim().split(/\\s*\\n\\s*/))"


def test_the_script_writes_the_cells_exactly_as_the_page_has_them(open_page):
    bare = open_page("", java_script_enabled=False).locator("[data-c]").all_inner_texts()
    page = open_page("")
    page.clock.set_fixed_time("2026-10-30T12:00:00Z")  # before anything of it is overdue
    page.reload()
    page.locator("select[name=target]").select_option(index=5)
    page.locator("select[name=target]").select_option(label="50 tokens/s per user")
    assert page.locator("[data-c]").all_inner_texts() == bare


def test_another_target_and_tier_show_the_readings_of_the_data(open_page, site):
    data = json.loads((site / "index.json").read_text())
    tier = data["tiers"][1]
    page = open_page("")
    page.locator("select[name=metric]").select_option("cost")
    page.locator("select[name=target]").select_option(label="100 tokens/s per user")
    page.locator("select[name=tier]").select_option(label=tier["name"])
    wanted = []
    for row in data["rows"]:
        for cell in row["cells"]:
            at = [r for r in cell["ladder"] if r["target_tok_s_user"] == 100.0]
            wanted += [_cost(reading, tier["slug"]) for reading in at]
    shown = [lines[0] for lines in page.evaluate(CELLS)]
    assert [text for text in shown if text.startswith(("$", "≤"))] == [text for text in wanted if text]
    assert page.locator("[data-target]").first.text_content() == "100"
    assert page.locator("[data-tier]").text_content() == tier["name"]


def _cost(reading: dict, tier: str) -> str:
    usd = (reading["cost_usd_mtok"] or {}).get(tier)
    if usd is None:
        return ""
    return f"≤ {formats.usd_mtok_at_most(usd)}" if reading["basis"] == "faster_config" else formats.usd_mtok(usd)


def test_the_best_of_a_row_is_bold_and_says_why(open_page):
    page = open_page("")
    best = page.locator("td:has(.best)").all()
    assert best
    for cell in best:
        assert " of " in cell.locator(".w").text_content()


def test_a_gap_says_why(open_page):
    text = open_page("").locator("table.grid").inner_text()
    assert "no valid point" in text
    assert "No point of this page is valid." in text
    assert "not run" in text
