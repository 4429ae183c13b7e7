"""A run whose process is gone is closed; one that lives, or is of another host, is left alone."""

import json
import subprocess
import sys

import dagster as dg
import pytest

from resources.lost_runs import GONE, PROCESS_TAG, close_lost_runs, is_lost, own_process_tag, process_tag
from resources.run_launcher import WatchedRunLauncher


@dg.op
def nothing() -> None:
    """Nothing."""


@dg.job
def small() -> None:
    nothing()


@pytest.fixture
def instance():
    with dg.instance_for_test() as made:
        yield made


def started(instance: dg.DagsterInstance, tags: dict[str, str]) -> dg.DagsterRun:
    return instance.create_run_for_job(small, tags=tags, status=dg.DagsterRunStatus.STARTED)


def gone() -> dict[str, str]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    tag = process_tag(process.pid)
    process.communicate()
    return tag


def test_a_run_of_a_process_that_is_gone_is_closed_and_says_what_to_do(instance):
    run, alive = started(instance, gone()), started(instance, own_process_tag())
    assert close_lost_runs(instance) == [run.run_id]
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE
    assert instance.get_run_by_id(alive.run_id).status == dg.DagsterRunStatus.STARTED
    assert any(entry.message == GONE for entry in instance.all_logs(run.run_id))


@pytest.mark.parametrize("tag", ["", "[]", "half a", json.dumps({"host": "another", "pid": 1, "started_s": 0.0})])
def test_a_run_of_another_host_or_without_a_name_is_left_alone(instance, tag):
    assert not is_lost(started(instance, {PROCESS_TAG: tag}))
    assert not is_lost(started(instance, {}))


def test_the_launcher_knows_its_runs_by_the_process_that_they_report(instance):
    launcher = WatchedRunLauncher()
    launcher.register_instance(instance)
    assert launcher.supports_check_run_worker_health
    done = small.execute_in_process(instance=instance)
    run = instance.get_run_by_id(done.run_id)
    assert PROCESS_TAG not in run.tags
    assert launcher.check_run_worker_health(run).status.name == "RUNNING"
    assert json.loads(instance.get_run_by_id(done.run_id).tags[PROCESS_TAG])["pid"] > 0
    lost = started(instance, gone())
    assert launcher.check_run_worker_health(lost).status.name == "FAILED"
