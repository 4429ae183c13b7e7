import pytest

from pipeline.pages.curve_record import FrontierPoint
from pipeline.pages.interpolant import N_SAMPLES, sampled_line


def knot(x: float, y: float, slope: float | None) -> FrontierPoint:
    return FrontierPoint("s", x, y, slope, f"p{x}", combined=True)


def test_the_line_goes_through_every_knot():
    line = sampled_line([knot(40, 10000, -100), knot(55, 8000, -150), knot(80, 3000, -200)])
    assert line[0] == (40, 10000)
    assert line[N_SAMPLES] == (55, 8000)
    assert line[2 * N_SAMPLES] == (80, 3000)


def test_the_line_is_the_cubic_of_the_ladder():
    # Halfway, a cubic Hermite is the mean of its ends plus width times the difference of its slopes over 8.
    middle = dict(sampled_line([knot(40, 10000, -160), knot(60, 7200, -120)]))[50]
    assert middle == pytest.approx((10000 + 7200) / 2 + 20 * (-160 + 120) / 8)


def test_a_value_stays_between_its_two_knots():
    line = sampled_line([knot(10, 100, 500), knot(20, 50, 500)])
    assert all(50 <= y <= 100 for _, y in line)


def test_one_knot_is_one_point_and_none_is_none():
    assert sampled_line([knot(10, 100, None)]) == [(10, 100)]
    assert sampled_line([]) == []
