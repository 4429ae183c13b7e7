"""Adding and correcting prices: what the text of the book becomes, and which days change."""

import datetime as dt

import pytest

from pipeline.cost.price_book import price_table, prices_as_of
from pipeline.cost.price_edits import added, corrected, moved
from pipeline.errors import PriceError
from pipeline.registry.price_rows import parse_prices
from pipeline.registry.shipped import shipped_registry

HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\n"
WIDE = HEADER.replace("source", "source,recorded_on,corrected_on,correction_reason")
BOOK = HEADER + (
    "h100,retail,1.30,2026-03-18,2026-07-31,a table\n"
    "b300,retail,9,2026-03-18,,a table\n"
    "h100,retail,1.780,2026-08-15,,a table\n"
)
TODAY = dt.date(2026, 11, 20)


def day(month, number):
    return dt.date(2026, month, number)


def body(valid_from, usd=2.0, **more):
    return {
        "gpu": "h100",
        "tier": "retail",
        "usd_per_gpu_hour": usd,
        "source": "quote",
        "valid_from": valid_from,
        **more,
    }


def add(text, *args, **more):
    return added(text, body(*args, **more), "prices.csv", shipped_registry())


def correct(text, *args, reason="a slip", today=TODAY, **more):
    given = body(*args, **more) | {"correction_reason": reason}
    return corrected(text, given, "prices.csv", shipped_registry(), today)


def move(text, valid_from, first_day, usd=1.78, today=TODAY, **more):
    given = body(valid_from, usd, **more) | {"correction_reason": "another day"}
    return moved(text, given, first_day, "prices.csv", shipped_registry(), today)


def rates(text, known_on=None):
    """USD per GPU-hour of h100 retail on the 1st of each month from March to December, None where there is none."""
    registry = shipped_registry()
    table = price_table(parse_prices(text, "prices.csv", gpus=registry.gpus, tiers=registry.tiers))
    known = {} if known_on is None else {"known_on": known_on}
    found = []
    for month in range(3, 13):
        held = [r for r in prices_as_of(table, day(month, 1), **known).to_pylist() if r["gpu"] == "h100"]
        assert len(held) < 2
        found.append(held[0]["usd_per_gpu_hour"] if held else None)
    return found


def test_the_book_has_a_price_but_in_its_gap_and_before_its_first_row():
    assert rates(BOOK) == [None, 1.3, 1.3, 1.3, 1.3, None, 1.78, 1.78, 1.78, 1.78]


@pytest.mark.parametrize(
    ("first", "end", "after"),
    [
        (day(10, 1), None, [None, 1.3, 1.3, 1.3, 1.3, None, 1.78, 2, 2, 2]),
        (day(10, 1), day(11, 1), [None, 1.3, 1.3, 1.3, 1.3, None, 1.78, 2, 1.78, 1.78]),
        (day(5, 1), None, [None, 1.3, 2, 2, 2, None, 1.78, 1.78, 1.78, 1.78]),
        (day(5, 1), day(6, 1), [None, 1.3, 2, 1.3, 1.3, None, 1.78, 1.78, 1.78, 1.78]),
        (day(7, 31), None, [None, 1.3, 1.3, 1.3, 1.3, 2, 1.78, 1.78, 1.78, 1.78]),
        (day(3, 1), None, [2, 1.3, 1.3, 1.3, 1.3, None, 1.78, 1.78, 1.78, 1.78]),
        (day(3, 1), day(3, 2), [2, 1.3, 1.3, 1.3, 1.3, None, 1.78, 1.78, 1.78, 1.78]),
    ],
)
def test_a_price_changes_the_days_from_its_first_one_to_its_end_and_no_other(first, end, after):
    assert rates(add(BOOK, first, valid_to=end).text) == after


def test_every_line_but_the_one_that_ends_stays_as_it_was():
    edit = add(BOOK, day(5, 1), valid_to=day(6, 1))
    assert edit.before.price_id == "h100/retail/2026-03-18"
    assert edit.text == HEADER + (
        "h100,retail,1.30,2026-03-18,2026-05-01,a table\n"
        "b300,retail,9,2026-03-18,,a table\n"
        "h100,retail,1.780,2026-08-15,,a table\n"
        "h100,retail,2,2026-05-01,2026-06-01,quote\n"
        "h100,retail,1.3,2026-06-01,2026-07-31,a table\n"
    )


def test_a_price_before_the_first_row_changes_no_line():
    edit = add(BOOK, day(1, 1))
    assert edit.before is None
    assert edit.text == BOOK + "h100,retail,2,2026-01-01,2026-03-18,quote\n"


@pytest.mark.parametrize(
    ("first", "end", "words"),
    [
        (day(5, 1), day(8, 1), "reaches beyond 2026-07-31"),
        (day(8, 1), day(9, 1), "reaches beyond 2026-08-15, where another row or a gap begins"),
        (day(5, 1), day(5, 1), "the interval is empty"),
        (day(8, 15), None, "prices.csv line 4: h100/retail/2026-08-15 exists already"),
    ],
)
def test_a_price_that_would_change_more_than_one_row_or_a_first_day_is_refused(first, end, words):
    with pytest.raises(PriceError) as error:
        add(BOOK, first, valid_to=end)
    assert words in str(error.value)


def test_a_correction_keeps_the_row_that_was_published_and_says_when_and_why():
    edit = correct(BOOK, day(3, 18), 1.4)
    assert edit.text == WIDE + (
        "h100,retail,1.30,2026-03-18,2026-07-31,a table,,2026-11-20,a slip\n"
        "b300,retail,9,2026-03-18,,a table,,,\n"
        "h100,retail,1.780,2026-08-15,,a table,,,\n"
        "h100,retail,1.4,2026-03-18,2026-07-31,quote,2026-11-20,,\n"
    )
    assert (edit.before.usd_per_gpu_hour, edit.price.usd_per_gpu_hour) == (1.3, 1.4)


def test_as_known_now_the_correction_counts_on_every_day_of_the_row_and_as_known_before_on_none():
    text = correct(BOOK, day(3, 18), 1.4).text
    assert rates(text) == [None, 1.4, 1.4, 1.4, 1.4, None, 1.78, 1.78, 1.78, 1.78]
    assert rates(text, known_on=TODAY) == rates(text)
    assert rates(text, known_on=TODAY - dt.timedelta(1)) == rates(BOOK)


def test_a_correction_of_a_correction_keeps_both():
    once = correct(BOOK, day(8, 15), 1.9)
    twice = correct(once.text, day(8, 15), 1.95, today=day(11, 25))
    assert rates(twice.text)[-1] == 1.95
    assert rates(twice.text, known_on=day(11, 22))[-1] == 1.9
    assert rates(twice.text, known_on=day(11, 19))[-1] == 1.78


def test_two_corrections_on_one_day_leave_the_last_one():
    twice = correct(correct(BOOK, day(8, 15), 1.9).text, day(8, 15), 1.95)
    assert rates(twice.text)[-1] == 1.95
    assert rates(twice.text, known_on=day(11, 19))[-1] == 1.78


def test_a_price_can_be_added_within_a_corrected_row_and_is_known_since_the_correction():
    text = add(correct(BOOK, day(8, 15), 1.9).text, day(10, 1), 3.0, valid_to=day(11, 1)).text
    assert rates(text)[-4:] == [1.9, 3, 1.9, 1.9]
    assert rates(text, known_on=day(11, 19)) == rates(BOOK)


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        ((day(3, 19), 1.4), {}, "no price of h100, retail begins on 2026-03-19; expected 2026-03-18, 2026-08-15"),
        ((day(3, 18), 1.3), {"source": "a table"}, "prices.csv line 2: the row says that already"),
        ((day(3, 18), 1.3 + 1e-12), {"source": " a  table "}, "prices.csv line 2: the row says that already"),
        ((day(3, 18), -1), {}, "greater than 0"),
        ((day(3, 18), 1.4), {"reason": " "}, "correction_reason: one line of text is expected"),
    ],
)
def test_a_correction_that_corrects_nothing_is_refused(given, more, words):
    with pytest.raises(PriceError) as error:
        correct(BOOK, *given, **more)
    assert words in str(error.value)


def test_a_clock_that_stands_before_the_last_correction_cannot_correct():
    once = correct(BOOK, day(3, 18), 1.4)
    with pytest.raises(PriceError, match="corrected before it was recorded"):
        correct(once.text, day(3, 18), 1.5, today=day(11, 1))


MEETING = HEADER + "h100,retail,1.30,2026-03-18,2026-07-31,a table\nh100,retail,1.78,2026-07-31,,a table\n"


@pytest.mark.parametrize(
    ("text", "first", "new_first", "after"),
    [
        (MEETING, day(7, 31), day(9, 15), [None, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.78, 1.78, 1.78]),
        (MEETING, day(7, 31), day(5, 15), [None, 1.3, 1.3, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78]),
        (MEETING, day(7, 31), day(7, 31), [None, 1.3, 1.3, 1.3, 1.3, 1.78, 1.78, 1.78, 1.78, 1.78]),
        (MEETING, day(3, 18), day(2, 1), [1.78, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78]),
        (BOOK, day(8, 15), day(9, 15), [None, 1.3, 1.3, 1.3, 1.3, None, None, 1.78, 1.78, 1.78]),
        (BOOK, day(8, 15), day(7, 31), [None, 1.3, 1.3, 1.3, 1.3, 1.78, 1.78, 1.78, 1.78, 1.78]),
        (BOOK, day(8, 15), day(5, 15), [None, 1.3, 1.3, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78, 1.78]),
    ],
)
def test_a_first_day_that_is_corrected_changes_the_days_between_and_what_was_published_stays(
    text, first, new_first, after
):
    edit = move(text, first, new_first, source="quote")
    assert rates(edit.text) == after
    assert rates(edit.text, known_on=TODAY - dt.timedelta(1)) == rates(text)
    assert edit.price.valid_from == new_first


def test_the_row_before_ends_where_the_moved_one_begins_and_both_old_rows_say_why():
    edit = move(MEETING, day(7, 31), day(8, 3))
    assert edit.text == WIDE + (
        "h100,retail,1.30,2026-03-18,2026-07-31,a table,,2026-11-20,another day\n"
        "h100,retail,1.78,2026-07-31,,a table,,2026-11-20,another day\n"
        "h100,retail,1.78,2026-08-03,,quote,2026-11-20,,\n"
        "h100,retail,1.3,2026-03-18,2026-08-03,a table,2026-11-20,,\n"
    )
    assert edit.neighbour.valid_to == day(8, 3)
    assert edit.before.price_id == "h100/retail/2026-07-31"


def test_a_row_without_a_neighbour_moves_alone():
    assert move(BOOK, day(8, 15), day(9, 1)).neighbour is None
    assert move(MEETING, day(3, 18), day(4, 1), 1.3).neighbour is None


@pytest.mark.parametrize(
    ("text", "first", "new_first", "words"),
    [
        (MEETING, day(7, 31), day(3, 18), "line 2: h100/retail/2026-03-18 begins on or after that day"),
        (MEETING, day(7, 31), day(1, 1), "expected a first day after 2026-03-18, found 2026-01-01. Correct that row"),
        (MEETING, day(3, 18), day(7, 31), "the interval is empty"),
        (MEETING, day(4, 1), day(5, 1), "no price of h100, retail begins on 2026-04-01"),
        (MEETING, day(7, 31), day(7, 31), "the row says that already"),
    ],
)
def test_a_first_day_that_would_take_a_whole_row_away_is_refused(text, first, new_first, words):
    with pytest.raises(PriceError) as error:
        move(text, first, new_first, source="a table")
    assert words in str(error.value)
