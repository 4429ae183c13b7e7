"""What was stored before a sweep failed reaches the pages, and what failed to derive is asked for again, ever later."""

import dataclasses
import datetime as dt
import errno
import json
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from assets.simulated_sweep import Simulating
from pipeline.automation.catch_up_sensor import N_AT_ONCE, TRY_TAG, WAITS, catch_up
from pipeline.cell import GpuRun, parse_cell
from pipeline.definitions import build_defs, outside
from pipeline.errors import SweepFailedError
from pipeline.partitions import cell_partitions
from pipeline.registry.shipped import simulated_recipes
from pipeline.sweep.choice import chosen
from pipeline.sweep.plan import Swept
from pipeline.tables.points import POINTS
from resources.clock import Clock
from resources.past_runs import past_runs
from resources.result_store import ResultStore
from tests.graph.conftest import AS_OF, Graph
from tests.graph.test_automation import requested
from tests.graph.test_inbox_sensor import CELL as IMPORTED
from tests.graph.test_inbox_sensor import DECLARED, Box
from tests.unit.frontier.point_rows import curve
from tests.unit.imports.foreign import vllm_row

CURVE = ((60.0, 9000.0), (90.0, 7000.0))
MINUTE = dt.timedelta(minutes=1)
FAILED = SweepFailedError("1 of its recipes failed", where="h100", next_step="Correct the cause.")


class Later(Clock):
    """The clock of this host, so many seconds later."""

    ahead_s: float = 0.0

    def now(self) -> dt.datetime:
        """Now and later."""
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self.ahead_s)


@dataclasses.dataclass
class Daemon:
    """The sensor over a graph, its cursor, and how far the clock is ahead."""

    graph: Graph
    cursor: str | None = None
    ahead: dt.timedelta = dt.timedelta()

    def look(self) -> dg.SensorResult:
        known = outside(self.graph.home)
        resources = {"clock": Later(ahead_s=self.ahead.total_seconds())}
        resources |= {"result_store": known.result_store, "sweep_store": known.sweep_store}
        with dg.build_sensor_context(self.graph.instance, self.cursor, resources=resources) as context:
            result = catch_up(context)
        self.cursor = result.cursor
        return result

    def asked(self) -> list[tuple[str, str | None]]:
        return [(request.job_name, request.partition_key) for request in self.look().run_requests]

    def says(self) -> str:
        result = self.look()
        assert result.run_requests == []
        return result.skip_reason.skip_message

    def run(self, request: dg.RunRequest) -> bool:
        """As the daemon would; whether it succeeded."""
        result = self.graph.definitions.resolve_job_def(request.job_name).execute_in_process(
            instance=self.graph.instance,
            partition_key=request.partition_key,
            run_config=request.run_config,
            tags=request.tags,
            raise_on_error=False,
        )
        return result.success

    def run_what_is_asked(self) -> bool:
        (request,) = self.look().run_requests
        return self.run(request)

    def fails(self, job: str, partition: str | None = None, **tags: str) -> None:
        assert not self.run(dg.RunRequest(job_name=job, partition_key=partition, tags=tags))


@pytest.fixture
def daemon(graph) -> Daemon:
    return Daemon(graph)


@pytest.fixture
def full_disk(monkeypatch):
    """Every derivation fails, until it is called."""

    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ResultStore, "write", write)
        yield patch.undo


def test_it_is_on_and_can_start_nothing_that_measures():
    assert catch_up.default_status == dg.DefaultSensorStatus.RUNNING
    assert {target.job_name for target in catch_up.targets} == {"derive_cell", "build_pages", "publish_site"}


def test_where_nothing_failed_nothing_is_asked_for(daemon):
    daemon.graph.derive(daemon.graph.seed(*CURVE))
    assert daemon.says() == "Nothing is left behind."


@pytest.fixture
def swept(graph, monkeypatch) -> Callable[..., None]:
    """Sets what a sweep of the cell does: stores the points of these runs, then fails, or ends well."""

    def set_up(*run_ids: str, error: Exception | None = FAILED) -> None:
        def simulate(outside: Simulating, cell: GpuRun, *_: object) -> Swept:
            for name in run_ids:
                rows = curve(*CURVE, gpu=cell.gpu, run_date=cell.run_date, run_id=name, provenance="simulated")
                for n, row in enumerate(rows):
                    outside.sweep_store.put(cell, f"{name}.{n}", row | {"point_id": f"{name}.{n}"}, {})
            if error:
                raise error
            return Swept(0, ())

        monkeypatch.setattr("assets.sweep.simulate", simulate)

    return set_up


SWEPT = f"h100|{AS_OF}"


def run_ids_of(graph: Graph) -> set[str]:
    return set(graph.store.read("raw", parse_cell(SWEPT), POINTS)["run_id"].to_pylist())


def test_the_points_of_a_failed_sweep_are_derived_and_their_pages_follow(daemon, swept):
    daemon.graph.runs.run("observe_prices")
    cursor, _ = requested(daemon.graph)
    swept("a")
    daemon.fails("run_sweep", SWEPT)
    (request,) = daemon.look().run_requests
    assert (request.job_name, request.partition_key) == ("derive_cell", SWEPT)
    assert daemon.run(request)
    assert run_ids_of(daemon.graph) == {"a"}
    asked_for = {}
    for _ in range(2):
        cursor, found = requested(daemon.graph, cursor)
        asked_for |= found
    assert asked_for == {"page_data": {"h100"}}


def test_the_failed_sweep_stays_to_be_seen_as_failed(daemon, swept):
    swept("a")
    daemon.fails("run_sweep", SWEPT)
    assert daemon.run_what_is_asked()
    (failed,) = past_runs(daemon.graph.instance, 9, [dg.DagsterRunStatus.FAILURE])
    assert (failed.job, failed.partition) == ("run_sweep", SWEPT)
    key = dg.AssetKey("sweep")
    status = daemon.graph.instance.get_status_by_partition(key, [SWEPT], cell_partitions)
    assert status[SWEPT].value == "FAILED"


def test_a_sweep_that_fails_again_is_derived_again_only_if_it_stored_something_new(daemon, swept):
    swept("a")
    daemon.fails("run_sweep", SWEPT)
    assert daemon.run_what_is_asked()
    assert daemon.asked() == []
    daemon.fails("run_sweep", SWEPT)
    assert daemon.asked() == []
    swept("a", "b")
    daemon.fails("run_sweep", SWEPT)
    assert daemon.run_what_is_asked()
    assert daemon.asked() == []
    assert run_ids_of(daemon.graph) == {"a", "b"}


def test_a_retry_that_ends_well_is_followed_by_automation_alone(daemon, swept):
    cursor, _ = requested(daemon.graph)
    swept("a")
    daemon.fails("run_sweep", SWEPT)
    swept("b", error=None)
    config = {"ops": {"sweep": {"config": {"recipes": [next(iter(chosen(simulated_recipes(), "h100", ())))]}}}}
    assert daemon.run(dg.RunRequest(job_name="run_sweep", partition_key=SWEPT, run_config=config))
    assert daemon.asked() == []
    assert requested(daemon.graph, cursor)[1]["raw_results"] == {SWEPT}


def test_a_sweep_that_was_killed_or_stopped_is_derived_as_well(daemon, swept):
    swept("a", error=None)
    daemon.graph.runs.run("run_sweep", partition=SWEPT)
    daemon.graph.derive(SWEPT)
    job = daemon.graph.definitions.resolve_job_def("run_sweep")
    for end in (daemon.graph.instance.report_run_failed, daemon.graph.instance.report_run_canceled):
        run = daemon.graph.instance.create_run_for_job(job, tags={"dagster/partition": SWEPT})
        assert daemon.asked() == []
        put_point(daemon.graph, run.run_id)
        end(run)
        assert daemon.run_what_is_asked()
        assert run.run_id in run_ids_of(daemon.graph)


def put_point(graph: Graph, run_id: str) -> None:
    cell = parse_cell(SWEPT)
    (row,) = curve(CURVE[0], gpu=cell.gpu, run_date=cell.run_date, run_id=run_id, provenance="simulated")
    outside(graph.home).sweep_store.put(cell, run_id, row | {"point_id": run_id}, {})


def test_a_sweep_that_left_nothing_is_looked_at_once_and_asks_for_nothing(daemon, swept):
    swept()
    daemon.fails("run_sweep", SWEPT)
    assert daemon.asked() == []
    (run,) = daemon.graph.instance.get_runs()
    assert json.loads(daemon.cursor) == [run.run_id]


def test_a_failed_derivation_of_an_import_is_asked_for_again_and_its_pages_follow(graph, full_disk):
    box, daemon = Box(graph), Daemon(graph)
    box.put("import.toml", DECLARED)
    box.put("result.json", json.dumps(vllm_row()))
    box.run(box.settle()[0])
    (derive,) = box.look().run_requests
    box.run(derive)
    run_id = graph.instance.get_runs(dg.RunsFilter(job_name="derive_cell"))[0].run_id
    assert f"derive_cell {IMPORTED} failed (run {run_id[:8]}) and is asked for again at 2" in daemon.says()
    full_disk()
    daemon.ahead = WAITS[0] + MINUTE
    (again,) = daemon.look().run_requests
    assert (again.job_name, again.partition_key) == ("derive_cell", IMPORTED)
    assert again.tags == {"frontier/why": f"run {run_id[:8]} failed; try 1 again", TRY_TAG: "1"}
    assert daemon.run(again)
    assert daemon.says() == "Nothing is left behind."


def test_each_failure_in_a_row_waits_longer_and_the_last_wait_stays(daemon, full_disk):
    cell = daemon.graph.seed(*CURVE)
    daemon.fails("derive_cell", cell)
    for n_tries, wait in enumerate((*WAITS, WAITS[-1]), start=1):
        daemon.ahead = wait - MINUTE
        assert daemon.asked() == []
        daemon.ahead = wait + MINUTE
        (request,) = daemon.look().run_requests
        assert request.tags[TRY_TAG] == str(n_tries)
        assert not daemon.run(request)


def test_the_same_failure_is_asked_for_under_one_key_and_nothing_while_that_run_waits(daemon, full_disk):
    cell = daemon.graph.seed(*CURVE)
    daemon.fails("derive_cell", cell)
    daemon.ahead = WAITS[0] + MINUTE
    first, second = (daemon.look().run_requests[0] for _ in range(2))
    assert first.run_key == second.run_key
    job = daemon.graph.definitions.resolve_job_def("derive_cell")
    daemon.graph.instance.create_run_for_job(job, tags={"dagster/partition": cell})
    assert daemon.asked() == []


def test_what_a_person_stopped_is_not_asked_for_again(daemon):
    cell = daemon.graph.seed(*CURVE)
    job = daemon.graph.definitions.resolve_job_def("derive_cell")
    run = daemon.graph.instance.create_run_for_job(job, tags={"dagster/partition": cell})
    daemon.graph.instance.report_run_canceled(run)
    daemon.ahead = WAITS[-1]
    assert daemon.says() == "Nothing is left behind."


def test_pages_and_the_site_that_failed_are_asked_for_again(daemon, monkeypatch):
    daemon.graph.derive(daemon.graph.seed(*CURVE))
    with monkeypatch.context() as patch:
        patch.setattr("resources.page_store.PageStore.write", lambda *_: 1 / 0)
        daemon.fails("build_pages", "b300")
    with monkeypatch.context() as patch:
        patch.setattr("resources.site.swap_folder", lambda *_: 1 / 0)
        daemon.fails("publish_site")
    daemon.ahead = WAITS[0] + MINUTE
    pages, site = daemon.look().run_requests
    assert [(pages.job_name, pages.partition_key), (site.job_name, site.partition_key)] == [
        ("build_pages", "b300"),
        ("publish_site", None),
    ]
    assert daemon.run(pages)
    assert daemon.run(site)
    assert daemon.says() == "Nothing is left behind."


def test_of_many_failures_some_are_asked_for_at_a_time(daemon, full_disk):
    days = [dt.date(2026, 9, 1) + dt.timedelta(days=n) for n in range(N_AT_ONCE + 2)]
    job = daemon.graph.definitions.resolve_job_def("derive_cell")
    for day in days:
        run = daemon.graph.instance.create_run_for_job(job, tags={"dagster/partition": f"b300|{day}"})
        daemon.graph.instance.report_run_failed(run, "its process is gone")
    daemon.ahead = WAITS[0] + MINUTE
    assert len(daemon.asked()) == N_AT_ONCE
    waiting = dg.DagsterRun(
        job_name="derive_cell", status=dg.DagsterRunStatus.STARTED, tags={"dagster/sensor_name": "catch_up"}
    )
    daemon.graph.instance.add_run(waiting)
    assert len(daemon.asked()) == N_AT_ONCE - 1


def test_every_cell_of_a_failed_backfill_is_asked_for(daemon, full_disk):
    cells = [daemon.graph.seed(*CURVE, name=f"{day}.json", run_date=dt.date(2026, 9, day)) for day in (1, 2)]
    ends = dict(zip(("dagster/asset_partition_range_start", "dagster/asset_partition_range_end"), cells, strict=True))
    daemon.fails("derive_cell", **ends)
    daemon.ahead = WAITS[0] + MINUTE
    assert daemon.asked() == [("derive_cell", cell) for cell in cells]


def test_what_it_asks_for_is_what_the_jobs_take(daemon, full_disk):
    cell = daemon.graph.seed(*CURVE)
    daemon.fails("derive_cell", cell)
    daemon.ahead = WAITS[0] + MINUTE
    definitions = build_defs(Path(daemon.graph.home))
    for request in daemon.look().run_requests:
        dg.validate_run_config(definitions.resolve_job_def(request.job_name), request.run_config)
