"""pareto.sql: which points stand, which are on the frontier, and what names a curve."""

import datetime as dt
import math

import pyarrow.parquet as pq
import pytest

from pipeline.frontier.derive import derive_curves
from pipeline.tables.knots import KNOTS
from tests.unit.frontier.point_rows import AGENTIC, DAY, curve, derived, knot_pairs, point, points_table

NOON = dt.datetime(2026, 10, 2, 12, tzinfo=dt.UTC)


def kept(connection, *rows):
    return derived(connection, list(rows)).knots["point_id"].to_pylist()


def test_no_points_give_empty_tables(connection):
    curves = derived(connection, [])
    assert (curves.knots.num_rows, curves.readings.num_rows) == (0, 0)
    assert KNOTS.violations(curves.knots) == []


def test_a_dominated_point_falls_out(connection):
    knots = derived(connection, curve((40, 100), (50, 90), (45, 80), (60, 70))).knots
    assert knot_pairs(knots) == [(40, 100), (50, 90), (60, 70)]
    assert knots["knot_index"].to_pylist() == [0, 1, 2]
    assert set(knots["n_points"].to_pylist()) == {4}


def test_of_equal_speed_the_largest_throughput_stays(connection):
    assert knot_pairs(derived(connection, curve((40, 100), (40, 120), (50, 90))).knots) == [(40, 120), (50, 90)]


def test_of_equal_throughput_the_fastest_stays(connection):
    assert knot_pairs(derived(connection, curve((40, 100), (50, 100))).knots) == [(50, 100)]


def test_of_equal_points_the_smallest_point_id_stays(connection):
    assert kept(connection, point(40, 100, point_id="b", concurrency=1), point(40, 100, point_id="a")) == ["a"]


@pytest.mark.parametrize("bad", [None, 0.0, -1.0, math.nan, math.inf])
def test_a_coordinate_that_is_no_positive_number_keeps_a_point_off_the_frontier(connection, bad):
    good = point(40, 100, point_id="good", concurrency=1)
    assert kept(connection, good, point(bad, 200, point_id="x"), point(50, bad, point_id="y")) == ["good"]


def test_an_invalid_point_never_reaches_a_frontier(connection):
    invalid = point(60, 900, point_id="bad", valid=False, reasons=["too_many_failed"])
    assert kept(connection, invalid, point(40, 100, point_id="good", concurrency=1)) == ["good"]


def test_a_passed_retry_replaces_the_pass_before_it(connection):
    assert kept(connection, point(50, 90, point_id="first"), point(40, 80, point_id="second", attempt=2)) == ["second"]


def test_a_failed_retry_never_replaces_a_pass(connection):
    retry = point(50, 95, point_id="retry", attempt=2, valid=False, reasons=["no_success"])
    assert kept(connection, point(50, 90, point_id="first"), retry) == ["first"]


def test_a_retry_without_a_throughput_never_replaces_a_pass(connection):
    retry = point(50, None, point_id="retry", attempt=2)
    assert kept(connection, point(50, 90, point_id="first"), retry) == ["first"]


def test_a_standing_row_is_taken_whole_with_its_nulls(connection):
    first = point(50, 90, point_id="first", output_throughput_tok_s_gpu=1.0, cache_hit_share=0.5)
    (knot,) = derived(connection, [first, point(50, 90, point_id="second", attempt=2)]).knots.to_pylist()
    assert (knot["point_id"], knot["output_throughput_tok_s_gpu"], knot["cache_hit_share"]) == ("second", None, None)


def test_null_equals_null_in_the_identity(connection):
    rows = [point(50, 90, point_id=f"p{n}", attempt=n, concurrency=None, engine_build=None) for n in (1, 2)]
    assert kept(connection, *rows) == ["p2"]


@pytest.mark.parametrize(
    "column",
    [
        {"concurrency": 16},
        {"concurrency": None},
        {"topology": "tp4"},
        {"engine_build": "v1"},
        {"spec_method": "mtp"},
        {"input_len_tok": 1024},
        {"output_len_tok": 1024},
        {"request_rate_req_s": 2.0},
    ],
)
def test_a_difference_in_the_identity_makes_two_points(connection, column):
    rows = [point(50, 90, point_id="one"), point(40, 100, point_id="two", attempt=2, **column)]
    assert kept(connection, *rows) == ["two", "one"]


def test_an_attempt_of_another_run_replaces_nothing(connection):
    rows = [point(50, 90, point_id="one"), point(50, 80, point_id="two", attempt=2, run_id="run2")]
    assert kept(connection, *rows) == ["one", "two"]


def test_two_runs_are_never_stitched(connection):
    rows = curve((40, 100), (60, 50), run_id="a") + curve((50, 90), (70, 20), run_id="b")
    knots = derived(connection, rows).knots
    by_run = {run: knot_pairs(knots.filter([r == run for r in knots["run_id"].to_pylist()])) for run in ("a", "b")}
    assert by_run == {"a": [(40, 100), (60, 50)], "b": [(50, 90), (70, 20)]}


def test_one_run_id_on_two_days_is_two_curves(connection):
    rows = [point(40, 100, point_id="a"), point(50, 90, point_id="b", run_date=dt.date(2026, 10, 3))]
    assert derived(connection, rows).knots["n_points"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    "column",
    [
        {"model": "n"},
        {"gpu": "h100"},
        {"workload": "other_agentic"},
        {"engine": "dynamo_vllm"},
        {"precision": "fp8"},
        {"precision": None},
        {"disaggregated": True},
        {"multinode": False},
        {"kv_offload": "dram"},
        {"provenance": "simulated"},
    ],
)
def test_a_series_column_separates_curves(connection, column):
    rows = [point(40, 100, point_id="a"), point(50, 120, point_id="b", **column)]
    assert len(set(derived(connection, rows).knots["curve_id"].to_pylist())) == 2


def test_simulated_points_never_dominate_measured_ones(connection):
    measured = point(40, 100, point_id="real")
    simulated = point(90, 900, point_id="dream", provenance="simulated")
    knots = derived(connection, [measured, simulated]).knots.to_pylist()
    assert {k["point_id"]: k["provenance"] for k in knots} == {"real": "measured", "dream": "simulated"}


def test_the_speculative_method_separates_curves_of_a_fixed_length_workload(connection):
    rows = [point(40, 100, workload="random_1024_1024", spec_method=m) for m in ("none", "mtp")]
    knots = derived(connection, rows).knots
    assert sorted(knots["spec_method"].to_pylist()) == ["mtp", "none"]
    assert sorted(knots["series_key"].to_pylist()) == [
        "m|b300|random_1024_1024|vllm|fp4||||mtp|measured",
        "m|b300|random_1024_1024|vllm|fp4||||none|measured",
    ]


def test_the_speculative_method_is_a_property_of_an_agentic_point(connection):
    rows = [point(40, 100, spec_method="none", point_id="a"), point(50, 90, spec_method="mtp", point_id="b")]
    knots = derived(connection, rows).knots
    assert set(knots["series_key"].to_pylist()) == {"m|b300|agentx|vllm|fp4|||||measured"}
    assert knots["spec_method"].to_pylist() == [None, None]
    assert knots["speculative"].to_pylist() == [True, True]


def test_an_agentic_curve_names_the_speculative_method_that_all_its_knots_share(connection):
    shared = [point(40 + n, 100 - n, spec_method="mtp", concurrency=n) for n in range(2)]
    dominated = point(30, 10, spec_method="none", concurrency=9)
    assert set(derived(connection, [*shared, dominated]).knots["spec_method"].to_pylist()) == {"mtp"}
    unsaid = point(60, 50, concurrency=7)
    assert set(derived(connection, [*shared, unsaid]).knots["spec_method"].to_pylist()) == {None}


def test_a_curve_is_speculative_when_some_knot_is(connection):
    assert derived(connection, [point(40, 100, spec_method="none")]).knots["speculative"].to_pylist() == [False]
    assert derived(connection, [point(40, 100)]).knots["speculative"].to_pylist() == [False]


def test_the_keys_spell_flags_as_words_and_null_as_nothing(connection):
    (knot,) = derived(connection, [point(40, 100, disaggregated=True, multinode=False)]).knots.to_pylist()
    assert knot["series_key"] == "m|b300|agentx|vllm|fp4|true|false|||measured"
    assert knot["curve_id"] == f"m|b300|agentx|vllm|fp4|true|false|||measured|{DAY}|run1"


def test_a_curve_starts_with_its_earliest_point(connection):
    later = NOON + dt.timedelta(hours=1)
    rows = [
        point(40, 100, point_id="a", run_started_at=later, concurrency=1),
        point(50, 90, point_id="b", run_started_at=NOON, concurrency=2),
        point(60, 80, point_id="c", concurrency=3),
    ]
    assert set(derived(connection, rows).knots["run_started_at"].to_pylist()) == {NOON}


def test_slopes_are_steffen_s(connection):
    slopes = derived(connection, curve((40, 10000), (55, 8000), (80, 3000))).knots["slope"].to_pylist()
    # s = -133.33, -200; p = (-133.33 * 25 - 200 * 15) / 40 = -158.33; middle = -2 * 79.17
    assert slopes == pytest.approx([-120.8333, -158.3333, -220.8333], abs=1e-4)


def test_two_knots_have_the_chord_and_one_has_no_slope(connection):
    assert derived(connection, curve((40, 10800), (60, 7200))).knots["slope"].to_pylist() == [-180, -180]
    assert derived(connection, curve((40, 10800))).knots["slope"].to_pylist() == [None]


def test_the_relation_may_be_a_view_over_parquet(connection, tmp_path):
    rows = curve((40, 100), (50, 90), (45, 80))
    pq.write_table(points_table(rows), tmp_path / "cell.parquet")
    connection.execute(f"CREATE VIEW points AS SELECT * FROM '{tmp_path / 'cell.parquet'}'")
    curves = derive_curves(connection, AGENTIC)
    connection.execute("DROP VIEW points")
    assert curves == derived(connection, rows)
