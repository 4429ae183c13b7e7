"""One foreign value: what it is, or None."""

import datetime as dt

import pytest

from pipeline.imports.fields import (
    count,
    day,
    epoch_ns,
    flag,
    link,
    moment,
    moment_from_unix,
    number,
    positive,
    size,
    text,
)

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("value", "found"), [(1, 1.0), (0.5, 0.5), (True, None), ("1", None), (INF, None), (NAN, None), (10**400, None)]
)
def test_a_number_is_finite_and_no_text(value, found):
    assert number(value) == found


@pytest.mark.parametrize(("value", "found"), [(0.1, 0.1), (0, None), (-1, None)])
def test_zero_stands_for_a_statistic_that_could_not_be_computed(value, found):
    assert positive(value) == found


@pytest.mark.parametrize(
    ("value", "found"), [(8, 8), (8.0, 8), ("8", 8), (8.5, None), (-1, None), ("8.0", None), (2**60, None)]
)
def test_a_count_is_whole_and_may_be_digits(value, found):
    assert count(value) == found


def test_a_size_of_zero_is_not_said():
    assert size(0) is None


@pytest.mark.parametrize(("value", "found"), [(True, True), ("false", False), ("TRUE", True), ("yes", None), (1, None)])
def test_a_flag_may_be_the_word(value, found):
    assert flag(value) is found


@pytest.mark.parametrize(
    ("value", "found"), [(" a\n b ", "a b"), ("", None), ("\x00", None), (3, None), ("\ud800x", "?x")]
)
def test_text_is_one_printable_line(value, found):
    assert text(value) == found


@pytest.mark.parametrize("value", ["javascript:alert(1)", "http://a b", 'http://a"', "ftp://a", None])
def test_what_is_no_http_address_is_no_link(value):
    assert link(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "2026-06-07",
        "20260607-055909",
        "20260607",
        "2026-06-07T05:59:09Z",
        "2026-06-07T05:59:09",
        "2026-06-08T01:00:00+02:00",
    ],
)
def test_a_day_in_any_spelling_is_the_utc_day(value):
    assert day(value) == dt.date(2026, 6, 7)


@pytest.mark.parametrize("value", ["2026-13-40", "soon", "", None, 20260607, "123456789"])
def test_what_is_no_day_is_none(value):
    assert day(value) is None


def test_a_local_time_is_no_instant():
    assert moment("2026-06-07T05:59:09") is None
    assert moment("2026-06-07T05:59:09+02:00") == dt.datetime(2026, 6, 7, 3, 59, 9, tzinfo=dt.UTC)


def test_implausible_unix_seconds_are_no_instant():
    assert moment_from_unix(0) is None
    assert moment_from_unix(1_780_815_519).isoformat() == "2026-06-07T06:58:39+00:00"


def test_nanoseconds_since_1970_stay_exact():
    assert epoch_ns(1_762_551_534_797_067_827) == 1_762_551_534_797_067_827
    assert epoch_ns(2**63) is None
    assert epoch_ns(True) is None
