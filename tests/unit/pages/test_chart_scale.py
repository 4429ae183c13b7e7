import datetime as dt

import pytest

from pipeline.pages.chart_scale import day_scale, doubling_scale, linear_scale, log_scale, value_scale


def test_a_linear_scale_runs_from_0_to_a_round_number_that_no_value_exceeds():
    assert linear_scale([3.0, 47.0]).ticks == (0, 10, 20, 30, 40, 50)
    assert linear_scale([12_500.0]).hi == 12_500
    assert linear_scale([]).ticks[-1] == 1.0


@pytest.mark.parametrize("top", [0.0031, 0.99, 1.0, 7.3, 64_000.0])
def test_no_linear_scale_has_more_than_six_ticks_or_cuts_a_value_off(top):
    scale = linear_scale([top])
    assert scale.hi >= top * (1 - 1e-9)
    assert 3 <= len(scale.ticks) <= 6


def test_values_of_many_sizes_make_the_scale_logarithmic():
    assert value_scale([1.0, 39.0]).kind == "linear"
    assert value_scale([1.0, 41.0]).kind == "log"
    assert value_scale([0.0, 41.0]).kind == "linear"


def test_a_log_scale_encloses_its_values_between_ticks():
    scale = log_scale([0.3, 42.0])
    assert (scale.lo, scale.hi, scale.ticks) == (0.2, 50.0, (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0))
    assert log_scale([7.0]).lo < 7.0 < log_scale([7.0]).hi


def test_concurrencies_are_doublings():
    assert doubling_scale([1.0, 48.0]).ticks == (1, 2, 4, 8, 16, 32, 64)
    assert doubling_scale([4.0]).hi > 4.0
    assert len(doubling_scale([1.0, 4096.0]).ticks) <= 8


def test_days_have_a_tick_at_both_ends_and_a_margin():
    first, last = dt.date(2026, 9, 1).toordinal(), dt.date(2026, 9, 21).toordinal()
    scale = day_scale([last, first])
    assert (scale.lo, scale.hi, scale.ticks) == (first - 1, last + 1, (first, last))
