"""The promises behind the asset checks: each is kept by good rows and names what breaks it."""

import datetime as dt

import pytest

from pipeline.cost.checks import costs_are_current, costs_name_prices, costs_recompute
from pipeline.cost.price_book import price_table, prices_as_of
from pipeline.cost.price_readings import price_readings
from pipeline.frontier.checks import frontier_falls, knots_are_rows
from pipeline.measure.checks import identity_unique, outcomes_add_up, schema_kept, units_plausible
from pipeline.pages.checks import dead_links, page_links
from pipeline.registry.entries import Price
from pipeline.tables.points import POINTS
from tests.unit.frontier.point_rows import curve, derived, point, points_table

GOOD = curve((40, 10), (60, 5))


def with_value(table, name, values):
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(name), [values])


def test_schema_kept():
    assert schema_kept(POINTS, points_table(GOOD)) == []
    assert schema_kept(POINTS, points_table(GOOD).drop_columns(["gpu"])) == ["points.gpu is missing"]


def test_identity_unique():
    twins = [point(40, 10, point_id="a"), point(41, 9, point_id="b")]
    assert identity_unique(points_table(GOOD)) == []
    assert identity_unique(points_table(twins)) == ["a and b have one identity and attempt"]
    assert identity_unique(points_table([twins[0], twins[1] | {"attempt": 2}])) == []
    same = [point(40, 10, point_id="a", concurrency=1), point(41, 9, point_id="a", concurrency=2)]
    assert identity_unique(points_table(same)) == ["1 point ids occur twice"]


def test_outcomes_add_up():
    counts = {"n_requested": 10, "n_successful": 7, "n_failed": 2, "n_cancelled": 0}
    rows = points_table([point(40, 10, point_id="a", **counts)])
    assert outcomes_add_up(rows) == ["a: requested 10, but ok + failed + cancelled = 9"]
    assert outcomes_add_up(points_table([point(40, 10, valid=False, **counts)])) == []
    assert outcomes_add_up(points_table([point(40, 10, **counts | {"n_cancelled": 1})])) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [("ttft_p50_s", 0.00005), ("ttft_p99_s", 3601.0), ("tpot_p90_s", 0.000005), ("tpot_mean_s", 11.0),
     ("throughput_tok_s_gpu", 2_000_001.0)],
)  # fmt: skip
def test_units_plausible(column, value):
    found = units_plausible(points_table([point(40, 10, point_id="a") | {column: value}]))
    assert len(found) == 1
    assert found[0].startswith(f"a: {column} = ")


def test_frontier_falls_and_knots_are_rows(connection):
    knots = derived(connection, GOOD).knots
    assert frontier_falls(knots) == []
    assert knots_are_rows(knots, points_table(GOOD)) == []
    risen = with_value(knots, "throughput_tok_s_gpu", [10.0, 10.0])
    assert "does not fall" in frontier_falls(risen)[0]
    assert knots_are_rows(risen, points_table(GOOD)) == ["p1: the knot (60, 10) is not a valid raw row"]


def test_costs_name_prices_and_recompute(connection):
    price = Price(
        gpu="b300", tier="retail", usd_per_gpu_hour=3.6, valid_from=dt.date(2026, 1, 1), valid_to=None, source="x"
    )
    book = price_table([price])
    costs = price_readings(connection, derived(connection, GOOD).readings, book)
    assert costs.num_rows > 0
    assert costs_name_prices(costs, book) == []
    assert costs_recompute(costs) == []
    other = price_table([price.model_copy(update={"usd_per_gpu_hour": 4.0})])
    assert costs_name_prices(costs, other) == ["b300/retail/2026-01-01 at 3.6 USD/GPU/h is not in the price book"]
    day = dt.date(2026, 10, 2)
    readings = derived(connection, GOOD).readings
    assert costs_are_current(costs, readings, book, day)
    assert not costs_are_current(costs, readings, other, day)
    assert not costs_are_current(costs, readings, book.slice(0, 0), day)
    broken = with_value(costs, "usd_mtok_total", [1.0] * costs.num_rows)
    assert len(costs_recompute(broken)) == costs.num_rows


def test_prices_hold_from_their_first_day_until_the_day_before_their_end():
    first = Price(gpu="b300", tier="retail", usd_per_gpu_hour=1, valid_from=dt.date(2026, 1, 1),
                  valid_to=dt.date(2026, 2, 1), source="x")  # fmt: skip
    book = price_table([first, first.model_copy(update={"valid_from": dt.date(2026, 2, 1), "valid_to": None})])

    def holding(month, day):
        return prices_as_of(book, dt.date(2026, month, day))["price_id"].to_pylist()

    assert holding(1, 31) == ["b300/retail/2026-01-01"]
    assert holding(2, 1) == ["b300/retail/2026-02-01"]
    assert prices_as_of(book, dt.date(2025, 12, 31)).num_rows == 0


def test_dead_links_are_found_and_live_ones_are_not():
    files = {"index.html", "run/a/index.html", "run/a/data.json"}
    page = '<a href="../../index.html"><a href="data.json"><a href="#x"><i id="x"><a href="https://example.org/">'
    assert dead_links([page_links("run/a/index.html", page)], files) == []
    assert dead_links([page_links("run/a/index.html", '<a href="../../">')], files) == []
    broken = '<a href="gone.json"><a href="#y"><img src="../../../index.html">'
    assert dead_links([page_links("run/a/index.html", broken)], files) == [
        "run/a/index.html: #y leads nowhere",
        "run/a/index.html: gone.json leads nowhere",
        "run/a/index.html: ../../../index.html leads nowhere",
    ]
