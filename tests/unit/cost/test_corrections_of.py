"""Which corrections belong to which price, as the book's commands leave them: rate, first day, and both in turn."""

import datetime as dt

import pytest

from pipeline.cost.price_book import corrections_of, price_table
from pipeline.cost.price_edits import corrected, moved
from pipeline.registry.price_rows import parse_prices
from pipeline.registry.shipped import shipped_registry

HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\n"
BOOK = (
    HEADER + "h100,retail,1.50,2026-01-01,2026-03-01,a\nh100,retail,2.00,2026-03-01,,a\nb300,retail,9,2026-03-01,,a\n"
)
SEPTEMBER, OCTOBER = dt.date(2026, 9, 1), dt.date(2026, 10, 1)
MARCH = "h100/retail/2026-03-01"


def day(text):
    return dt.date.fromisoformat(text)


def body(usd, first_day, **more):
    return {
        "gpu": "h100",
        "tier": "retail",
        "usd_per_gpu_hour": usd,
        "valid_from": day(first_day),
        "source": "a",
        **more,
    }


def correct(text, usd, first_day, today, new_from=None):
    asked = body(usd, first_day, correction_reason=f"on {today}")
    if new_from:
        return moved(text, asked, day(new_from), "prices.csv", shipped_registry(), today).text
    return corrected(text, asked, "prices.csv", shipped_registry(), today).text


def said(text):
    """Per price: day of the correction, both rates, both first days."""
    registry = shipped_registry()
    prices = parse_prices(text, "prices.csv", gpus=registry.gpus, tiers=registry.tiers)
    return {
        price_id: [
            (
                made.corrected_on,
                (made.was_usd_per_gpu_hour, made.became_usd_per_gpu_hour),
                (str(made.was_valid_from), str(made.became_valid_from)),
            )
            for made in corrections
        ]
        for price_id, corrections in corrections_of(price_table(prices)).items()
    }


def test_a_book_without_a_correction_has_none():
    assert said(BOOK) == {}


def test_rates_that_were_corrected_twice_have_both_the_first_one_first():
    text = correct(correct(BOOK, 2.1, "2026-03-01", SEPTEMBER), 2.2, "2026-03-01", OCTOBER)
    days = ("2026-03-01", "2026-03-01")
    assert said(text) == {MARCH: [(SEPTEMBER, (2.0, 2.1), days), (OCTOBER, (2.1, 2.2), days)]}


@pytest.mark.parametrize("today", [SEPTEMBER, OCTOBER])
def test_a_first_day_that_was_corrected_belongs_to_both_days_and_to_the_row_before(today):
    text = correct(correct(BOOK, 2.1, "2026-03-01", SEPTEMBER), 2.1, "2026-03-01", today, new_from="2026-04-01")
    rate = (SEPTEMBER, (2.0, 2.1), ("2026-03-01", "2026-03-01"))
    move = (today, (2.1, 2.1), ("2026-03-01", "2026-04-01"))
    before = (today, (1.5, 1.5), ("2026-01-01", "2026-01-01"))
    assert said(text) == {
        MARCH: [rate, move],
        "h100/retail/2026-04-01": [rate, move],
        "h100/retail/2026-01-01": [before],
    }


def test_a_first_day_that_was_moved_there_and_back_has_both_moves():
    there = correct(BOOK, 2.0, "2026-03-01", SEPTEMBER, new_from="2026-02-01")
    back = said(correct(there, 2.0, "2026-02-01", OCTOBER, new_from="2026-03-01"))
    moves = [
        (SEPTEMBER, (2.0, 2.0), ("2026-03-01", "2026-02-01")),
        (OCTOBER, (2.0, 2.0), ("2026-02-01", "2026-03-01")),
    ]
    assert back[MARCH] == back["h100/retail/2026-02-01"] == moves
