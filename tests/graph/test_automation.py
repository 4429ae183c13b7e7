"""What follows what, without anyone asking: a price re-derives costs, pages and the site, and nothing else."""

import dataclasses
import datetime as dt

import dagster as dg

from assets import raw_results
from assets.price_book import price_book
from pipeline import definitions
from tests.tco_inputs import tco_block

CURVE = ((60.0, 9000.0), (90.0, 7000.0))


def requested(graph, cursor=None):
    result = dg.evaluate_automation_conditions(graph.definitions, instance=graph.instance, cursor=cursor)
    found = {
        r.key.to_user_string(): r.true_subset.expensively_compute_asset_partitions()
        for r in result.results
        if not r.true_subset.is_empty
    }
    return result.cursor, {name: {p.partition_key for p in subset} for name, subset in found.items()}


def settled(graph):
    """A graph where everything is derived and published once, and the cursor after that."""
    cells = [
        graph.seed(*CURVE),
        graph.seed(*CURVE, name="b.json", run_date=dt.date(2026, 10, 5)),
        graph.seed(*CURVE, name="c.json", gpu="h100"),
    ]
    graph.runs.run("observe_prices")
    cursor, _ = requested(graph)
    for cell in cells:
        graph.derive(cell)
    for gpu in ("b300", "h100"):
        graph.runs.run("build_pages", partition=gpu)
    graph.runs.run("publish_site")
    for _ in range(3):
        cursor, asked = requested(graph, cursor)
    assert asked == {}
    return cursor


def test_a_price_of_one_gpu_asks_for_its_cells_then_its_pages_then_the_site(graph):
    cursor = settled(graph)
    price = {"gpu": "b300", "tier": "retail", "usd_per_gpu_hour": 5.0, "source": "quote"}
    graph.book.add(price | {"valid_from": dt.date(2026, 10, 20)})
    graph.runs.run("observe_prices")

    cursor, asked = requested(graph, cursor)
    assert asked == {"cost_tables": {"b300|2026-10-02", "b300|2026-10-05"}}
    for cell in sorted(asked["cost_tables"]):
        graph.runs.run("price_cell", partition=cell)
    cursor, asked = requested(graph, cursor)
    assert asked == {"page_data": {"b300"}}
    graph.runs.run("build_pages", partition="b300")
    cursor, asked = requested(graph, cursor)
    assert asked == {"site": {None}}
    graph.runs.run("publish_site")
    cursor, asked = requested(graph, cursor)
    assert asked == {}


def test_inputs_of_a_computed_price_and_a_correction_ask_as_a_new_price_does(graph):
    cursor = settled(graph)
    (graph.home / "tco.toml").write_text(tco_block("h100", "2026-10-01", "x"))
    graph.runs.run("observe_prices")
    cursor, asked = requested(graph, cursor)
    assert asked == {"cost_tables": {"h100|2026-10-02"}}
    graph.runs.run("price_cell", partition="h100|2026-10-02")

    row = {"gpu": "b300", "tier": "retail", "usd_per_gpu_hour": 4.4, "source": "quote", "correction_reason": "slip"}
    graph.book.correct(row | {"valid_from": dt.date(2026, 8, 15)}, dt.date(2026, 10, 20))
    graph.runs.run("observe_prices")
    cursor, asked = requested(graph, cursor)
    assert asked == {"page_data": {"h100"}, "cost_tables": {"b300|2026-10-02", "b300|2026-10-05"}}


def run_together(graph, asked) -> bool:
    """One run of all that is asked for of one cell, as the sensor starts it; whether it succeeded."""
    (cell,) = {cell for cells in asked.values() for cell in cells}
    job = graph.definitions.resolve_implicit_global_asset_job_def()
    keys = [dg.AssetKey(name) for name in asked]
    ran = job.execute_in_process(
        instance=graph.instance, partition_key=cell, asset_selection=keys, raise_on_error=False
    )
    return ran.success


def after_a_sweep(graph):
    """A cell that was just swept beside one that was not; the cursor, and what is asked for."""
    cells = [graph.seed(*CURVE), graph.seed(*CURVE, name="c.json", gpu="h100")]
    graph.runs.run("observe_prices")
    cursor, _ = requested(graph)
    graph.instance.report_runless_asset_event(dg.AssetMaterialization("sweep", partition=cells[0]))
    return cells[0], *requested(graph, cursor)


def test_a_sweep_asks_for_everything_of_its_own_cell_in_one_run_and_for_no_other_cell(graph):
    cell, cursor, asked = after_a_sweep(graph)
    assert asked == dict.fromkeys(("raw_results", "frontier", "cost_tables"), {cell})
    assert run_together(graph, asked)
    cursor, asked = requested(graph, cursor)
    assert asked == {"page_data": {"b300"}}


def test_raw_results_that_break_a_promise_are_not_derived_from(graph, monkeypatch):
    _, cursor, asked = after_a_sweep(graph)
    broken = {"outcomes_add_up": ("requested = the sum of the others", lambda points: ["a: 3 requested, 2 found"])}
    monkeypatch.setattr("assets.raw_results.CHECKS", raw_results.CHECKS | broken)
    assert not run_together(graph, asked)
    for _ in range(3):
        cursor, asked = requested(graph, cursor)
        assert asked == {}


def test_the_same_prices_observed_again_ask_for_nothing_and_neither_does_other_code(graph, monkeypatch):
    cursor = settled(graph)
    graph.runs.run("observe_prices")
    cursor, asked = requested(graph, cursor)
    assert asked == {}
    other = dataclasses.replace(graph, definitions=_with_other_code(graph, monkeypatch))
    assert requested(other, cursor)[1] == {}


def _with_other_code(graph, monkeypatch):
    """The graph as a later checkout defines it: everything that derives has another code version."""
    changed = [
        asset.map_asset_specs(lambda spec: spec.replace_attributes(code_version="of a later day"))
        for asset in definitions.ASSETS
        if isinstance(asset, dg.AssetsDefinition)
    ]
    monkeypatch.setattr(definitions, "ASSETS", (*changed, price_book))
    made = definitions.build_defs(graph.home, {"prices": graph.book})
    assert made.resolve_asset_graph().get(dg.AssetKey("frontier")).code_version == "of a later day"
    return made


def test_a_new_result_asks_for_its_own_cell_and_a_price_without_a_frontier_for_nothing(graph):
    cursor = settled(graph)
    cell = graph.seed((120.0, 5000.0), name="d.json", run_date=dt.date(2026, 10, 9))
    price = {"gpu": "mi300x", "tier": "retail", "usd_per_gpu_hour": 5.0, "source": "quote"}
    graph.book.add(price | {"valid_from": dt.date(2026, 10, 20)})
    graph.runs.run("observe_prices")
    assert requested(graph, cursor)[1] == {}
    graph.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=graph.instance, partition_key=cell, asset_selection=[dg.AssetKey("raw_results")]
    )
    assert requested(graph, cursor)[1] == {"frontier": {cell}, "cost_tables": {cell}}
