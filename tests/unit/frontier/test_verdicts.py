"""Curves against earlier ones, with three repeats and a spread of 1 % unless said otherwise."""

import datetime as dt

import pytest

from pipeline.frontier.verdicts import (
    N_RUN_DATES_BACK,
    CurveRun,
    compared,
    judged_on,
    looking_back,
    window,
)
from pipeline.measure.noise import Repeated

FIRST = dt.date(2026, 11, 1)
DAYS = [FIRST + dt.timedelta(days=n) for n in range(40)]


def run(day: int, at: dict[float, float] | float, *, n: int | None = 3, **facts: object) -> CurveRun:
    """A run of that day with readings in tok/s/GPU by target, or one reading at 50."""
    readings = at if isinstance(at, dict) else {50.0: at}
    known: dict[str, object] = {
        "curve_id": f"curve {day} {facts.get('run_id', '')}",
        "series_key": "series",
        "recipe": "recipe",
        "run_id": f"run{day}",
        "run_date": DAYS[day],
        "run_started_at": None,
        "fastest": Repeated(100.0, 1.0, n),
        "readings": {t: Repeated(y, y * 0.01, n) for t, y in readings.items()},
    }
    return CurveRun(**{**known, **facts})


def states(*runs: CurveRun) -> list[tuple[str, str | None]]:
    """Verdict and state of every run, each judged on its day with all runs up to it."""
    found = []
    for day in sorted({run.run_date for run in runs}):
        past = [run for run in runs if run.run_date <= day]
        found += [
            (judged.verdict, judged.state)
            for judged in sorted(judged_on(past, day), key=lambda judged: judged.run.place)
        ]
    return found


# 1 % of 9,000 on three repeats: error 73.5, t of 4 degrees 2.776: 204
@pytest.mark.parametrize(
    ("new", "verdict"), [(9000.0, "within"), (8850.0, "within"), (8500.0, "worse"), (9500.0, "better")]
)
def test_a_curve_is_judged_by_the_spread_of_both_sides(new, verdict):
    assert compared(run(0, 9000.0), run(1, new))[0] == verdict


def test_without_repeats_on_a_side_nothing_is_known():
    assert compared(run(0, 9000.0, n=None), run(1, 4000.0))[0] == "unknown"
    assert states(run(0, 9000.0), run(1, 4000.0, n=1)) == [("unknown", None), ("unknown", None)]


def test_one_of_six_targets_has_to_differ_by_more_than_one_alone():
    targets = [30.0, 50.0, 75.0, 100.0, 150.0, 200.0]
    old = {t: 9000.0 - t for t in targets}
    # 2.9 % down at 3 degrees of freedom (3.99 rounded down): p = 0.037, below 5 % and above 5 % / 6
    assert compared(run(0, {30.0: old[30.0]}), run(1, {30.0: old[30.0] * 0.971}))[0] == "worse"
    verdict, at = compared(run(0, old), run(1, {**old, 30.0: old[30.0] * 0.971}))
    assert (verdict, at[30.0].verdict) == ("within", "within")
    assert at[30.0].p_value == pytest.approx(0.037, abs=0.001)


def test_targets_that_one_point_serves_count_once():
    old, new = dict.fromkeys((30.0, 50.0, 75.0), 9000.0), dict.fromkeys((30.0, 50.0, 75.0), 9000.0 * 0.971)
    verdict, at = compared(run(0, old), run(1, new))
    assert (verdict, {a.verdict for a in at.values()}) == ("worse", {"worse"})


def test_a_curve_that_is_worse_at_one_target_and_better_at_another_is_worse():
    assert compared(run(0, {30.0: 9000.0, 50.0: 8000.0}), run(1, {30.0: 7000.0, 50.0: 9500.0}))[0] == "worse"


def test_a_target_that_is_no_longer_reached_is_judged_by_the_fastest_points():
    old = run(0, {50.0: 9000.0, 100.0: 4000.0}, fastest=Repeated(101.0, 1.0, 3))
    lost = run(1, {50.0: 9000.0}, fastest=Repeated(99.5, 1.0, 3))
    verdict, at = compared(old, lost)
    assert (verdict, at[100.0].verdict, at[100.0].ratio) == ("within", "within", None)
    slower = run(1, {50.0: 9000.0}, fastest=Repeated(60.0, 1.0, 3))
    assert compared(old, slower)[0] == "worse"


def test_a_worse_run_is_suspected_and_the_next_one_confirms_it():
    assert states(run(0, 9000.0), run(1, 8000.0), run(2, 8050.0), run(3, 8000.0)) == [
        ("unknown", None),
        ("worse", "suspected"),
        ("worse", "confirmed"),
        ("within", None),
    ]


def test_a_suspicion_that_the_next_run_does_not_share_is_not_confirmed():
    assert states(run(0, 9000.0), run(1, 8000.0), run(2, 9010.0), run(3, 9000.0)) == [
        ("unknown", None),
        ("worse", "suspected"),
        ("within", "not_confirmed"),
        ("within", None),
    ]


def test_what_was_confirmed_recovers_when_a_run_is_not_worse_than_before_it():
    assert states(run(0, 9000.0), run(1, 8000.0), run(2, 8000.0), run(3, 9000.0), run(4, 9000.0))[-2:] == [
        ("better", "recovered"),
        ("within", None),
    ]


def test_half_a_recovery_is_none():
    assert states(run(0, 9000.0), run(1, 8000.0), run(2, 8000.0), run(3, 8500.0))[-1] == ("better", None)


def test_a_second_loss_after_a_confirmed_one_is_suspected_anew():
    assert states(run(0, 9000.0), run(1, 8000.0), run(2, 8000.0), run(3, 7000.0))[-1] == ("worse", "suspected")


def test_two_runs_of_one_day_are_taken_in_the_order_of_their_start_and_numbered():
    start = dt.datetime(2026, 11, 2, 3, tzinfo=dt.UTC)
    first = run(1, 8000.0, run_id="zz", run_started_at=start)
    again = run(1, 8000.0, run_id="aa", run_started_at=start + dt.timedelta(hours=1))
    found = judged_on([run(0, 9000.0), again, first], DAYS[1])
    assert {j.run.run_id: (j.state, j.repetition) for j in found} == {"zz": ("suspected", 1), "aa": ("confirmed", 2)}


def test_a_run_that_is_not_finished_says_nothing_and_nothing_is_held_against_it():
    broken = run(1, 5000.0, finished=False)
    assert states(run(0, 9000.0), broken, run(2, 8990.0)) == [("unknown", None), ("unknown", None), ("within", None)]


def test_a_run_without_repeats_never_becomes_the_measure():
    assert states(run(0, 9000.0), run(1, 4000.0, n=None), run(2, 8000.0))[-1] == ("worse", "suspected")


def test_two_recipes_of_one_series_are_two_chains():
    assert states(run(0, 9000.0), run(1, 4000.0, recipe="other"))[-1] == ("unknown", None)


def test_the_past_of_a_day_ends_some_run_dates_before_it():
    assert window(DAYS, DAYS[30]) == DAYS[30 - N_RUN_DATES_BACK : 31]
    assert window(DAYS, DAYS[2]) == DAYS[:3]
    assert looking_back(DAYS, [DAYS[0], DAYS[39]]) == [*DAYS[: N_RUN_DATES_BACK + 1], DAYS[39]]
