"""`frontier store`: what it says, what it deletes, and that the site and the status stay as they were."""

import dataclasses
import datetime as dt
import os
from pathlib import Path

import dagster as dg
import pytest

from pipeline.cell import GpuRun
from pipeline.definitions import outside
from pipeline.errors import FrontierError
from pipeline.housekeeping import Housekeeping
from pipeline.tables.requests import REQUESTS
from resources.clock import Clock
from resources.dagster_runs import open_instance
from resources.result_store import parquet_bytes
from resources.run_history import RunHistory
from tests.graph.conftest import AS_OF, graph_at
from tests.instances import lay_instance

CURVE = ((60.0, 9000.0), (90.0, 7000.0))
OLD, NEWER, NEWEST = (dt.date(2026, 10, day) for day in (2, 5, 9))
LONG_AGO_S = dt.datetime(2026, 9, 1, tzinfo=dt.UTC).timestamp()


@pytest.fixture
def year(graph):
    """Three days of one series, and one older day of another, published; every file is of long ago."""
    for n, day in enumerate((OLD, NEWER, NEWEST)):
        graph.derive(graph.seed(*CURVE, name=f"{n}.json", run_id=f"r{n}", run_date=day))
    graph.derive(graph.seed(*CURVE, name="other.json", run_id="o", run_date=dt.date(2026, 10, 3), engine="sglang"))
    request = {"point_id": "x", "request_index": 0, "phase": "profiling", "outcome": "ok"}
    for path in (graph.home / "store").rglob("*requests.parquet"):
        path.write_bytes(parquet_bytes(REQUESTS.from_rows([request])))
    graph.publish()
    for path in (graph.home / "store").rglob("*"):
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    return graph


def housekeeping(graph) -> Housekeeping:
    resources = dataclasses.replace(outside(graph.home), clock=Clock(fixed_day=AS_OF))
    return Housekeeping(resources, graph.instance, graph.home / "dagster")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_only_rows_of_requests_behind_no_page_go_and_the_site_keeps_its_bytes(year):
    kept, before = housekeeping(year), files_of(year.home / "site")
    found = kept.old_files(20)
    places = {f"{file.path.parent.name}/{file.path.parent.parent.parent.name}" for file in found}
    assert places == {"2026-10-02/raw", "2026-10-02/imports", "2026-10-05/raw", "2026-10-05/imports"}
    assert {file.path.name.split(".")[-2] for file in found} == {"requests"}
    # 2026-11-01 less 28 days is 2026-10-04
    assert {file.path.parent.name for file in kept.old_files(28)} == {"2026-10-02"}
    assert kept.old_files(40) == []
    kept.remove_files(found)
    assert kept.old_files(20) == []
    year.derive(GpuRun("b300", OLD).key)
    done = year.publish()
    assert (done["n_changes"], done["n_files_written"], done["n_pairs_drawn"]) == (0, 0, 0)
    assert files_of(year.home / "site") == before


def test_the_command_deletes_nothing_without_yes_and_says_what_it_would(imported, tmp_path):
    path = tmp_path / "home/store/raw/h100/2026-01-01/.tmp-left"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(2**20))
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    code, said, _ = imported("store", "prune", "--older-than", "7")
    assert (code, path.exists()) == (0, True)
    assert "what killed writers left: 1 file, 1.0 MiB" in said
    assert "nothing is deleted yet: run the same command with --yes" in said
    code, said, _ = imported("store", "prune", "--older-than", "7", "--yes")
    assert (code, path.exists()) == (0, False)
    assert imported("store", "prune", "--older-than", "7", "--yes")[1] == "nothing to delete"


def test_compacting_ahead_of_time_leaves_nothing_to_read(imported):
    code, said, _ = imported("store", "compact", "h100")
    assert code == 0
    assert "h100 points: 1 cell file, " in said
    assert "b300" not in said
    assert said.count("; 0 were not compacted yet") == 7
    assert "unknown gpu 'h10'. Did you mean 'h100'?" in " ".join(imported("store", "compact", "h10")[2])


@pytest.mark.parametrize("command", ["prune", "trim-history"])
@pytest.mark.parametrize("days", ["0", "99999999999999"])
def test_today_is_never_deleted_and_no_day_before_every_calendar_is_meant(frontier, command, days):
    code, _, lines = frontier("store", command, "--older-than", days, "--yes")
    assert code == 1
    assert "expected 1 to 36,500 days" in lines[0]


@pytest.fixture
def history(tmp_path):
    """A graph on an instance with files, where prices were observed and a cell and its pages made, twice."""
    lay_instance(tmp_path / "home")
    with open_instance(tmp_path / "home") as instance:
        graph = graph_at(tmp_path / "home", instance)
        cell = graph.seed(*CURVE)
        for _ in range(2):
            graph.runs.run("observe_prices")
            graph.derive(cell)
            graph.runs.run("build_pages", partition="b300")
        yield graph, RunHistory(instance, tmp_path / "home" / "dagster")


LATER = dt.datetime.now(dt.UTC) + dt.timedelta(1)


def status_of(instance) -> dict:
    """What the UI shows of every asset: its partitions, its latest run and its data versions."""
    versions, found = (["dagster/data_version"],), {}
    for key in instance.get_asset_keys():
        latest = instance.get_latest_materialization_event(key)
        kinds = (dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_OBSERVATION)
        tags = [instance.event_log_storage.get_latest_tags_by_partition(key, kind, *versions) for kind in kinds]
        found[key] = (instance.get_materialized_partitions(key), latest and latest.run_id, tags)
    return found


def test_runs_that_status_comes_from_stay_the_others_go_with_their_files_and_work_goes_on(history):
    graph, runs = history
    before, n_runs = status_of(graph.instance), len(graph.instance.get_runs())
    assert runs.removable(LATER - dt.timedelta(2)) == []
    old = runs.removable(LATER)
    assert (n_runs, len(old)) == (6, 3)
    folder = runs.folder / "history" / "runs"
    assert all((folder / f"{run_id}.db").exists() for run_id in old)
    assert runs.remove(old) > 0
    assert not any((folder / f"{run_id}.db").exists() for run_id in old)
    assert len(graph.instance.get_runs()) == 3
    assert status_of(graph.instance) == before
    assert runs.removable(LATER) == []
    graph.runs.run("observe_prices")
    assert len(runs.removable(LATER)) == 1


def test_a_run_that_was_asked_for_by_key_and_a_failure_that_automation_sees_stay(history):
    graph, runs = history
    older = runs.removable(LATER)[0]
    graph.instance.add_run_tags(older, {"dagster/run_key": "sweep x"})
    assert older not in runs.removable(LATER)
    with pytest.raises(FrontierError, match="units_plausible"):
        graph.derive(graph.seed((60.0, 9_000_000.0), name="b.json", run_date=NEWER))
    (failed,) = graph.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    assert failed.run_id not in runs.removable(LATER)
