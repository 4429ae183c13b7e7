import math

import pytest

from pipeline.cost.frontier_reading import FrontierCurve, Knot, fastest_at, read_at
from pipeline.pages.calculator import page_curves
from tests.unit.pages.pairs import h100_rows
from tests.unit.pages.test_build import page_of


def knot(x: float, y: float, slope: float | None = None, **columns: object) -> Knot:
    empty = dict.fromkeys(("output_share", "computed_input_share", "n_gpus", "power_w_gpu"))
    return Knot(x, y, slope, **(empty | columns))


LINE = FrontierCurve("line", (knot(40, 10800, -180), knot(60, 7200, -180)))


def test_below_the_slowest_knot_that_knot_serves():
    reading = read_at([LINE], 30)
    assert (reading.basis, reading.throughput_tok_s_gpu, reading.delivered_tok_s_user) == ("faster_config", 10800, 40)


def test_between_two_knots_of_a_chord_the_chord_is_read():
    reading = read_at([LINE], 50)
    assert (reading.basis, reading.throughput_tok_s_gpu, reading.delivered_tok_s_user) == ("interpolated", 9000, 50)


def test_on_a_knot_the_knot_is_read():
    assert read_at([LINE], 60).basis == "measured"


def test_nothing_is_faster_than_the_fastest_knot():
    assert read_at([LINE], 60.001) is None
    assert read_at([], 10) is None


def test_of_two_curves_the_higher_one_is_read_and_of_equal_ones_the_first():
    point = FrontierCurve("point", (knot(50, 9000),))
    assert read_at([point, LINE], 50).series == "point"
    assert read_at([LINE, point], 50).series == "line"
    assert read_at([point, LINE], 55).series == "line"


def test_shares_are_linear_between_knots_and_unknown_where_one_knot_does_not_say():
    left, right = knot(40, 10800, -180, output_share=0.1), knot(60, 7200, -180, output_share=0.3)
    assert math.isclose(read_at([FrontierCurve("", (left, right))], 50).output_tok_s_gpu, 9000 * 0.2)
    assert read_at([FrontierCurve("", (left, knot(60, 7200, -180)))], 50).output_tok_s_gpu is None


def test_gpus_of_a_deployment_are_known_between_knots_that_agree():
    agree = FrontierCurve("", (knot(40, 10800, -180, n_gpus=8), knot(60, 7200, -180, n_gpus=8)))
    differ = FrontierCurve("", (knot(40, 10800, -180, n_gpus=8), knot(60, 7200, -180, n_gpus=4)))
    assert (read_at([agree], 50).n_gpus, read_at([differ], 50).n_gpus) == (8, None)


def test_the_highest_speed_of_a_throughput_is_where_the_frontier_falls_below_it():
    assert math.isclose(fastest_at([LINE], 9000).speed_tok_s_user, 50)
    assert fastest_at([LINE], 7200).speed_tok_s_user == 60
    assert fastest_at([LINE], 1).speed_tok_s_user == 60
    assert fastest_at([LINE], 10801) is None


def test_the_highest_speed_is_that_of_the_series_that_keeps_it_longest():
    late = FrontierCurve("late", (knot(70, 8000),))
    assert (fastest_at([LINE, late], 8000).speed_tok_s_user, fastest_at([LINE, late], 8000).series) == (70, "late")


@pytest.mark.parametrize("row", page_of(h100_rows()).ladder, ids=lambda row: f"{row.target_tok_s_user:g}")
def test_at_the_ladders_targets_it_reads_what_the_ladder_says(row):
    page = page_of(h100_rows())
    reading = read_at(page_curves(page), row.target_tok_s_user)
    assert reading.basis == row.at_least.basis
    assert math.isclose(reading.throughput_tok_s_gpu, row.at_least.throughput_tok_s_gpu, rel_tol=1e-12)
    if row.at_least.output_share is not None:
        share = reading.output_tok_s_gpu / reading.throughput_tok_s_gpu
        assert math.isclose(share, row.at_least.output_share, rel_tol=1e-12)
