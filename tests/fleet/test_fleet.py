"""Two GPU hosts on Celery and PostgreSQL: placement, what happens when a worker or a connection dies, the same bytes.

Every test sweeps on days of its own. The stand-in of the simulator waits where a test says, so that nothing depends on
how fast anything is.
"""

import datetime as dt
import subprocess

import dagster as dg
import psutil
import pytest

from pipeline.automation.sweep_requests import ACTIVE
from pipeline.cell import GpuRun
from pipeline.tables.points import POINTS
from resources.fleet_launcher import TAKEN_UP
from resources.result_store import ResultStore
from tests.fleet.conftest import QUEUES, TERMINATE, Fleet, on_one_machine
from tests.fleet.machines import unit_command
from tests.fleet.services import PASSWORD

pytestmark = pytest.mark.fleet

STARTED, SUCCESS = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS
FAILURE, CANCELED = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED
QUEUED = dg.DagsterRunStatus.QUEUED


def day(number: int) -> dt.date:
    return dt.date(2026, 3, number)


def held_sweep(fleet: Fleet, gpu: str, on: dt.date) -> str:
    """A sweep with two points stored that waits at its third."""
    fleet.hold_at(3)
    run_id = fleet.launch(gpu, on)
    fleet.wait(lambda: fleet.n_asked() == 3, "the third point")
    return run_id


def n_points(files: dict[str, bytes]) -> int:
    return sum("points" in name for name in files)


def working(fleet: Fleet, queue: str) -> psutil.Process:
    """The process of a worker that has the simulator as its child."""
    (found,) = [
        p
        for p in fleet.machines.children(queue)
        if any("simulator_child" in " ".join(c.cmdline()) for c in p.children())
    ]
    return found


def test_two_sweeps_run_at_the_same_time_each_on_the_worker_of_its_gpu(calm, tmp_path):
    calm.hold_at(1)
    runs = {gpu: calm.launch(gpu, day(1)) for gpu in QUEUES}
    calm.wait(lambda: calm.n_asked() == 2, "both sweeps at their first point")
    assert {gpu: calm.run(run_id).status for gpu, run_id in runs.items()} == dict.fromkeys(QUEUES, STARTED)
    pids = {working(calm, queue).pid for queue in QUEUES.values()}
    assert len(pids) == 2
    calm.go_on()
    for gpu, run_id in runs.items():
        calm.until(run_id, SUCCESS)
        assert calm.worker_of(run_id).partition("@")[0] == QUEUES[gpu]
        assert calm.swept(gpu, day(1)) == on_one_machine(tmp_path / gpu, gpu, day(1)) != {}


def test_a_cell_is_derived_from_the_points_of_a_host_that_shares_no_disk(calm):
    calm.until(calm.launch("b300", day(13)), SUCCESS)
    assert calm.swept("b300", day(13)) != {}
    derived = calm.launch_job("derive_cell", "b300", day(13), {})
    calm.until(derived, SUCCESS)
    assert calm.worker_of(derived).partition("@")[0] == "dagster"
    here = ResultStore(root_dir=str(calm.home / "store")).read("raw", GpuRun("b300", day(13)), POINTS)
    assert here.num_rows == n_points(calm.swept("b300", day(13)))


def test_a_second_sweep_of_a_gpu_waits_for_the_end_of_the_first(calm):
    first = held_sweep(calm, "h100", day(2))
    second = calm.launch("h100", day(3))
    other = calm.launch("b300", day(2))
    calm.wait(lambda: calm.run(other).status == STARTED, "a sweep of another GPU, asked for later")
    assert (calm.run(first).status, calm.run(second).status) == (STARTED, QUEUED)
    calm.go_on()
    for run_id in (first, second, other):
        calm.until(run_id, SUCCESS)


def test_a_run_whose_process_is_killed_is_taken_up_where_it_stopped(calm, tmp_path):
    run_id = held_sweep(calm, "h100", day(4))
    assert len(calm.swept("h100", day(4))) == 2
    working(calm, QUEUES["h100"]).kill()
    calm.wait(lambda: TAKEN_UP in calm.told(run_id), "another process")
    calm.go_on()
    calm.until(run_id, SUCCESS)
    n_asked, swept = calm.n_asked(), calm.swept("h100", day(4))
    assert n_asked == n_points(swept) + 1
    assert swept == on_one_machine(tmp_path, "h100", day(4))


def test_a_run_whose_whole_host_is_lost_is_taken_up_when_its_worker_is_back(calm, tmp_path):
    run_id = held_sweep(calm, "b300", day(5))
    calm.machines.kill(QUEUES["b300"])
    elsewhere = calm.launch("h100", day(5))
    calm.go_on()
    calm.until(elsewhere, SUCCESS)
    assert calm.run(run_id).status == STARTED
    calm.start_worker(QUEUES["b300"])
    calm.until(run_id, SUCCESS)
    assert TAKEN_UP in calm.told(run_id)
    assert calm.swept("b300", day(5)) == on_one_machine(tmp_path, "b300", day(5))


def test_a_run_that_kills_every_worker_fails_and_the_next_one_goes_on_from_there(calm, tmp_path):
    run_id = held_sweep(calm, "h100", day(6))
    for n_taken_up in range(4):
        calm.wait(lambda n=n_taken_up: calm.told(run_id).count(TAKEN_UP) == n and calm.n_asked() == 3 + n, "an attempt")
        working(calm, QUEUES["h100"]).kill()
    calm.until(run_id, FAILURE)
    assert "Its worker was lost 4 times" in calm.told(run_id)
    assert len(calm.swept("h100", day(6))) == 2
    calm.go_on()
    calm.until(calm.launch("h100", day(6)), SUCCESS)
    assert calm.swept("h100", day(6)) == on_one_machine(tmp_path, "h100", day(6))


def test_a_sweep_does_not_notice_that_the_broker_is_restarted_and_the_next_one_runs(calm):
    run_id = held_sweep(calm, "h100", day(7))
    calm.redis.stop()
    calm.redis.start()
    calm.go_on()
    calm.until(run_id, SUCCESS)
    calm.until(calm.launch("h100", day(8)), SUCCESS)


def test_a_sweep_goes_on_when_the_database_is_back_from_an_outage_that_it_did_not_survive(calm, tmp_path):
    run_id = held_sweep(calm, "b300", day(9))
    calm.postgres.stop()
    calm.go_on()
    calm.wait(lambda: "retry: Retry in" in calm.machines.log(QUEUES["b300"]), "the end of its patience")
    calm.postgres.start()
    calm.until(run_id, SUCCESS)
    assert TAKEN_UP in calm.told(run_id)
    assert calm.swept("b300", day(9)) == on_one_machine(tmp_path, "b300", day(9))
    calm.wait(calm.answers, "the web server")
    calm.until(calm.launch("b300", day(10)), SUCCESS)


def test_a_sweep_that_is_terminated_is_canceled_and_its_gpu_is_free(calm):
    run_id = held_sweep(calm, "h100", day(11))
    pid = working(calm, QUEUES["h100"]).pid
    assert calm.ask(TERMINATE, id=run_id)["terminateRun"]["__typename"] == "TerminateRunSuccess"
    calm.until(run_id, CANCELED)
    calm.wait(lambda: not psutil.pid_exists(pid), "the end of its process")
    calm.go_on()
    calm.until(calm.launch("h100", day(11)), SUCCESS)


def test_the_command_line_works_on_the_instance_of_the_fleet(calm, environment):
    asked = subprocess.run(
        unit_command("frontier-worker@.service", "ExecStartPre"),
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "runs in PostgresRunStorage, started by FleetRunLauncher" in asked.stdout


def test_no_password_is_on_the_broker_in_a_log_or_with_a_run(calm):
    run_id = calm.launch("h100", day(12))
    calm.until(run_id, SUCCESS)
    kept = [p for p in calm.folder.rglob("*") if p.is_file() and calm.postgres.folder not in p.parents]
    assert calm.redis.folder / "appendonlydir" in {p.parent for p in kept}
    assert [p for p in kept if PASSWORD.encode() in p.read_bytes()] == []
    assert PASSWORD not in calm.told(run_id) + repr(calm.run(run_id))


def test_nothing_is_left_that_anybody_would_wait_for(calm):
    calm.wait(lambda: not calm.instance.get_runs(dg.RunsFilter(statuses=ACTIVE)), "the end of every run")
    assert list(calm.folder.glob("*/dagster/at_work/*")) == []
    assert "Traceback" not in calm.machines.log("dagster")
