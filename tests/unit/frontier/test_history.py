import datetime as dt

import pyarrow as pa
import pytest

from pipeline.frontier.across import curve_history
from pipeline.frontier.derive import derive_curves
from pipeline.tables.points import POINTS
from tests.unit.pages.pairs import point

LATER = dt.date(2026, 10, 2)


def history(connection, rows) -> list[dict[str, object]]:
    points: pa.Table = POINTS.from_rows(rows)
    connection.register("points", points)
    curves = derive_curves(connection, ["agentx"])
    return curve_history(connection, curves.knots, curves.readings, points).to_pylist()


def at_50(rows):
    return [row for row in rows if row["target_tok_s_user"] == 50.0]


def test_every_run_is_there_and_the_newest_is_marked(connection):
    rows = [point(50.0, 900.0), point(50.0, 990.0, run_id="run2", run_date=LATER)]
    found = at_50(history(connection, rows))
    assert sorted((r["run_date"], r["throughput_tok_s_gpu"], r["in_use"]) for r in found) == [
        (dt.date(2026, 9, 24), 900.0, False),
        (LATER, 990.0, True),
    ]


def test_the_spread_of_a_reading_is_the_largest_relative_one_of_its_points(connection):
    rows = [
        point(40.0, 10800.0, n_repeats=3, throughput_std_tok_s_gpu=108.0, engine_build="b1"),
        point(60.0, 7200.0, n_repeats=5, throughput_std_tok_s_gpu=144.0, engine_build="b1"),
    ]
    (found,) = at_50(history(connection, rows))
    assert found["throughput_std_tok_s_gpu"] == pytest.approx(9000.0 * 0.02)
    assert (found["n_repeats"], found["engine_builds"], found["topologies"]) == (3, ["b1"], ["tp8"])


def test_a_point_without_repeats_leaves_the_spread_unknown(connection):
    rows = [point(40.0, 10800.0, n_repeats=3, throughput_std_tok_s_gpu=108.0), point(60.0, 7200.0)]
    (found,) = at_50(history(connection, rows))
    assert (found["throughput_std_tok_s_gpu"], found["n_repeats"], found["engine_builds"]) == (None, None, [])


def test_a_target_that_the_run_does_not_reach_has_its_reason_and_no_evidence(connection):
    found = [r for r in history(connection, [point(60.0, 7200.0)]) if r["target_tok_s_user"] == 200.0]
    assert [(r["throughput_tok_s_gpu"], r["point_ids"], r["topologies"]) for r in found] == [(None, [], [])]
    assert found[0]["reason"].startswith("above_measured_range")


def test_older_runs_are_read_at_the_primary_target_only_and_the_oldest_not_at_all(connection):
    days = [dt.date(2026, 1, 1) + dt.timedelta(days=n) for n in range(63)]
    found = history(connection, [point(60.0, 900.0, run_id=f"run{day}", run_date=day) for day in days])
    by_day = {day: [r["target_tok_s_user"] for r in found if r["run_date"] == day] for day in days}
    assert [len(by_day[day]) for day in days] == [0] * 3 + [1] * 58 + [6] * 2
    assert by_day[days[3]] == [50.0]
