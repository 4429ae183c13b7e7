"""ladder.sql: what a curve says at a speed target, by both readings."""

import pytest

from pipeline.tables.readings import READINGS
from tests.unit.frontier.point_rows import curve, derived, point, reading_of

THREE = curve((40, 10000), (55, 8000), (80, 3000))
TWO = curve((40, 10800), (60, 7200))


def read(connection, rows, reading, target):
    return reading_of(derived(connection, rows, targets=(target,)).readings, reading, target)


@pytest.mark.parametrize(("target", "expected"), [(45, 9388.889), (50, 8736.111), (60, 7150.000), (75, 4100.000)])
def test_check_vector_of_three_knots(connection, target, expected):
    assert read(connection, THREE, "at_target", target)["throughput_tok_s_gpu"] == expected
    assert round(read(connection, THREE, "at_least", target)["throughput_tok_s_gpu"], 3) == expected


def test_check_vector_of_two_knots_is_curved_in_the_reference_and_straight_here(connection):
    assert read(connection, TWO, "at_target", 50)["throughput_tok_s_gpu"] == 8662.5
    assert read(connection, TWO, "at_least", 50)["throughput_tok_s_gpu"] == 9000


def test_the_target_is_a_minimum_so_the_slowest_knot_serves_anything_slower(connection):
    row = read(connection, THREE, "at_least", 30)
    assert (row["throughput_tok_s_gpu"], row["delivered_tok_s_user"]) == (10000, 40)
    assert (row["basis"], row["point_ids"], row["reason"]) == ("faster_config", ["p0"], None)


@pytest.mark.parametrize("reading", ["at_least", "at_target"])
def test_a_target_on_a_knot_is_measured(connection, reading):
    row = read(connection, THREE, reading, 55)
    assert (row["throughput_tok_s_gpu"], row["delivered_tok_s_user"]) == (8000, 55)
    assert (row["basis"], row["point_ids"]) == ("measured", ["p1"])


@pytest.mark.parametrize("reading", ["at_least", "at_target"])
def test_a_target_between_two_knots_is_interpolated_and_names_both(connection, reading):
    row = read(connection, THREE, reading, 60)
    assert (row["basis"], row["point_ids"], row["delivered_tok_s_user"]) == ("interpolated", ["p1", "p2"], 60)


@pytest.mark.parametrize("reading", ["at_least", "at_target"])
def test_a_target_faster_than_every_knot_has_no_value_and_a_reason(connection, reading):
    row = read(connection, THREE, reading, 100)
    assert (row["throughput_tok_s_gpu"], row["delivered_tok_s_user"], row["cache_hit_share"]) == (None, None, None)
    assert (row["basis"], row["point_ids"]) == ("unreachable", [])
    assert row["reason"] == (
        "above_measured_range: the fastest frontier point of this curve runs at 80.0 tok/s/user, "
        "below the target of 100"
    )


def test_the_reference_reading_has_no_value_below_the_measured_range(connection):
    row = read(connection, THREE, "at_target", 30)
    assert (row["throughput_tok_s_gpu"], row["basis"], row["point_ids"]) == (None, "unreachable", [])
    assert row["reason"] == (
        "below_measured_range: the slowest frontier point of this curve runs at 40.0 tok/s/user, above the target of 30"
    )


def test_a_single_knot_serves_its_own_speed_and_less(connection):
    one = curve((40, 10000))
    found = {
        (reading, target): read(connection, one, reading, target)["basis"]
        for reading in ("at_least", "at_target")
        for target in (30, 40, 50)
    }
    assert found == {
        ("at_least", 30): "faster_config",
        ("at_least", 40): "measured",
        ("at_least", 50): "unreachable",
        ("at_target", 30): "unreachable",
        ("at_target", 40): "measured",
        ("at_target", 50): "unreachable",
    }


def test_the_reference_reading_is_rounded_to_three_decimals(connection):
    assert read(connection, curve((50, 123.45678)), "at_target", 50)["throughput_tok_s_gpu"] == 123.457
    assert read(connection, curve((50, 123.45678)), "at_least", 50)["throughput_tok_s_gpu"] == 123.45678


def shares(output, computed, cache):
    return {
        "output_throughput_tok_s_gpu": output,
        "computed_input_throughput_tok_s_gpu": computed,
        "cache_hit_share": cache,
    }


def test_shares_between_two_knots_are_linear_in_speed_and_multiply_the_total(connection):
    rows = [
        point(40, 1000, point_id="a", concurrency=2, **shares(10, 100, 0.9)),
        point(60, 500, point_id="b", concurrency=1, **shares(15, 100, 0.8)),
    ]
    row = read(connection, rows, "at_least", 50)
    assert row["throughput_tok_s_gpu"] == 750
    # output 1 % and 3 % -> 2 %; computed input 10 % and 20 % -> 15 %
    assert row["output_throughput_tok_s_gpu"] == pytest.approx(15)
    assert row["computed_input_throughput_tok_s_gpu"] == pytest.approx(112.5)
    assert row["cache_hit_share"] == pytest.approx(0.85)


def test_a_share_that_one_knot_does_not_say_is_null_between_them_but_not_on_the_other(connection):
    rows = [point(40, 1000, point_id="a", concurrency=2, **shares(10, 100, 0.9)), point(60, 500, point_id="b")]
    between = read(connection, rows, "at_least", 50)
    names = ("output_throughput_tok_s_gpu", "computed_input_throughput_tok_s_gpu", "cache_hit_share")
    assert [between[name] for name in names] == [None, None, None]
    assert [read(connection, rows, "at_least", 30)[name] for name in names] == [10, 100, 0.9]
    assert [read(connection, rows, "at_least", 60)[name] for name in names] == [None, None, None]


def test_every_curve_is_read_at_every_target_by_both_readings(connection):
    readings = derived(connection, THREE + curve((10, 5), engine="sglang")).readings
    assert READINGS.violations(readings) == []
    assert readings.num_rows == 2 * 6 * 2


def test_a_repeated_target_counts_once(connection):
    assert derived(connection, THREE, targets=(50, 50.0)).readings.num_rows == 2
