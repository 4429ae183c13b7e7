"""The three reference pages' tables, to the last printed digit, and what our own reading says of the same rows."""

import datetime as dt
import functools
import re
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pytest

from pipeline.cost.price_book import price_table
from pipeline.cost.price_readings import costs_as_of, price_readings
from pipeline.frontier.across import read_across
from pipeline.frontier.derive import derive_curves
from pipeline.registry.shipped import shipped_prices, shipped_registry
from pipeline.tables.points import POINTS
from tests.golden.reference_rows import reference_points, reference_table

GPUS = ("gb200", "b300", "h100")
AS_OF = dt.date(2026, 10, 31)
HYPERSCALER = "owning_hyperscaler"

each_gpu = pytest.mark.parametrize("gpu", GPUS)


@dataclass(frozen=True)
class Derived:
    """What follows from the rows of one GPU."""

    points: pa.Table
    across: list[dict]
    costs: list[dict]

    def row(self, reading: str, target: float) -> dict:
        (found,) = [r for r in self.across if (r["reading"], r["target_tok_s_user"]) == (reading, target)]
        return found

    def cost(self, reading: str, target: float, tier: str) -> dict | None:
        wanted = (self.row(reading, target)["curve_id"], reading, target, tier)
        found = [c for c in self.costs if (c["curve_id"], c["reading"], c["target_tok_s_user"], c["tier"]) == wanted]
        return found[0] if found else None


@functools.cache
def derived(gpu: str) -> Derived:
    points = reference_points(gpu)
    with duckdb.connect(":memory:") as connection:
        connection.register("points", points)
        curves = derive_curves(connection, ["agentx"])
        across = read_across(connection, curves.knots, curves.readings)
        costs = price_readings(connection, curves.readings, price_table(shipped_prices()))
        return Derived(points, across.to_pylist(), costs_as_of(connection, costs, AS_OF).to_pylist())


def as_reference_prints(usd: float) -> str:
    """The reference's format: from 0.1 on 2 decimals, below it 3."""
    return f"{usd:.2f}" if usd >= 0.1 else f"{usd:.3f}"


def name_of(engine: str) -> str:
    return shipped_registry().engines[engine].name


def ladder_cells(gpu: str) -> list[tuple[int, str | None]]:
    costs = {rung: derived(gpu).cost("at_target", rung, HYPERSCALER) for rung in (30, 50, 75, 100, 150, 200)}
    return [(rung, cost and as_reference_prints(cost["usd_mtok_total"])) for rung, cost in costs.items()]


@each_gpu
def test_the_constructed_rows_are_points_of_the_schema_and_all_valid(gpu):
    points = reference_points(gpu)
    assert POINTS.violations(points) == []
    assert points.num_rows == reference_table(gpu).n_points
    assert set(points["valid"].to_pylist()) == {True}


@each_gpu
def test_peak_dates_and_engines_are_those_of_the_page(gpu):
    points, table = reference_points(gpu), reference_table(gpu)
    assert f"{max(points['throughput_tok_s_gpu'].to_pylist()):,.0f}" == table.peak
    days = points["run_date"].to_pylist()
    assert (min(days), max(days)) == (table.first_run, table.last_run)
    assert sorted({name_of(engine) for engine in points["engine"].to_pylist()}) == sorted(table.engines)


@each_gpu
def test_at_target_gives_every_throughput_of_the_reference_ladder(gpu):
    for rung in reference_table(gpu).ladder:
        y = derived(gpu).row("at_target", rung.target_tok_s_user)["throughput_tok_s_gpu"]
        assert (None if y is None else f"{y:,.3f}") == (rung.throughput and f"{rung.throughput}.000")


@each_gpu
def test_at_target_gives_engine_and_precision_of_every_row_that_has_a_value(gpu):
    for rung in reference_table(gpu).ladder:
        row = derived(gpu).row("at_target", rung.target_tok_s_user)
        if rung.throughput:
            assert (name_of(row["engine"]), row["precision"]) == (rung.engine, rung.precision)


@pytest.mark.parametrize(("gpu", "slowest"), [("gb200", "43.6"), ("b300", "38.9")])
def test_the_row_without_a_value_names_no_engine_but_the_reason(gpu, slowest):
    row = derived(gpu).row("at_target", 30)
    assert (row["engine"], row["precision"], row["basis"]) == (None, None, "unreachable")
    assert row["reason"].endswith(f"at or below 30 tok/s/user: the slowest one runs at {slowest}.")


@each_gpu
def test_every_cost_cell_of_the_reference_ladder(gpu):
    assert ladder_cells(gpu) == [(rung.target_tok_s_user, rung.usd_mtok) for rung in reference_table(gpu).ladder]


@each_gpu
@pytest.mark.parametrize("tier", [HYPERSCALER, "retail"])
def test_every_cost_cell_of_the_tier_tables(gpu, tier):
    cost = derived(gpu).cost("at_target", 50, tier)
    printed = (f"{cost['usd_per_gpu_hour']:.2f}", as_reference_prints(cost["usd_mtok_total"]))
    assert printed == reference_table(gpu).tiers[tier]


def test_the_reference_has_22_cost_cells():
    tables = [reference_table(gpu) for gpu in GPUS]
    n_ladder = sum(rung.usd_mtok is not None for table in tables for rung in table.ladder)
    assert (n_ladder, sum(len(table.tiers) for table in tables)) == (16, 6)


@pytest.mark.parametrize(
    ("gpu", "target", "at_least"),
    [("h100", 30, 11385), ("h100", 50, 11385), ("gb200", 30, 73744), ("b300", 30, 328417)],
)
def test_at_least_serves_a_slow_target_from_a_faster_config(gpu, target, at_least):
    row = derived(gpu).row("at_least", target)
    assert row["throughput_tok_s_gpu"] >= at_least
    assert (row["basis"], row["engine"]) == ("faster_config", "vllm")
    assert row["delivered_tok_s_user"] > target


@pytest.mark.parametrize("target", [30, 50])
def test_at_least_costs_at_most_a_fifth_of_what_the_reference_prints_for_the_h100(target):
    ours = derived("h100").cost("at_least", target, HYPERSCALER)["usd_mtok_total"]
    reference = derived("h100").cost("at_target", 50, HYPERSCALER)["usd_mtok_total"]
    assert ours <= 0.0286
    assert as_reference_prints(reference) == "0.16"
    assert reference / ours > 5.7


@each_gpu
def test_at_least_never_says_less_than_the_reference_and_never_rises(gpu):
    targets = (30, 50, 75, 100, 150, 200)
    ours = [derived(gpu).row("at_least", target)["throughput_tok_s_gpu"] for target in targets]
    theirs = [derived(gpu).row("at_target", target)["throughput_tok_s_gpu"] or 0 for target in targets]
    assert ours == sorted(ours, reverse=True)
    assert all(y >= reference - 0.001 for y, reference in zip(ours, theirs, strict=True))


def test_kinds_of_tokens_are_null_where_the_series_says_nothing_about_them():
    silent = derived("h100").cost("at_target", 50, HYPERSCALER)
    assert (silent["usd_mtok_output"], silent["usd_mtok_computed_input"], silent["cache_hit_share"]) == (None,) * 3
    told = derived("gb200").cost("at_target", 50, HYPERSCALER)
    # output is 0.72 % of the total: 0.0070 / 0.0072 is about one dollar
    assert told["usd_mtok_output"] == pytest.approx(told["usd_mtok_total"] / 0.0072)
    assert f"{told['usd_mtok_output']:.2f}" == "0.97"


@each_gpu
def test_the_tables_here_are_those_of_the_reference_pages(gpu, shared_dir):
    text = (shared_dir / "reference" / "pages" / f"{gpu}.txt").read_text(encoding="utf-8")
    table = reference_table(gpu)
    rungs = [
        f"| {rung.target_tok_s_user} tok/s | {rung.throughput or '-'} | {f'${rung.usd_mtok}' if rung.usd_mtok else '-'}"
        f" | {rung.engine} | {rung.precision} |"
        for rung in table.ladder
    ]
    assert re.findall(r"^\| \d+ tok/s .*\|$", text, flags=re.MULTILINE) == rungs
    names = {slug: tier.name for slug, tier in shipped_registry().tiers.items()}
    assert all(f"| {names[tier]} | ${rate} | ${usd} |" in text for tier, (rate, usd) in table.tiers.items())
    assert f"Running DeepSeek V4.1 Flash on {table.name}\n" in text
    assert f"Peak measured throughput across all configs is {table.peak} tokens/s per GPU" in text
    assert f"Benchmarked configs\n{table.n_points}\n" in text
    assert re.search(rf"{table.first_run} . {table.last_run}\n", text)
