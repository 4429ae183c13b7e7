"""What follows what, without anyone asking: a price re-derives costs, pages and the site, and nothing else."""

import datetime as dt

import dagster as dg

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


def test_the_same_prices_observed_again_ask_for_nothing(graph):
    cursor = settled(graph)
    graph.runs.run("observe_prices")
    assert requested(graph, cursor)[1] == {}


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
    assert requested(graph, cursor)[1] == {"frontier": {cell}}
