"""A sweep through the graph, on the fake simulator: resume, refusal, and provenance as far as the published page."""

import datetime as dt
import json
import shutil
import sys

import dagster as dg
import pytest

from pipeline.cell import parse_cell
from pipeline.definitions import CHECKOUT, build_defs
from pipeline.errors import SimulatorError, SweepRefusedError
from pipeline.registry.shipped import simulated_recipes
from pipeline.sweep.choice import chosen
from pipeline.sweep.plan import plan
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from resources.clock import Clock
from resources.simulator import Simulator
from tests.graph.conftest import AS_OF, Graph

CELL = f"h100|{AS_OF}"
RECIPES = {
    slug: recipe.model_copy(update={"concurrency": recipe.concurrency.model_copy(update={"end": 4})})
    for slug, recipe in simulated_recipes().items()
}
"""The shipped recipes with ladders of 1, 2, 4."""
PLANNED = plan(chosen(RECIPES, "h100", ()))


@pytest.fixture
def swept(graph, tmp_path, monkeypatch) -> Graph:
    """The graph with the fake simulator, whose far side is the folder ``far``."""
    monkeypatch.setattr("assets.sweep.simulated_recipes", lambda: RECIPES)
    far = tmp_path / "far"
    far.mkdir()
    shutil.copy(CHECKOUT / "tests" / "fakes" / "simulator_child.py", far)
    fake = Simulator(python=sys.executable, cache_dir=str(tmp_path / "cache"), child=str(far / "simulator_child.py"))
    resources = {"prices": graph.book, "clock": Clock(fixed_day=AS_OF), "simulator": fake}
    return Graph(graph.home, build_defs(graph.home, resources), graph.instance, graph.book)


def run_sweep(graph: Graph, cell: str = CELL, **config: bool) -> dict:
    return graph.runs.run("run_sweep", partition=cell, config={"sweep": config})


def files_of(graph: Graph) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (graph.home / "store" / "sweeps").rglob("*.parquet")}


def asked(tmp_path) -> list[str]:
    return [line for line in (tmp_path / "far" / "asked.log").read_text().splitlines() if line.startswith("replay")]


def test_a_sweep_leaves_one_file_for_every_planned_point(swept):
    done = run_sweep(swept)
    assert (done["n_points"], done["n_points_measured_now"], done["n_invalid_points"]) == (
        len(PLANNED),
        len(PLANNED),
        0,
    )
    points = {f"{p.fingerprint}.points.parquet" for p in PLANNED}
    assert set(files_of(swept)) == points | {f"{p.run_id}.runs.parquet" for p in PLANNED}


def test_a_rerun_asks_for_nothing_and_changes_no_byte(swept, tmp_path):
    run_sweep(swept)
    before, n_asked = files_of(swept), len(asked(tmp_path))
    assert run_sweep(swept)["n_points_measured_now"] == 0
    assert files_of(swept) == before
    assert len(asked(tmp_path)) == n_asked


def test_a_sweep_that_died_between_two_points_goes_on_there_and_ends_with_the_same_bytes(swept, tmp_path):
    run_sweep(swept)
    uninterrupted = files_of(swept)
    shutil.rmtree(swept.home / "store" / "sweeps")
    (tmp_path / "far" / "asked.log").unlink()
    (tmp_path / "far" / "die_at").write_text("4")
    with pytest.raises(SimulatorError, match="it ended without an answer"):
        run_sweep(swept)
    assert len(files_of(swept)) == 2
    (tmp_path / "far" / "die_at").unlink()
    assert run_sweep(swept)["n_points_measured_now"] == len(PLANNED) - 2
    assert asked(tmp_path)[:4] == ["replay 1", "replay 2", "replay 4", "replay 4"]
    assert files_of(swept) == uninterrupted


def test_two_sweeps_from_nothing_give_the_same_bytes(swept):
    run_sweep(swept)
    first = files_of(swept)
    shutil.rmtree(swept.home / "store" / "sweeps")
    run_sweep(swept)
    assert files_of(swept) == first


def test_a_past_day_is_refused_unless_the_config_says_to_measure_again(swept):
    with pytest.raises(SweepRefusedError, match=f"the run date is past.*expected {AS_OF}, found 2026-10-31") as error:
        run_sweep(swept, "h100|2026-10-31")
    assert "frontier sweep h100 --run-date 2026-10-31 --again (in the UI: measure_again: true)." in str(error.value)
    assert not files_of(swept)
    assert run_sweep(swept, "h100|2026-10-31", measure_again=True)["n_points"] == len(PLANNED)


@pytest.mark.parametrize(("hour", "is_of_the_day_before"), [(22, True), (24, False)])
def test_a_sweep_that_waited_over_midnight_is_of_the_day_that_it_was_asked_for_on(
    swept, monkeypatch, hour, is_of_the_day_before
):
    day = dt.datetime(2026, 10, 31, tzinfo=dt.UTC)
    monkeypatch.setattr("assets.sweep.asked_at", lambda *_: day + dt.timedelta(hours=hour))
    if is_of_the_day_before:
        assert run_sweep(swept, "h100|2026-10-31")["n_points"] == len(PLANNED)
    else:
        with pytest.raises(SweepRefusedError, match="the run date is past"):
            run_sweep(swept, "h100|2026-10-31")


def test_a_gpu_without_a_recipe_is_refused(swept):
    with pytest.raises(SweepRefusedError, match="sweep of mi300x: no recipe"):
        run_sweep(swept, f"mi300x|{AS_OF}")


def test_raw_results_hold_imported_and_swept_points_and_name_both_sources(swept):
    run_sweep(swept)
    seeded = swept.seed((60.0, 9000.0), gpu="h100", run_date=parse_cell(CELL).run_date, provenance="imported")
    assert seeded == CELL
    swept.derive(CELL)
    points = swept.store.read("raw", parse_cell(CELL), POINTS)
    assert points.num_rows == len(PLANNED) + 1
    manifest = json.loads((swept.home / "store/raw/h100" / AS_OF / "manifest.json").read_text())
    files = {source["file"] for source in manifest["sources"]}
    assert {"a.json", "h100_vllm_agentic_synthetic.c4"} <= files


def test_a_simulated_point_shares_no_series_headline_or_section_with_an_imported_one(swept):
    run_sweep(swept)
    same = {"model": "deepseek_v4_flash", "gpu": "h100", "engine": "vllm", "precision": "fp8", "spec_method": "none"}
    same |= {"workload": "agentic_synthetic"}
    same |= {"disaggregated": False, "multinode": False, "kv_offload": "none", "run_date": parse_cell(CELL).run_date}
    swept.seed((60.0, 9000.0), (90.0, 7000.0), provenance="imported", **same)
    swept.derive(CELL)
    knots = swept.store.read("frontier", parse_cell(CELL), KNOTS).to_pylist()
    curves = {(k["curve_id"], k["provenance"]) for k in knots}
    assert len({curve for curve, _ in curves}) == len(curves)
    swept.publish("h100")
    folder = swept.home / "site/run/deepseek_v4_flash-on-h100"
    imported = json.loads((folder / "data.json").read_text())
    simulated = json.loads((folder / "data-agentic_synthetic-simulated.json").read_text())
    assert {p["point_id"] for p in imported["points"]} == {"a.json-0", "a.json-1"}
    assert not {p["point_id"] for p in simulated["points"]} & {p["point_id"] for p in imported["points"]}
    assert (imported["provenance"], simulated["provenance"]) == ("imported", "simulated")
    assert simulated["title"].endswith("(simulated)")
    assert simulated["banner"].startswith("Simulated:")
    assert simulated["quick_answer"].startswith("In simulation, ")
    assert "synthetic agentic coding workload, simulated" in (folder / "index.html").read_text()
    page = (folder / "agentic_synthetic-simulated" / "index.html").read_text()
    assert "Simulated: numbers computed by a simulator" in page
    assert '(simulated)"' in page  # the chart's own label


def test_a_sweep_is_a_run_of_one_partition(swept):
    job = swept.definitions.resolve_job_def("run_sweep")
    assert isinstance(job.partitions_def, dg.MultiPartitionsDefinition)
