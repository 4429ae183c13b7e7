"""Tables to verdicts: what a row says, and that a day's rows depend on its window alone."""

import datetime as dt

from pipeline.frontier.derive import derive_curves
from pipeline.frontier.verdict_rows import Curves, curve_verdicts, standing, verdict_table
from pipeline.frontier.verdict_words import regression_words
from pipeline.tables.points import POINTS
from pipeline.tables.runs import RUNS
from pipeline.tables.verdicts import VERDICTS
from tests.unit.pages.pairs import point

DAYS = [dt.date(2026, 9, 24) + dt.timedelta(days=n) for n in range(4)]
SPREAD = {"n_repeats": 3, "throughput_std_tok_s_gpu": 30.0, "interactivity_std_tok_s_user": 0.1}


def row(day: int, y: float, **columns: object) -> dict[str, object]:
    return point(50.0, y, run_id=f"run{day}", run_date=DAYS[day], engine_build=f"build {day}", **SPREAD, **columns)


def swept(day: int, recipe: str, stopped_above: str = "ladder_end") -> dict[str, object]:
    """The RUNS row of a day's run."""
    about = row(day, 1.0)
    names = ("run_id", "topology", "model", "gpu", "workload", "engine", "precision", "provenance", "run_date")
    named = {name: about[name] for name in names}
    ends = {"stopped_below": "one_request", "stopped_above": stopped_above}
    return {**named, **ends, "recipe": recipe, "engine_build": "vllm_cuda 0.9 aa", "n_points": 1}


def judged(connection, rows, runs=(), wanted=DAYS):
    connection.register("points", POINTS.from_rows(rows))
    curves = derive_curves(connection, ["agentx"])
    connection.unregister("points")
    held = Curves(curves.knots, curves.readings, POINTS.from_rows(rows), RUNS.from_rows(list(runs)))
    return verdict_table(connection, held, DAYS, wanted)


def test_a_row_holds_both_readings_their_spreads_and_their_builds(connection):
    table = judged(connection, [row(0, 9000.0), row(1, 8100.0)], [swept(0, "r"), swept(1, "r")], DAYS[1:])
    assert VERDICTS.violations(table) == []
    found = {r["target_tok_s_user"]: r for r in table.to_pylist()}
    # one point at 50 tok/s/user serves 30 and 50; above that there is nothing on either side
    assert list(found) == [30.0, 50.0]
    at = found[50.0]
    assert (at["against_throughput_tok_s_gpu"], at["throughput_tok_s_gpu"], at["ratio"]) == (9000.0, 8100.0, 0.9)
    assert (round(at["against_throughput_std_tok_s_gpu"], 9), at["n_repeats"]) == (30.0, 3)
    assert (at["engine_builds"], at["against_engine_builds"]) == (["build 1"], ["build 0"])
    assert (at["recipe"], at["sweep_build"], at["repetition"]) == ("r", "vllm_cuda 0.9 aa", 1)
    assert (at["verdict"], at["state"], at["target_verdict"]) == ("worse", "suspected", "worse")


def test_the_words_of_a_verdict_name_series_days_and_readings(connection):
    (verdict,) = curve_verdicts(judged(connection, [row(0, 9000.0), row(1, 8100.0)], wanted=DAYS[1:]))
    assert regression_words(verdict) == (
        "Suspected regression: one more run will tell. deepseek_v4_1_flash on h100, agentx, vllm fp4, 2026-09-25 "
        "against 2026-09-24: at 30 tok/s/user 9,000 → 8,100 tok/s/GPU (-10.0%); "
        "at 50 tok/s/user 9,000 → 8,100 tok/s/GPU (-10.0%)."
    )


def test_another_recipe_of_the_series_is_held_against_nothing(connection):
    table = judged(connection, [row(0, 9000.0), row(1, 8100.0)], [swept(0, "a"), swept(1, "b")])
    assert [v.state for v in curve_verdicts(table)] == [None, None]


def test_a_run_that_was_broken_off_is_unknown(connection):
    runs = [swept(0, "r"), swept(1, "r", "unfinished")]
    found = curve_verdicts(judged(connection, [row(0, 9000.0), row(1, 5000.0)], runs))
    assert [(v.first["verdict"], v.state) for v in found] == [("unknown", None), ("unknown", None)]


def test_days_judged_together_or_one_by_one_give_the_same_rows(connection):
    rows = [row(day, y) for day, y in enumerate((9000.0, 8100.0, 8090.0, 9000.0))]
    together = judged(connection, rows)
    apart = [r for day in DAYS for r in judged(connection, rows, wanted=[day]).to_pylist()]
    assert sorted(together.to_pylist(), key=str) == sorted(apart, key=str)
    assert [v.state for v in curve_verdicts(together)] == [None, "suspected", "confirmed", "recovered"]


def test_the_standing_verdict_of_a_series_is_its_last_that_says_something(connection):
    rows = [row(0, 9000.0), row(1, 8100.0), {**row(2, 8100.0), "n_repeats": None}]
    (last,) = standing(judged(connection, rows))
    assert (last.state, last.first["run_date"]) == ("suspected", DAYS[1])
