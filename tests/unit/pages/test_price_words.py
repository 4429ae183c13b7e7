"""What a page says about corrected and computed prices, in words, in JSON and in the table's notes."""

import dataclasses
import datetime as dt

import pytest

from pipeline.cost.price_book import PriceCorrection
from pipeline.cost.tco import ComputedRate, CostInput, CostPart
from pipeline.pages.build import build_sections
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.price_words import price_notes
from pipeline.pages.run_page import run_files
from tests.unit.pages.pairs import H100_PRICES, h100_rows, pair_of, price

PRICE_ID = str(H100_PRICES[0]["price_id"])
MAY, JUNE, JULY = (dt.date(2026, month, 1) for month in (5, 6, 7))
MADE = (
    PriceCorrection(dt.date(2026, 9, 1), 1.10, 1.15, "per node", MAY, MAY),
    PriceCorrection(dt.date(2026, 10, 1), 1.15, 1.1725, "a slip", MAY, MAY),
)
RATE = ComputedRate(
    valid_from=dt.date(2026, 1, 1),
    usd_per_gpu_hour=2.0,
    usd_per_owned_hour=1.6,
    parts=(CostPart("Capital, interest included", 1.6),),
    inputs=(CostInput("Life", 4.0, "years", dt.date(2026, 1, 1), "an <invoice>"),),
)


def page_of(prices=None, **changes):
    pair = dataclasses.replace(pair_of(h100_rows(), prices), **changes)
    return build_sections(pair)[0]


def test_a_page_without_a_correction_says_nothing_about_any():
    assert price_notes(page_of()) == []
    assert all(cost.corrections == () and cost.computed is None for cost in page_of().costs)


def test_every_correction_of_a_price_is_a_sentence_with_its_day_both_rates_and_the_reason():
    assert price_notes(page_of(corrections={PRICE_ID: MADE})) == [
        "The price of the tier “Owning at Large Hyperscaler Volume” was corrected on 2026-09-01: $1.15 per GPU-hour, "
        "was $1.10. Reason: per node",
        "The price of the tier “Owning at Large Hyperscaler Volume” was corrected on 2026-10-01: $1.1725 per GPU-hour, "
        "was $1.15. Reason: a slip",
    ]


@pytest.mark.parametrize(
    ("became", "days", "words"),
    [
        (1.10, (MAY, MAY, None, None), "its source; $1.10 per GPU-hour stays"),
        (1.10, (MAY, JUNE, None, None), "from 2026-06-01, was from 2026-05-01; $1.10 per GPU-hour stays"),
        (1.10, (MAY, MAY, JUNE, JULY), "until 2026-07-01, was until 2026-06-01; $1.10 per GPU-hour stays"),
        (1.20, (MAY, JUNE, None, None), "$1.20 per GPU-hour, was $1.10, from 2026-06-01, was from 2026-05-01"),
        (1.10, (MAY, MAY, None, JULY), "until 2026-07-01, was until the next price; $1.10 per GPU-hour stays"),
    ],
)
def test_a_correction_says_what_it_changed_and_that_the_rate_stays(became, days, words):
    made = PriceCorrection(dt.date(2026, 9, 1), 1.10, became, "an invoice", *days)
    assert price_notes(page_of(corrections={PRICE_ID: (made,)})) == [
        f"The price of the tier “Owning at Large Hyperscaler Volume” was corrected on 2026-09-01: {words}. "
        "Reason: an invoice"
    ]


def test_a_correction_that_the_page_leaves_out_is_named_as_a_later_one():
    notes = price_notes(page_of(corrections={PRICE_ID: MADE}, corrections_until=dt.date(2026, 9, 1)))
    assert notes[0] == "Corrections of prices made after 2026-09-01 are left out of the costs of this page."
    assert "was corrected on 2026-09-01" in notes[1]
    assert "was corrected later, on 2026-10-01" in notes[2]


def test_a_computed_price_is_called_an_estimate_and_shows_parts_and_inputs():
    page = page_of([*H100_PRICES, price("tco", 2.0)], computed=RATE)
    assert [cost.computed for cost in page.costs] == [None, None, RATE]
    assert page.headline.price_tier == "owning_hyperscaler"
    text = run_files((page,), SiteFacts())["index.html"]
    assert "Total Cost of Ownership (computed)" in text
    assert "An estimate: computed from the inputs below, quoted by nobody." in text
    assert "an &lt;invoice&gt;" in text
