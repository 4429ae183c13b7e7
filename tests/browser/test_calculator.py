"""The calculator of a run page in the browser says what `frontier cost` says, without a request."""

import pytest

from pipeline.cost.what_if import Question, Weights
from pipeline.pages.calculator import answer_lines, calculator_data, ladder_lines
from resources.page_store import read_sections

pytestmark = pytest.mark.browser

RUN = "run/deepseek_v4_1_flash-on-h100/"
TEXTS = "Array.from(document.querySelectorAll('{}')).map(e => Array.from(e.children).map(c => c.textContent))"
LINES = TEXTS.format("[data-answer] > div")
ROWS = TEXTS.format("[data-ladder] tr")


@pytest.fixture(scope="session")
def data(site):
    (own, *_) = read_sections(site.parent / "store/pages/h100/deepseek_v4_1_flash.json")
    return calculator_data(own)


def filled(page, **values):
    for name, value in values.items():
        page.locator(f"[data-calculator] input[name={name}]").fill(str(value))


def test_the_page_answers_at_its_first_tier_before_anything_is_typed(open_page, data):
    page = open_page(RUN)
    question = Question(data.tiers[0].usd_per_gpu_hour, 50.0, None, None, Weights(), data.all_in_w_gpu)
    assert page.evaluate(LINES) == [list(line) for line in answer_lines(data, question)]
    assert page.evaluate(ROWS) == [list(line) for line in ladder_lines(data, question.usd_per_gpu_hour)]
    assert page.troubles == []


def test_what_is_typed_is_answered_as_in_the_terminal_and_asks_nobody(open_page, data):
    page = open_page(RUN)
    page.wait_for_load_state("networkidle")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    filled(page, usd_per_gpu_hour=1.5, speed_tok_s_user=110, cap_usd_mtok=0.06, load_tok_s=250000)
    filled(page, weight_cached_input=0.1, weight_output=5)
    question = Question(1.5, 110.0, 0.06, 250_000.0, Weights(1, 0.1, 5), data.all_in_w_gpu)
    assert page.evaluate(LINES) == [list(line) for line in answer_lines(data, question)]
    assert page.evaluate(ROWS) == [list(line) for line in ladder_lines(data, 1.5)]
    assert asked == []
    assert page.troubles == []


def test_a_tier_fills_in_its_price_and_a_typed_price_is_nobodys_tier(open_page, data):
    page = open_page(RUN)
    tier = data.tiers[1]
    page.locator("[data-calculator] select").select_option(index=1)
    assert float(page.locator("input[name=usd_per_gpu_hour]").input_value()) == tier.usd_per_gpu_hour
    assert page.evaluate(ROWS) == [list(line) for line in ladder_lines(data, tier.usd_per_gpu_hour)]
    filled(page, usd_per_gpu_hour=9)
    assert page.locator("[data-calculator] select").input_value() == ""


def test_an_empty_or_impossible_price_is_said_and_breaks_nothing(open_page):
    page = open_page(RUN)
    for price in ("", "0"):
        filled(page, usd_per_gpu_hour=price)
        assert page.locator("[data-answer]").inner_text() == "Type a price and a speed above zero."
    filled(page, usd_per_gpu_hour=2, speed_tok_s_user=100000)
    assert "No configuration here is that fast." in page.locator("[data-answer]").inner_text()
    assert page.troubles == []


def test_without_its_script_the_page_names_the_command_and_shows_no_form(open_page):
    page = open_page(RUN, java_script_enabled=False)
    assert "frontier cost h100 deepseek_v4_1_flash" in page.locator("[data-still]").inner_text()
    assert not page.locator("[data-calculator] form").is_visible()


@pytest.mark.parametrize("path", ["changes/", "data/"])
@pytest.mark.parametrize("width_px", [320, 1280])
def test_changes_and_data_open_without_trouble_and_do_not_scroll_sideways(open_page, path, width_px):
    page = open_page(path, width_px)
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    assert page.troubles == []
