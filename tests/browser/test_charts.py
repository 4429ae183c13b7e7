"""What the local script adds to the charts: toggles, tooltips and selection."""

import pytest

from tests.browser.rows import FLASH

pytestmark = pytest.mark.browser

RUN = f"run/{FLASH}-on-h100/"
SHOWN = "document.querySelectorAll('.charts svg [data-s=\"{n}\"]:not(.off)').length"


def test_a_series_is_switched_off_and_on_in_every_chart_by_keyboard(open_page):
    page = open_page(RUN)
    button = page.locator(".legend button").first
    n_parts = page.evaluate(SHOWN.format(n=0))
    assert n_parts > 2
    button.focus()
    page.keyboard.press("Enter")
    assert (button.get_attribute("aria-pressed"), page.evaluate(SHOWN.format(n=0))) == ("false", 0)
    page.keyboard.press("Space")
    assert (button.get_attribute("aria-pressed"), page.evaluate(SHOWN.format(n=0))) == ("true", n_parts)


def test_a_mark_tells_its_point_and_leads_to_its_row(open_page):
    page = open_page(RUN)
    mark = page.locator(".charts figure").first.locator("svg [data-p]").last
    mark.hover()
    tip = page.locator(".tip")
    assert tip.is_visible()
    assert "vLLM fp4, 5,200 tokens/s per GPU, 200 tokens/s per user, topology tp8, concurrency 8" in tip.text_content()
    mark.click()
    row = page.locator("tr:target")
    assert row.locator("td").nth(5).text_content() == "5,200"
    assert page.locator("svg .selected").count() > 1


def test_without_a_script_a_mark_has_a_title_and_a_chart_its_words(open_page):
    page = open_page(RUN, java_script_enabled=False)
    titles = page.locator(".charts figure").first.locator("svg [data-p] title")
    assert titles.count() == 7
    assert "tokens/s per GPU" in titles.first.text_content()
    assert page.locator("figcaption details").first.text_content().count("run 2026-") == 2


def test_an_opened_rung_shows_where_its_number_comes_from(open_page):
    page = open_page(RUN)
    summary = page.locator(".evidence summary").nth(1)
    summary.focus()
    page.keyboard.press("Enter")
    opened = page.locator(".evidence details[open]")
    assert "mean of 3 runs, ± 90.0 tokens/s per GPU" in opened.text_content()
    opened.locator("a").first.click()
    assert page.locator("tr:target").is_visible()
