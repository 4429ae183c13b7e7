"""across.sql, newest.sql, combined.sql: the newest curve of every series, and the best series at every target."""

import datetime as dt

import pytest

from pipeline.frontier.across import combined_frontier, newest_curves, read_across
from pipeline.tables.across import ACROSS
from tests.unit.frontier.point_rows import DAY, curve, derived, knot_pairs, reading_of

NOON = dt.datetime(2026, 10, 2, 12, tzinfo=dt.UTC)
LATER = DAY + dt.timedelta(days=1)
SGLANG = {"engine": "sglang", "engine_family": "sglang"}


def across(connection, rows, targets=(50,)):
    curves = derived(connection, rows, targets)
    return read_across(connection, curves.knots, curves.readings)


def best(connection, rows, reading, target=50):
    return reading_of(across(connection, rows, (target,)), reading, target)


def newest_runs(connection, rows):
    return sorted(set(newest_curves(connection, derived(connection, rows).knots)["run_id"].to_pylist()))


def test_the_newest_curve_is_the_one_of_the_latest_day(connection):
    rows = curve((40, 100), run_id="a", run_date=LATER) + curve((40, 200), run_id="b", run_started_at=NOON)
    assert newest_runs(connection, rows) == ["a"]


def test_of_one_day_the_latest_start_is_the_newest_and_an_unknown_start_is_older(connection):
    hour = dt.timedelta(hours=1)
    rows = curve((40, 1), run_id="a", run_started_at=NOON + hour) + curve((40, 2), run_id="b", run_started_at=NOON)
    assert newest_runs(connection, rows + curve((40, 3), run_id="c")) == ["a"]


def test_of_one_start_the_last_run_id_is_the_newest(connection):
    assert newest_runs(connection, curve((40, 1), run_id="a") + curve((40, 2), run_id="b")) == ["b"]


def test_every_series_keeps_its_own_newest_curve_of_whatever_day(connection):
    rows = curve((40, 1), run_id="a") + curve((40, 2), run_id="b", run_date=LATER, **SGLANG)
    assert newest_runs(connection, rows) == ["a", "b"]


def test_an_older_curve_is_not_read_even_where_it_is_better(connection):
    rows = curve((60, 900), run_id="old") + curve((60, 100), run_id="new", run_date=LATER)
    assert best(connection, rows, "at_least")["throughput_tok_s_gpu"] == 100


def test_at_least_takes_the_largest_of_all_series(connection):
    rows = curve((40, 100), (60, 80), run_id="v") + curve((90, 95), run_id="s", **SGLANG)
    row = best(connection, rows, "at_least")
    assert (row["engine"], row["throughput_tok_s_gpu"], row["basis"]) == ("sglang", 95, "faster_config")
    assert (row["delivered_tok_s_user"], row["point_ids"], row["run_date"]) == (90, ["s0"], DAY)


def test_at_least_takes_any_engine_and_precision(connection):
    rows = curve((60, 900), engine="trtllm", engine_family="trtllm", precision=None)
    assert best(connection, rows, "at_least")["engine"] == "trtllm"


def test_of_equal_readings_the_freshest_day_wins_and_then_the_series_key(connection):
    older = curve((60, 100), run_id="v")
    fresher = curve((60, 100), run_id="s", run_date=LATER, **SGLANG)
    assert best(connection, older + fresher, "at_least")["engine"] == "sglang"
    same_day = curve((60, 100), run_id="s", **SGLANG)
    assert best(connection, older + same_day, "at_least")["engine"] == "sglang"
    assert "|sglang|" < "|vllm|"


def test_where_no_series_reaches_the_target_nothing_names_a_series(connection):
    row = best(connection, curve((40, 100)), "at_least", 200)
    assert row["reason"] == "No series reaches 200 tok/s/user: the fastest frontier point runs at 40.0."
    named = ("engine", "engine_family", "precision", "spec_method", "curve_id", "run_date", "delivered_tok_s_user")
    assert {row[name] for name in (*named, "throughput_tok_s_gpu")} == {None}
    assert (row["basis"], row["point_ids"]) == ("unreachable", [])


def bucket(y, precision, spec_method, **columns):
    name = f"{precision}-{spec_method}"
    return curve((40, y + 1), (60, y - 1), run_id=name, precision=precision, spec_method=spec_method, **columns)


def test_at_target_goes_by_a_fixed_order_before_throughput(connection):
    rows = {
        "fp4-mtp": bucket(100, "fp4", "mtp"),
        "fp8-mtp": bucket(200, "fp8", "mtp", kv_offload="dram"),
        "fp4-none": bucket(300, "fp4", "none", kv_offload="ssd"),
        "fp8-none": bucket(400, "fp8", "none", kv_offload="nfs"),
    }
    order = []
    while rows:
        winner = best(connection, sum(rows.values(), []), "at_target")["curve_id"].rsplit("|", 1)[-1]
        order.append(winner)
        del rows[winner]
    assert order == ["fp4-mtp", "fp8-mtp", "fp4-none", "fp8-none"]


def test_at_target_takes_the_largest_inside_the_first_bucket_that_has_a_value(connection):
    rows = bucket(100, "fp4", "none") + curve((40, 201), (60, 199), run_id="s", **SGLANG)
    outside = curve((90, 500), run_id="fast", spec_method="mtp", kv_offload="dram")
    assert best(connection, rows + outside, "at_target")["engine"] == "sglang"


@pytest.mark.parametrize(
    "columns", [{"engine": "trtllm", "engine_family": "trtllm"}, {"precision": "bf16"}, {"precision": None}]
)
def test_at_target_sees_only_vllm_and_sglang_at_fp4_and_fp8(connection, columns):
    row = best(connection, curve((40, 100), (60, 80), **columns), "at_target")
    assert (row["throughput_tok_s_gpu"], row["engine"]) == (None, None)
    assert row["reason"] == "No series of a vLLM or SGLang engine at fp4 or fp8 was run."


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (30, "has a frontier point at or below 30 tok/s/user: the slowest one runs at 40.0."),
        (50, "has frontier points on both sides of 50 tok/s/user."),
        (90, "reaches 90 tok/s/user: the fastest frontier point runs at 60.0."),
    ],
)
def test_at_target_says_why_there_is_no_value(connection, target, reason):
    rows = curve((40, 100), run_id="v") + curve((60, 80), run_id="s", **SGLANG)
    row = best(connection, rows, "at_target", target)
    assert row["reason"] == f"No vLLM or SGLang series at fp4 or fp8 {reason}"


@pytest.mark.parametrize("column", [{"provenance": "simulated"}, {"workload": "coding"}, {"model": "n"}])
def test_provenances_workloads_and_models_are_read_apart(connection, column):
    rows = curve((60, 100), run_id="a") + curve((60, 900), run_id="b", **column)
    found = across(connection, rows).filter([r == "at_least" for r in across(connection, rows)["reading"].to_pylist()])
    assert sorted(found["throughput_tok_s_gpu"].to_pylist()) == [100, 900]


def test_the_combined_frontier_keeps_the_knots_that_no_series_dominates(connection):
    rows = curve((40, 100), (60, 50), run_id="v") + curve((45, 90), (55, 40), run_id="s", **SGLANG)
    combined = combined_frontier(connection, derived(connection, rows).knots)
    assert sorted(knot_pairs(combined)) == [(40, 100), (45, 90), (60, 50)]
    assert combined["slope"].null_count == 0


def test_of_equal_knots_the_combined_frontier_keeps_the_freshest(connection):
    rows = curve((40, 100), run_id="v") + curve((40, 100), run_id="s", run_date=LATER, **SGLANG)
    combined = combined_frontier(connection, derived(connection, rows).knots)
    assert combined["engine"].to_pylist() == ["sglang"]


def test_the_combined_frontier_never_mixes_measured_with_simulated(connection):
    rows = curve((40, 100), run_id="a") + curve((90, 900), run_id="b", provenance="simulated")
    assert combined_frontier(connection, derived(connection, rows).knots).num_rows == 2


def test_no_curve_gives_no_row(connection):
    empty = across(connection, [])
    assert empty.num_rows == 0
    assert ACROSS.violations(empty) == []
