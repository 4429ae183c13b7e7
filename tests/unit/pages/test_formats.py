import datetime as dt

import pytest

from pipeline.pages import formats


@pytest.mark.parametrize(
    ("value", "text"), [(11385.0, "11,385"), (406374.4, "406,374"), (100.0, "100"), (99.94, "99.9"), (3.0, "3.0")]
)
def test_throughput_is_an_integer_from_100_on_and_has_one_decimal_below(value, text):
    assert formats.throughput(value) == text


@pytest.mark.parametrize(("value", "text"), [(11385.9, "11,385"), (11385.0, "11,385"), (12.39, "12.3"), (0.3, "0.3")])
def test_a_lower_bound_is_rounded_down(value, text):
    assert formats.throughput_at_least(value) == text


def test_a_bound_that_noise_pushed_under_an_integer_keeps_that_integer():
    assert formats.throughput_at_least(11384.999999999) == "11,385"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00252, "$0.00252"),
        (0.0285463, "$0.0285"),
        (0.163, "$0.163"),
        (1.0604, "$1.06"),
        (1234.5, "$1,234.50"),
        (0.1, "$0.100"),
        (0.001, "$0.00100"),
    ],
)
def test_usd_per_mtok_keeps_three_significant_digits(value, text):
    assert formats.usd_mtok(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.0285463, "$0.0286"), (0.0286, "$0.0286"), (1.001, "$1.01")])
def test_an_upper_bound_is_rounded_up(value, text):
    assert formats.usd_mtok_at_most(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.0285463, "$0.029"), (0.163, "$0.16"), (0.1, "$0.10")])
def test_the_reference_prints_two_decimals_from_a_tenth_on_and_three_below(value, text):
    assert formats.usd_mtok_reference(value) == text


@pytest.mark.parametrize(
    ("value_s", "text"),
    [
        (0.3, "300 ms"),
        (0.00493, "4.93 ms"),
        (0.0001, "0.100 ms"),
        (1.234, "1.23 s"),
        (123.4, "123 s"),
        (0.9999, "1.00 s"),
    ],
)
def test_a_latency_names_the_unit_that_its_number_is_in(value_s, text):
    assert formats.latency(value_s) == text


@pytest.mark.parametrize(("share", "text"), [(0.0072, "0.72%"), (0.95, "95%"), (0.933, "93.3%"), (0.0, "0%")])
def test_small_shares_keep_two_decimals(share, text):
    assert formats.percent(share) == text


def test_a_speed_has_no_idle_decimal():
    assert [formats.speed(v) for v in (50.0, 63.44, 212.9)] == ["50", "63.4", "213"]


def test_one_day_is_not_written_as_a_range():
    first, last = dt.date(2026, 9, 18), dt.date(2026, 9, 24)
    assert formats.day_range(first, last) == "2026-09-18 to 2026-09-24"
    assert formats.day_range(first, first) == "2026-09-18"


def test_counts_and_lists_read_as_english():
    assert [formats.counted(1, "point"), formats.counted(18, "point")] == ["1 point", "18 points"]
    assert [formats.counted(1, "series"), formats.counted(2, "series")] == ["1 series", "2 series"]
    assert [formats.listed(w) for w in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
