"""cost.sql and as_of.sql: which price rows meet a reading, what it costs, and which of them hold on a day."""

import datetime as dt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.cost.price_book import price_table
from pipeline.cost.price_readings import costs_as_of, price_readings
from pipeline.registry.shipped import shipped_prices
from pipeline.tables.costs import COSTS
from pipeline.tables.prices import PRICES
from tests.unit.cost.twin import TokenThroughput, token_cost
from tests.unit.frontier.point_rows import curve, derived, point

MARCH, JULY, AUGUST = dt.date(2026, 3, 18), dt.date(2026, 7, 31), dt.date(2026, 8, 15)


def price(tier, usd, valid_from, valid_to=None, gpu="b300"):
    return {
        "price_id": f"{gpu}/{tier}/{valid_from}",
        "gpu": gpu,
        "tier": tier,
        "usd_per_gpu_hour": usd,
        "valid_from": valid_from,
        "valid_to": valid_to,
        "source": "test",
    }


BOOK = (
    price("retail", 3.60, MARCH, JULY),
    price("retail", 7.20, JULY, AUGUST),
    price("retail", 36.0, AUGUST),
    price("neocloud", 1.80, MARCH, JULY),
    price("retail", 99.0, MARCH, gpu="h100"),
)


def costs_of(connection, rows, book=BOOK, targets=(50,)):
    return price_readings(connection, derived(connection, rows, targets).readings, PRICES.from_rows(list(book)))


def run_on(day, y=1000.0, **columns):
    return [point(50, y, point_id="p", run_date=day, **columns)]


def at_least(costs):
    return {row["price_id"]: row["usd_mtok_total"] for row in costs.to_pylist() if row["reading"] == "at_least"}


def test_a_reading_costs_the_rate_over_its_tokens(connection):
    book = [price("retail", 3.60, MARCH)]
    kinds = {"output_throughput_tok_s_gpu": 10.0, "computed_input_throughput_tok_s_gpu": 100.0, "cache_hit_share": 0.9}
    row = costs_of(connection, run_on(MARCH, **kinds), book).to_pylist()[0]
    assert (row["usd_mtok_total"], row["usd_mtok_computed_input"], row["usd_mtok_output"]) == (1, 10, 100)
    assert (row["cache_hit_share"], row["price_id"], row["source"]) == (0.9, "b300/retail/2026-03-18", "test")


def test_a_kind_of_token_that_is_unknown_or_zero_has_no_cost(connection):
    row = costs_of(connection, run_on(MARCH, output_throughput_tok_s_gpu=0.0)).to_pylist()[0]
    assert (row["usd_mtok_output"], row["usd_mtok_computed_input"]) == (None, None)


def test_every_price_that_held_on_or_after_the_run_date_prices_a_reading(connection):
    assert at_least(costs_of(connection, run_on(MARCH))) == {
        "b300/neocloud/2026-03-18": 0.5,
        "b300/retail/2026-03-18": 1,
        "b300/retail/2026-07-31": 2,
        "b300/retail/2026-08-15": 10,
    }


def test_a_price_that_ended_before_or_on_the_run_date_prices_nothing(connection):
    day_before = JULY - dt.timedelta(days=1)
    assert "b300/retail/2026-03-18" in at_least(costs_of(connection, run_on(day_before)))
    assert set(at_least(costs_of(connection, run_on(JULY)))) == {"b300/retail/2026-07-31", "b300/retail/2026-08-15"}


def test_a_run_before_the_first_price_is_priced_by_the_later_book(connection):
    assert len(at_least(costs_of(connection, run_on(dt.date(2025, 10, 6))))) == 4


def test_another_gpu_s_price_is_not_used_and_a_gpu_without_a_price_has_no_cost(connection):
    assert set(at_least(costs_of(connection, run_on(MARCH, gpu="h100")))) == {"h100/retail/2026-03-18"}
    assert costs_of(connection, run_on(MARCH, gpu="a100")).num_rows == 0


def test_both_readings_are_priced_and_one_without_a_throughput_is_not(connection):
    costs = costs_of(connection, curve((40, 1000), (60, 500), run_date=AUGUST), targets=(30, 50, 75))
    found = {(row["reading"], row["target_tok_s_user"]) for row in costs.to_pylist()}
    assert found == {("at_least", 30), ("at_least", 50), ("at_target", 50)}


def test_at_target_is_rounded_before_it_is_priced(connection):
    costs = costs_of(connection, run_on(AUGUST, y=0.0004), targets=(50,))
    assert {row["reading"] for row in costs.to_pylist()} == {"at_least"}
    costs = costs_of(connection, run_on(AUGUST, y=1000.0004))
    assert {row["reading"]: row["throughput_tok_s_gpu"] for row in costs.to_pylist()}["at_target"] == 1000


def held_on(connection, day):
    return set(at_least(costs_as_of(connection, costs_of(connection, run_on(MARCH)), day)))


@pytest.mark.parametrize(
    ("day", "held"),
    [
        (MARCH - dt.timedelta(days=1), set()),
        (MARCH, {"b300/retail/2026-03-18", "b300/neocloud/2026-03-18"}),
        (JULY - dt.timedelta(days=1), {"b300/retail/2026-03-18", "b300/neocloud/2026-03-18"}),
        (JULY, {"b300/retail/2026-07-31"}),
        (dt.date(2030, 1, 1), {"b300/retail/2026-08-15"}),
    ],
)
def test_a_price_holds_from_its_first_day_until_the_day_before_its_end(connection, day, held):
    assert held_on(connection, day) == held


def test_a_run_after_the_day_keeps_its_cost_only_while_that_day_s_price_still_held_on_the_run_date(connection):
    later = costs_of(connection, run_on(JULY + dt.timedelta(days=1)))
    assert set(at_least(costs_as_of(connection, later, JULY))) == {"b300/retail/2026-07-31"}
    assert at_least(costs_as_of(connection, later, MARCH)) == {}


def test_a_new_price_adds_rows_and_re_prices_none(connection):
    before = at_least(costs_of(connection, run_on(MARCH)))
    new_day = dt.date(2026, 12, 1)
    ended = [row | {"valid_to": new_day} if row["valid_to"] is None and row["gpu"] == "b300" else row for row in BOOK]
    after = at_least(costs_of(connection, run_on(MARCH), [*ended, price("retail", 72.0, new_day)]))
    assert after == before | {"b300/retail/2026-12-01": 20}


CORRECTED = (
    price("retail", 3.60, MARCH) | {"corrected_on": AUGUST, "correction_reason": "a slip"},
    price("retail", 7.20, MARCH) | {"recorded_on": AUGUST},
)


def test_a_corrected_price_and_its_correction_both_price_a_run_before_and_only_the_correction_one_after(connection):
    assert [row["usd_mtok_total"] for row in costs_at_least(connection, MARCH)] == [1, 2]
    assert [row["usd_mtok_total"] for row in costs_at_least(connection, AUGUST)] == [2]


def costs_at_least(connection, day, **known):
    costs = costs_of(connection, run_on(day), CORRECTED)
    if known:
        costs = costs_as_of(connection, costs, AUGUST, **known)
    return sorted(
        (row for row in costs.to_pylist() if row["reading"] == "at_least"), key=lambda row: row["usd_mtok_total"]
    )


@pytest.mark.parametrize(("known_on", "usd"), [(JULY, 1), (AUGUST, 2), (dt.date.max, 2)])
def test_one_of_them_holds_on_a_day_by_what_was_known(connection, known_on, usd):
    assert [row["usd_mtok_total"] for row in costs_at_least(connection, MARCH, known_on=known_on)] == [usd]


def test_no_reading_and_no_price_give_an_empty_table(connection):
    for costs in (costs_of(connection, []), costs_of(connection, run_on(MARCH), book=())):
        assert costs.num_rows == 0
        assert COSTS.violations(costs) == []


def test_the_shipped_book_has_at_most_one_price_a_tier_and_day(connection):
    readings = derived(connection, run_on(MARCH), targets=(50,)).readings
    costs = price_readings(connection, readings, price_table(shipped_prices()))
    for day in (MARCH, JULY, AUGUST, dt.date(2026, 10, 31)):
        tiers = [r["tier"] for r in costs_as_of(connection, costs, day).to_pylist() if r["reading"] == "at_least"]
        assert len(tiers) == len(set(tiers)) >= 2


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(
    pairs=st.lists(st.tuples(st.floats(10, 120), st.floats(1, 1e6)), min_size=1, max_size=8), rate=st.floats(0.1, 99)
)
def test_the_sql_costs_equal_the_arithmetic(connection, pairs, rate):
    book = [price("retail", rate, MARCH)]
    rows = [row | {"output_throughput_tok_s_gpu": row["throughput_tok_s_gpu"] / 7} for row in curve(*pairs)]
    for row in costs_of(connection, rows, book, targets=range(10, 121, 10)).to_pylist():
        total = row["throughput_tok_s_gpu"]
        expected = token_cost(rate, TokenThroughput(total, None, total / 7))
        assert row["usd_mtok_total"] == pytest.approx(expected.total_usd_mtok)
        assert row["usd_mtok_output"] == pytest.approx(expected.output_usd_mtok, rel=1e-3)
        assert row["usd_mtok_total"] * total * 3600 / 1e6 == pytest.approx(rate)
