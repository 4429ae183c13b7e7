"""Prices over time on the wired graph: any day, one interval, corrections, the computed tier, a backfill by hand."""

import datetime as dt
import json

import dagster as dg
import pytest

from pipeline.cost.price_book import costs_of_book, prices_as_of
from pipeline.cost.price_readings import costs_as_of
from pipeline.tables.costs import COSTS
from resources.change_log import ChangeLog
from resources.dagster_runs import QUIET
from resources.result_store import read_parquet
from resources.warehouse import Warehouse
from tests.tco_inputs import tco_block

CURVE = ((60.0, 9000.0), (90.0, 7000.0))
DAYS = tuple(map(dt.date.fromisoformat, ("2026-09-01", "2026-09-05", "2026-09-08")))
CELLS = tuple(f"b300|{day}" for day in DAYS)
HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\n"
BOOK = (
    "b300,retail,3.00,2026-08-01,2026-09-03,a\n"
    "b300,retail,4.00,2026-09-03,2026-09-07,b\n"
    "b300,retail,5.00,2026-09-07,,c\n"
)
PRICE = {"gpu": "b300", "tier": "retail", "source": "quote"}
TODAY = dt.date(2026, 10, 20)


@pytest.fixture
def history(graph):
    """Three cells of one configuration, one under each of three prices."""
    (graph.home / "prices.csv").write_text(HEADER + BOOK)
    for day in DAYS:
        graph.seed(*CURVE, name=f"{day}.json", run_id=f"r{day}", run_date=day)
    materialized(graph, "raw_results", "frontier", "cost_tables")
    return graph


def materialized(graph, *assets):
    """All cells in one run, as a backfill from the UI launches it."""
    tags = {"dagster/asset_partition_range_start": CELLS[0], "dagster/asset_partition_range_end": CELLS[-1]}
    graph.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=graph.instance,
        asset_selection=[dg.AssetKey(name) for name in assets],
        tags=tags,
        run_config=dict(QUIET),
    )


def costs_of(graph):
    """The bytes of each cell's file, and its rows."""
    files = costs_files(graph)
    return [file.read_bytes() for file in files], [read_parquet(file, COSTS).to_pylist() for file in files]


def costs_files(graph):
    return [graph.home / "store/costs/b300" / day.isoformat() / f"{COSTS.name}.parquet" for day in DAYS]


def page(graph, as_of="", corrections_until=""):
    days = {"as_of": as_of, "corrections_until": corrections_until}
    graph.runs.run("build_pages", partition="b300", config={"page_data": days})
    return json.loads((graph.home / "store/pages/b300/deepseek_v4_1_flash.json").read_text())[0]


def rate(graph, as_of, known_on="9999-12-31"):
    """The price at which the oldest cell is costed on a day, from the stored costs and the book, as a page reads it."""
    days = (dt.date.fromisoformat(as_of), dt.date.fromisoformat(known_on))
    book = prices_as_of(graph.book.tables(["b300"])["b300"], *days)
    stored = read_parquet(costs_files(graph)[0], COSTS)
    with Warehouse().connect() as connection:
        held = costs_of_book(costs_as_of(connection, stored, *days), book).to_pylist()
    assert all(row["usd_mtok_total"] == row["usd_per_gpu_hour"] * 1e6 / (9000 * 3600) for row in at_50(held))
    (found,) = {row["usd_per_gpu_hour"] for row in at_50(held)} or {None}
    return found


def at_50(rows):
    return [row for row in rows if (row["reading"], row["target_tok_s_user"]) == ("at_least", 50)]


def test_prices_can_be_read_as_of_any_day(history):
    wanted = {"2026-07-31": None, "2026-08-01": 3, "2026-09-02": 3, "2026-09-03": 4, "2026-09-06": 4, "2026-09-07": 5}
    assert {day: rate(history, day) for day in wanted} == wanted


def test_a_price_between_two_days_changes_the_costs_of_these_days_and_nothing_else(history):
    files, rows = costs_of(history)
    history.book.add(
        PRICE | {"usd_per_gpu_hour": 4.5, "valid_from": dt.date(2026, 9, 4), "valid_to": dt.date(2026, 9, 6)}
    )
    materialized(history, "cost_tables")
    new_files, new_rows = costs_of(history)
    assert new_files[2] == files[2]
    changed = ("b300/retail/2026-09-03", "b300/retail/2026-09-04", "b300/retail/2026-09-06")
    for old, new in zip(rows, new_rows, strict=True):
        untouched = [row for row in old if row["price_id"] not in changed]
        assert [row for row in new if row["price_id"] not in changed] == untouched
    assert {row["price_id"] for row in new_rows[1]} == {*changed[1:], "b300/retail/2026-09-07"}
    days = [f"2026-09-0{n}" for n in range(2, 8)]
    assert [rate(history, day) for day in days] == [3, 4, 4.5, 4.5, 4, 5]


def test_pages_of_days_outside_the_row_that_a_price_falls_into_stay_byte_for_byte(history):
    before = [page(history, day) for day in ("2026-09-02", "2026-09-07")]
    history.book.add(PRICE | {"usd_per_gpu_hour": 4.5, "valid_from": dt.date(2026, 9, 5)})
    materialized(history, "cost_tables")
    assert [page(history, day) for day in ("2026-09-02", "2026-09-07")] == before


def test_a_correction_counts_on_every_day_of_its_row_and_the_page_says_what_was_published(history):
    page(history)
    history.runs.run("publish_site")
    history.book.correct(
        PRICE | {"usd_per_gpu_hour": 5.5, "valid_from": dt.date(2026, 9, 7), "correction_reason": "per node"}, TODAY
    )
    materialized(history, "cost_tables")
    assert rate(history, "2026-09-08") == 5.5
    assert rate(history, "2026-09-06") == 4
    found = page(history)
    assert found["costs"][0]["corrections"] == [
        {
            "corrected_on": "2026-10-20",
            "was_usd_per_gpu_hour": 5.0,
            "became_usd_per_gpu_hour": 5.5,
            "reason": "per node",
            "was_valid_from": "2026-09-07",
            "became_valid_from": "2026-09-07",
            "was_valid_to": None,
            "became_valid_to": None,
        }
    ]
    history.runs.run("publish_site")
    text = (history.home / "site/run/deepseek_v4_1_flash-on-b300/index.html").read_text()
    assert "was corrected on 2026-10-20: $5.50 per GPU-hour, was $5.00. Reason: per node" in text
    log = ChangeLog(root_dir=str(history.home / "store")).read().to_pylist()
    assert {tuple(row["reasons"]) for row in log if row["old_basis"]} == {("price_correction",)}
    assert log[-1]["old_price_ids"] == log[-1]["new_price_ids"] == ["b300/retail/2026-09-07"]


def test_what_was_published_before_a_correction_can_be_published_again_and_says_so(history):
    before = page(history, "2026-09-08")
    history.book.correct(
        PRICE | {"usd_per_gpu_hour": 5.5, "valid_from": dt.date(2026, 9, 7), "correction_reason": "per node"}, TODAY
    )
    materialized(history, "cost_tables")
    assert [rate(history, "2026-09-08", day) for day in ("2026-10-19", "2026-10-20")] == [5, 5.5]
    again = page(history, "2026-09-08", "2026-10-19")
    assert again.pop("corrections_until") == "2026-10-19"
    before.pop("corrections_until")
    again["costs"][0].pop("corrections")
    before["costs"][0].pop("corrections")
    assert again == before


def test_a_run_after_the_correction_has_no_cost_at_the_row_that_was_corrected(history):
    body = {"usd_per_gpu_hour": 4.5, "valid_from": dt.date(2026, 9, 3), "correction_reason": "a slip"}
    history.book.correct(PRICE | body, dt.date(2026, 9, 4))
    materialized(history, "cost_tables")
    _, rows = costs_of(history)
    found = [{row["usd_per_gpu_hour"] for row in cell if row["valid_from"] == body["valid_from"]} for cell in rows]
    assert found == [{4.0, 4.5}, {4.5}, set()]


TCO = tco_block("b300", "2026-10-01", "an invoice", power_usd_kwh=0.25, pue=1.2)


def test_a_computed_price_stands_beside_the_quoted_ones_from_its_newest_input_on_and_shows_them_all(history):
    (history.home / "tco.toml").write_text(TCO)
    materialized(history, "cost_tables")
    assert [cost["tier"] for cost in page(history, "2026-09-30")["costs"]] == ["retail"]
    found = {cost["tier"]: cost for cost in page(history)["costs"]}
    assert found["retail"]["computed"] is None
    computed = found["tco"]
    # (35,040 / 4 / 8,760 + 0.25 x 1.0 x 1.2) / 0.5
    assert computed["usd_per_gpu_hour"] == pytest.approx(2.6)
    assert computed["cost_usd_mtok"]["total"] == pytest.approx(2.6e6 / (9000 * 3600))
    assert computed["source"].startswith("computed: tco.toml ")
    assert len(computed["computed"]["inputs"]) == 10
    history.runs.run("publish_site")
    text = (history.home / "site/run/deepseek_v4_1_flash-on-b300/index.html").read_text()
    assert "An estimate: computed from the inputs below" in text
    assert text.count("an invoice") == 10
    prices = (history.home / "site/data/prices.csv").read_text()
    assert '"b300/tco/2026-10-01","b300","tco",2.6' in prices
