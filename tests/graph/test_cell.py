"""One cell through the graph: files, checks, data versions, idempotence."""

import json

import pyarrow.parquet as pq
import pytest

from pipeline.cell import parse_cell
from pipeline.errors import FrontierError, StoreError
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS

CURVE = ((60.0, 9000.0), (90.0, 7000.0), (150.0, 3000.0))


def files_of(graph) -> dict[str, bytes]:
    root = graph.home / "store"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_a_cell_gives_points_knots_readings_and_costs(graph):
    cell = graph.seed(*CURVE)
    graph.derive(cell)
    read = graph.store.read
    assert read("raw", parse_cell(cell), POINTS).num_rows == 3
    assert read("frontier", parse_cell(cell), KNOTS)["throughput_tok_s_gpu"].to_pylist() == [9000.0, 7000.0, 3000.0]
    ladder = [r for r in read("frontier", parse_cell(cell), READINGS).to_pylist() if r["reading"] == "at_least"]
    assert [r["basis"] for r in ladder] == ["faster_config"] * 2 + ["interpolated"] * 2 + ["measured", "unreachable"]
    costs = read("costs", parse_cell(cell), COSTS).to_pylist()
    at_50 = [c for c in costs if (c["reading"], c["target_tok_s_user"], c["tier"]) == ("at_least", 50.0, "retail")]
    # 4.25 USD/GPU/h x 1e6 / (9000 tok/s x 3600 s/h)
    assert [round(c["usd_mtok_total"], 5) for c in at_50] == [0.13117]


def test_deriving_a_cell_twice_gives_the_same_bytes(graph):
    cell = graph.seed(*CURVE)
    graph.derive(cell)
    first = files_of(graph)
    graph.derive(cell)
    assert files_of(graph) == first


def test_the_order_of_imports_does_not_change_a_byte(graph, tmp_path):
    graph.seed(*CURVE, name="a.json")
    cell = graph.seed((70.0, 8000.0), name="b.json", run_id="r2")
    graph.derive(cell)
    first = files_of(graph)
    for path in (graph.home / "store").rglob("*.parquet"):
        path.unlink()
    graph.seed((70.0, 8000.0), name="b.json", run_id="r2")
    graph.seed(*CURVE, name="a.json")
    graph.derive(cell)
    assert files_of(graph) == first


def test_the_manifest_names_files_rows_hashes_and_sources(graph):
    cell = graph.seed(*CURVE)
    graph.derive(cell)
    manifest = json.loads((graph.home / "store/raw/b300/2026-10-02/manifest.json").read_text())
    assert [(f["file"], f["rows"]) for f in manifest["files"]] == [("points.parquet", 3), ("requests.parquet", 0)]
    assert [s["file"] for s in manifest["sources"]] == ["a.json"]


def test_an_empty_cell_derives_to_empty_tables(graph):
    graph.derive("h100|2026-10-02")
    assert graph.store.read("costs", parse_cell("h100|2026-10-02"), COSTS).num_rows == 0


def test_an_implausible_valid_point_stops_the_cell_before_the_frontier(graph):
    cell = graph.seed((60.0, 9_000_000.0))
    with pytest.raises(FrontierError, match="units_plausible"):
        graph.derive(cell)
    assert not (graph.home / "store/frontier").exists()


def test_a_damaged_file_is_named_and_other_cells_still_derive(graph):
    bad = graph.seed(*CURVE)
    good = graph.seed(*CURVE, name="c.json", gpu="h100")
    path = next((graph.home / "store/imports/b300").rglob("*.points.parquet"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreError, match=path.name):
        graph.derive(bad)
    graph.derive(good)
    assert pq.read_table(graph.home / "store/frontier/h100/2026-10-02/knots.parquet").num_rows == 3


def test_the_ladder_is_shown_as_a_preview_and_checks_carry_their_bound(graph):
    cell = graph.seed(*CURVE)
    graph.derive(cell)
    events = graph.instance.get_records_for_run(graph.instance.get_runs(limit=1)[0].run_id, limit=500).records
    metadata = [
        e.event_log_entry.dagster_event.event_specific_data.materialization.metadata
        for e in events
        if e.event_log_entry.dagster_event and e.event_log_entry.dagster_event.is_step_materialization
    ]
    assert any("9,000.0" in m["ladder"].value for m in metadata if "ladder" in m)
    checks = [
        e.event_log_entry.dagster_event.asset_check_evaluation_data
        for e in events
        if e.event_log_entry.dagster_event
        and e.event_log_entry.dagster_event.event_type_value == "ASSET_CHECK_EVALUATION"
    ]
    assert {c.check_name for c in checks} == {
        "schema", "identity_unique", "outcomes_add_up", "units_plausible",
        "frontier_falls", "knots_are_rows", "no_regression", "costs_name_prices", "costs_recompute",
    }  # fmt: skip
    assert all(c.passed and c.metadata["promise"].value for c in checks)
