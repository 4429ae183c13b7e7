"""The published query gives every number of every ladder from the raw rows alone."""

import datetime as dt
import math

import duckdb
import pyarrow.parquet as pq
import pytest

from pipeline.cost.price_book import price_table
from pipeline.pages.build import build_sections
from pipeline.pages.recompute_query import recompute_sql
from pipeline.registry.entries import Price
from pipeline.registry.shipped import shipped_registry
from tests.unit.pages.pairs import AS_OF, H100_PRICES, h100_rows, pair_of, point


def recomputed(folder, rows, prices, corrections_until=None):
    pq.write_table(pair_of(rows).points, folder / "points.parquet")
    book = [{k: v for k, v in price.items() if k != "price_id"} | {"valid_to": None} for price in prices]
    pq.write_table(price_table(Price.model_validate(price) for price in book), folder / "prices.parquet")
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SET file_search_path = '{folder}'")
        sql = recompute_sql(AS_OF, shipped_registry().agentic_workloads, corrections_until)
        found = connection.sql(sql).to_arrow_table()
    return found.to_pylist()


def rows_with_fixed_lengths():
    """Two agentic series, one of them of two runs, and one fixed-length series with two speculative methods."""
    fixed = {"workload": "fixed_8k1k", "percentile": 50, "provenance": "imported", "run_id": "f"}
    old = [
        point(x, y * 1.5, run_id="run0", engine="vllm", run_date=AS_OF.replace(month=8)) for x, y in [(75.0, 11385.0)]
    ]
    curves = [point(x, y, spec_method=m, **fixed) for m in ("none", "mtp") for x, y in [(40.0, 900.0), (90.0, 500.0)]]
    return [*h100_rows(), *old, *curves]


def test_every_ladder_number_and_cost_follows_from_the_raw_rows_by_one_query(tmp_path):
    rows = rows_with_fixed_lengths()
    found = recomputed(tmp_path, rows, H100_PRICES)
    checked = 0
    for page in build_sections(pair_of(rows)):
        for row in page.ladder:
            for reading in ("at_least", "at_target"):
                checked += agrees(getattr(row, reading), lines_of(found, page, row.target_tok_s_user, reading))
    assert checked == 2 * 6 * 2


def lines_of(found, page, target, reading):
    wanted = {"workload": page.workload.slug, "provenance": page.provenance, "reading": reading}
    wanted["target_tok_s_user"] = target
    return [line for line in found if all(line[name] == value for name, value in wanted.items())]


def agrees(published, lines):
    first = lines[0]
    assert first["throughput_tok_s_gpu"] == published.throughput_tok_s_gpu
    assert first["engine"] == published.engine
    assert {line["tier"]: line["usd_mtok_total"] for line in lines if line["tier"]} == (published.cost_usd_mtok or {})
    if hasattr(published, "basis"):
        assert (first["basis"], tuple(first["point_ids"])) == (published.basis, published.point_ids)
        assert first["delivered_tok_s_user"] == published.delivered_tok_s_user
    return True


def test_costs_of_each_kind_of_token_are_those_of_the_page(tmp_path):
    (page,) = build_sections(pair_of(h100_rows()))
    found = recomputed(tmp_path, h100_rows(), H100_PRICES)
    lines = {line["tier"]: line for line in lines_of(found, page, 50.0, "at_least")}
    for cost in page.costs:
        line, kinds = lines[cost.tier], cost.cost_usd_mtok
        for name in ("total", "computed_input", "output"):
            assert math.isclose(line[f"usd_mtok_{name}"], getattr(kinds, name), rel_tol=1e-12)


@pytest.mark.parametrize(("corrections_until", "usd"), [(None, 2.34), (AS_OF, 2.34), (dt.date(2026, 8, 31), 1.17)])
def test_a_corrected_price_is_read_as_it_was_known(tmp_path, corrections_until, usd):
    day = dt.date(2026, 9, 1)
    old = H100_PRICES[0] | {"corrected_on": day, "correction_reason": "a slip"}
    new = H100_PRICES[0] | {"usd_per_gpu_hour": 2.34, "recorded_on": day}
    rows = [point(50.0, 9000.0, run_date=dt.date(2026, 8, 20))]
    found = recomputed(tmp_path, rows, [old, new], corrections_until)
    assert {line["usd_per_gpu_hour"] for line in found if line["throughput_tok_s_gpu"]} == {usd}


@pytest.mark.parametrize("word", ["$agentic::", "$targets::"])
def test_nothing_is_left_to_fill_in(word):
    assert word not in recompute_sql(AS_OF, ["agentx"])
