"""Which raw rows a page stands on: the run of each series' newest valid curve, else its newest run."""

import datetime as dt

from pipeline.frontier.across import page_points
from tests.unit.frontier.point_rows import AGENTIC, curve, derived, point, points_table

OLD, NEW = dt.date(2026, 10, 1), dt.date(2026, 10, 5)


def shown(connection, rows):
    knots = derived(connection, rows).knots
    return sorted(page_points(connection, points_table(rows), knots, AGENTIC)["point_id"].to_pylist())


def test_a_page_shows_the_newest_valid_run_of_a_series_with_its_invalid_points(connection):
    rows = [
        *curve((40, 10), (60, 5), run_id="old", run_date=OLD),
        *curve((40, 9), run_id="new", run_date=NEW),
        point(None, None, point_id="bad", run_id="new", run_date=NEW, valid=False, reasons=["no_success"]),
    ]
    assert shown(connection, rows) == ["bad", "new0"]


def test_a_newer_run_without_a_valid_point_does_not_hide_the_valid_one(connection):
    rows = [
        *curve((40, 10), run_id="old", run_date=OLD),
        point(None, None, point_id="bad", run_id="new", run_date=NEW, valid=False, reasons=["no_success"]),
    ]
    assert shown(connection, rows) == ["old0"]


def test_a_series_without_any_valid_point_shows_its_newest_run(connection):
    bad = {"valid": False, "reasons": ["no_success"], "engine": "sglang"}
    rows = [
        point(None, None, point_id="bad_old", run_id="old", run_date=OLD, **bad),
        point(None, None, point_id="bad_new", run_id="new", run_date=NEW, **bad),
    ]
    assert shown(connection, rows) == ["bad_new"]


def test_both_queries_spell_a_series_alike_so_every_knot_is_among_the_rows_of_its_page(connection):
    odd = {"disaggregated": True, "multinode": False, "kv_offload": "dram"}
    rows = [
        *curve((40, 10), run_id="a", spec_method=None, precision=None),
        *curve((41, 10), run_id="b", spec_method="mtp", **odd),
        *curve((42, 10), run_id="c", workload="fixed_1k1k", spec_method="mtp"),
        *curve((43, 10), run_id="d", workload="fixed_1k1k", spec_method="none"),
        *curve((44, 10), run_id="e", workload="fixed_1k1k", spec_method=None),
    ]
    assert shown(connection, rows) == ["a0", "b0", "c0", "d0", "e0"]
