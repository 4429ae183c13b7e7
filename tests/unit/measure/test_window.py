"""Whole-run and steady-state windows over spans of a few seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.measure.window import Span, Window, achieved_concurrency, steady_state, throughput_tok_s, whole_run

S = 1_000_000_000


def span(start_s, end_s, total_tok=0):
    return Span(start_s * S, end_s * S, total_tok)


def test_the_whole_run_is_from_the_first_start_to_the_last_end():
    assert whole_run([span(2, 5), span(1, 3)]) == Window(1 * S, 5 * S)


def test_there_is_no_window_without_requests_or_without_length():
    assert whole_run([]) is None
    assert whole_run([span(1, 1)]) is None


def test_steady_state_is_from_first_reaching_the_target_until_it_is_last_held():
    # in flight: 1 from 0 s, 2 from 1 s, 1 from 4 s, 2 from 5 s, 1 from 7 s
    spans = [span(0, 4), span(1, 9), span(5, 7)]
    assert steady_state(spans, 2) == Window(1 * S, 7 * S)


def test_steady_state_is_none_where_the_target_is_never_reached():
    assert steady_state([span(0, 4), span(4, 8)], 2) is None


def test_a_lane_that_sends_the_next_request_as_the_last_one_ends_holds_one():
    assert steady_state([span(0, 4), span(4, 8)], 1) == Window(0, 8 * S)


def test_achieved_concurrency_is_request_seconds_over_window_seconds():
    assert achieved_concurrency([span(0, 4), span(2, 4)], Window(0, 4 * S)) == 1.5


def test_a_request_that_crosses_the_border_counts_with_its_share_inside():
    spans = [span(0, 4, total_tok=400), span(3, 5, total_tok=100)]
    assert throughput_tok_s(spans, Window(0, 4 * S)) == (400 + 50) / 4


spans_of = st.lists(
    st.tuples(st.integers(0, 50), st.integers(1, 50), st.integers(0, 100)).map(lambda t: span(t[0], t[0] + t[1], t[2])),
    min_size=1,
    max_size=12,
)


@given(spans_of, st.integers(1, 6))
def test_the_steady_state_lies_inside_the_whole_run(spans, target):
    everything, steady = whole_run(spans), steady_state(spans, target)
    assert steady is None or (everything.start_ns <= steady.start_ns < steady.end_ns <= everything.end_ns)


@given(spans_of)
def test_over_the_whole_run_every_token_counts_once(spans):
    window = whole_run(spans)
    total = sum(s.total_tok for s in spans)
    assert throughput_tok_s(spans, window) * window.length_s == pytest.approx(total)
