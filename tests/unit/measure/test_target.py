"""Whether a load kept the target in flight."""

import pytest

from pipeline.measure.target import Target, off_target
from tests.unit.measure.measured_repeats import AGENTIC, FIXED, lanes, request


def at(concurrency, workload=FIXED):
    return Target(concurrency, workload, 1)


def test_lanes_that_are_always_busy_are_on_target():
    assert not off_target(lanes(n_lanes=4), at(4))


def test_one_lane_too_few_of_four_is_off_target():
    assert off_target(lanes(n_lanes=3), at(4))


@pytest.mark.parametrize(("gap_ms", "off"), [(20, False), (60, True)])
def test_gaps_between_the_requests_of_a_lane_count(gap_ms, off):
    # 200 ms in flight, then a gap: 0.91 and 0.77 of the target
    assert off_target([request(i * (200 + gap_ms)) for i in range(50)], at(1)) is off


def test_the_end_of_a_run_where_nothing_is_sent_any_more_does_not_count():
    last = request(1000, e2el_ns=5_000_000_000)
    assert not off_target([*lanes(n_lanes=2), request(1000), last], at(2))


def test_reaching_the_target_for_a_moment_is_not_holding_it():
    assert off_target([*[request(0)] * 4, *[request(200 * i) for i in range(1, 20)]], at(4))


def test_agentic_lanes_pause_and_no_requests_are_another_reason():
    assert not off_target([request(0), request(5000)], at(2, AGENTIC))
    assert not off_target([], at(2))
