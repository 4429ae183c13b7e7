"""The adaptive ladder, against a server that is an arithmetic rule, and rule by rule."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.registry.entries import Concurrency
from pipeline.registry.measured import Limits
from pipeline.sweep.plan import ladder
from pipeline.sweep.stop_rule import ABOVE, BELOW, FIXED_LADDER, Rung, Stopped, next_rung

LADDER = Concurrency(start=4, end=16, factor=2)
LIMITS = Limits(max_concurrency=64)
TARGETS = (30, 200)


def row(concurrency, speed, throughput, **changes):
    """A valid point; TTFT and E2EL are those of a server that does not queue."""
    columns = {
        "concurrency": concurrency,
        "valid": True,
        "reasons": [],
        "attempt": 1,
        "point_id": f"c{concurrency}",
        "n_requested": 100,
        "n_failed": 0,
        "n_preemptions": 0,
        "interactivity_tok_s_user": speed,
        "throughput_tok_s_gpu": throughput,
        "ttft_p50_s": 0.1,
        "e2el_p50_s": 1.0,
    }
    return columns | changes


def invalid(concurrency, *reasons, **changes):
    nothing = {"interactivity_tok_s_user": None, "throughput_tok_s_gpu": None, "ttft_p50_s": None, "e2el_p50_s": None}
    return row(concurrency, None, None, valid=False, reasons=list(reasons), **nothing | changes)


def climb(*speeds_and_throughputs, start=4):
    return [row(start * 2**i, *values) for i, values in enumerate(speeds_and_throughputs)]


RUNGS = climb((100, 400), (80, 640), (60, 960))


def decided(rows, ladder=LADDER, limits=LIMITS, targets=TARGETS):
    return next_rung(rows, ladder, limits, targets)


def test_the_recipes_rungs_come_first_and_in_order():
    assert decided([]) == Rung(4)
    assert decided(RUNGS[:1]) == Rung(8)
    assert decided([RUNGS[0], RUNGS[2]]) == Rung(8)


def test_then_concurrency_is_added_until_a_point_is_as_slow_as_the_lowest_target():
    assert decided(RUNGS) == Rung(32)
    assert decided([*RUNGS, row(32, 40, 1280)]) == Rung(64)
    slow = [*RUNGS, row(32, 30, 1280)]
    assert decided(slow) == Rung(2)
    assert decided([*slow, row(2, 150, 300)]) == Rung(1)


def test_and_taken_away_until_one_is_as_fast_as_the_highest():
    slow = [*RUNGS, row(32, 25, 1280)]
    assert decided([*slow, row(2, 200, 300)]) == Stopped("fastest_target_reached", "slowest_target_reached")
    assert decided([*slow, row(2, 150, 300), row(1, 180, 180)]) == Stopped("one_request", "slowest_target_reached")


def test_nothing_is_added_above_the_recipes_limit_and_the_limit_itself_is_measured():
    limits = Limits(max_concurrency=24)
    assert decided(RUNGS, limits=limits) == Rung(24)
    stopped = decided([*RUNGS, row(24, 50, 1200), row(2, 200, 300)], limits=limits)
    assert stopped == Stopped("fastest_target_reached", "max_concurrency")


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (row(32, 35, 970), "plateau"),
        (row(32, 40, 950, n_preemptions=7), "kv_exhausted"),
        (row(32, 59, 1000, ttft_p50_s=0.9, e2el_p50_s=1.7), "queue_grows"),
        (invalid(32, "counters_disagree"), "invalid_point"),
        (invalid(32, "engine_ended"), "engine_ended"),
        (row(32, 40, 1280, n_failed=6), "too_many_failed"),
    ],
)
def test_what_is_added_above_the_end_stops_for_a_reason(last, code):
    assert decided([*RUNGS, last, row(2, 200, 300)]) == Stopped("fastest_target_reached", code)


@pytest.mark.parametrize(
    "last",
    [
        row(32, 35, 980),  # 2.1 % more than 960
        row(32, 40, 1280, n_preemptions=7),  # preempted, and yet more throughput
        row(32, 50, 1280, ttft_p50_s=0.9, e2el_p50_s=1.7),  # longer waits at a lower speed
        row(32, 40, 1280, n_failed=5),
    ],
)
def test_what_looks_alike_but_still_gains_goes_on(last):
    assert decided([*RUNGS, last]) == Rung(64)


def test_inside_the_ladder_only_failures_and_a_dead_server_cut_it():
    flat = [RUNGS[0], row(8, 80, 400, n_preemptions=3)]
    assert decided(flat) == Rung(16)
    assert decided([RUNGS[0], invalid(8, "unexpected_cache_hits")]) == Rung(16)
    assert decided([RUNGS[0], invalid(8, "engine_ended")]) == Rung(2)
    done = [RUNGS[0], row(8, 80, 640, n_failed=50), row(2, 210, 200)]
    assert decided(done) == Stopped("fastest_target_reached", "too_many_failed")


def test_an_invalid_point_below_the_start_ends_the_way_down():
    slow = [*RUNGS, row(32, 25, 1280)]
    assert decided([*slow, invalid(2, "throttled")]) == Stopped("invalid_point", "slowest_target_reached")


def test_a_failed_retry_does_not_replace_a_pass():
    again = invalid(16, "engine_ended", attempt=2)
    assert decided([*RUNGS, again]) == Rung(32)


def test_every_code_has_its_words():
    for stopped in (FIXED_LADDER, Stopped("one_request", "plateau")):
        assert BELOW[stopped.below]
        assert ABOVE[stopped.above]


def serve(concurrency, alone, shared, failing, dead, broken):
    """A server whose speed falls and whose throughput saturates; from some concurrency on it fails, or dies."""
    speed = alone / (1 + concurrency / shared)
    if concurrency >= dead:
        return invalid(concurrency, "engine_ended")
    if concurrency in broken:
        return invalid(concurrency, "throttled")
    if concurrency >= failing:
        return row(concurrency, speed, speed * concurrency, valid=False, reasons=["too_many_failed"], n_failed=50)
    return row(concurrency, speed, speed * concurrency)


ladders = st.builds(
    lambda start, more, factor: Concurrency(start=start, end=start + more, factor=factor),
    st.integers(1, 64), st.integers(0, 200), st.floats(1.1, 4),
)  # fmt: skip
servers = st.fixed_dictionaries(
    {
        "alone": st.floats(5, 500),
        "shared": st.floats(1, 200),
        "failing": st.integers(1, 2000),
        "dead": st.integers(1, 2000),
        "broken": st.sets(st.integers(1, 300), max_size=20),
    }
)


@settings(deadline=None, max_examples=150)
@given(ladder_=ladders, limit=st.integers(1, 600), server=servers, seed=st.integers(0, 9))
def test_a_ladder_ends_repeats_nothing_holds_the_recipes_rungs_and_does_not_depend_on_order(
    ladder_, limit, server, seed
):
    limits, rows, done = Limits(max_concurrency=limit), [], []
    while isinstance(step := decided(rows, ladder_, limits), Rung):
        assert step.concurrency not in done
        assert 1 <= step.concurrency <= max(ladder_.end, limit)
        done.append(step.concurrency)
        rows.append(serve(step.concurrency, **server))
        random.Random(seed).shuffle(rows)
        assert len(done) < 1000
    assert BELOW[step.below]
    assert ABOVE[step.above]
    planned = ladder(ladder_.start, ladder_.end, ladder_.factor)
    if step.above not in ("engine_ended", "too_many_failed"):
        assert set(planned) <= set(done)
    if step.above == "slowest_target_reached":
        assert min(r["interactivity_tok_s_user"] for r in rows if r["valid"]) <= 30
    if step.below == "fastest_target_reached":
        assert max(r["interactivity_tok_s_user"] for r in rows if r["valid"]) >= 200
