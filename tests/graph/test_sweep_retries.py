"""What is retried: a failure that a retry can mend, as often as the run's tag says; never a refusal or a defect."""

from collections.abc import Callable

import dagster as dg
import pytest
from dagster._core.events import RunFailureReason
from dagster._core.execution.retries import auto_reexecution_should_retry_run

from pipeline.automation.sweep_requests import RETRIES_TAG, sweep_request
from pipeline.cell import parse_cell
from pipeline.errors import DeviceError, EngineError, SimulatorError
from pipeline.sweep.plan import Swept
from resources.dagster_runs import open_instance
from tests.graph.conftest import AS_OF

CELL = f"h100|{AS_OF}"
SAID = {"where": "h100", "next_step": "Wait."}
IN_USE = DeviceError("is in use by another sweep", **SAID, kind="in_use")
QUARANTINED = DeviceError("is quarantined", **SAID)
OUT_OF_MEMORY = EngineError("the server did not start: it ran out of memory", **SAID, kind="out_of_memory")
ENDED = SimulatorError("it ended without an answer", **SAID, kind="crashed")


@pytest.fixture
def attempts(graph, monkeypatch) -> Callable[..., tuple[int, dg.ExecuteInProcessResult]]:
    """Runs a sweep that fails with the error so many times; returns the number of attempts and the result."""
    monkeypatch.setattr("assets.sweep.WAIT_S", 0.01)

    def run(error: Exception, n_failures: int, **tags: str) -> tuple[int, dg.ExecuteInProcessResult]:
        tried = []

        def simulate(*_: object) -> Swept:
            tried.append(1)
            if len(tried) <= n_failures:
                raise error
            return Swept(0, ())

        monkeypatch.setattr("assets.sweep.simulate", simulate)
        result = graph.definitions.resolve_job_def("run_sweep").execute_in_process(
            instance=graph.instance,
            partition_key=CELL,
            run_config={"ops": {"sweep": {"config": {"kind": "simulated"}}}},
            tags=tags,
            raise_on_error=False,
        )
        return len(tried), result

    return run


RETRIED = {RETRIES_TAG: "2"}


@pytest.mark.parametrize("error", [IN_USE, ENDED, ConnectionResetError("by peer")], ids=str)
def test_a_failure_that_passes_is_tried_again_in_the_same_run(attempts, error):
    n_attempts, result = attempts(error, 2, **RETRIED)
    assert (n_attempts, result.success) == (3, True)


def test_a_failure_that_stays_ends_the_run_with_its_own_sentence_after_the_last_retry(attempts):
    n_attempts, result = attempts(IN_USE, 9, **RETRIED)
    assert (n_attempts, result.success) == (3, False)
    (failure,) = (event for event in result.all_events if event.is_step_failure)
    assert "is in use by another sweep" in failure.step_failure_data.error.to_string()
    assert "max_retries" not in failure.step_failure_data.error.message


@pytest.mark.parametrize("error", [QUARANTINED, OUT_OF_MEMORY, ValueError("a defect")], ids=str)
def test_a_failure_that_a_retry_cannot_mend_ends_the_run_at_once(attempts, error):
    n_attempts, result = attempts(error, 1, **RETRIED)
    assert (n_attempts, result.success) == (1, False)


def test_a_person_who_asks_for_a_sweep_is_told_at_once(attempts):
    assert attempts(IN_USE, 1)[0] == 1


def test_a_refused_past_day_is_not_retried(attempts, graph):
    result = graph.definitions.resolve_job_def("run_sweep").execute_in_process(
        instance=graph.instance, partition_key="h100|2026-10-31", tags=RETRIED, raise_on_error=False
    )
    assert not result.success
    assert not [event for event in result.all_events if event.is_step_up_for_retry]


@pytest.mark.parametrize(
    ("tags", "reason", "is_retried"),
    [
        (RETRIED, RunFailureReason.RUN_EXCEPTION, True),  # the process of the run died
        (RETRIED, RunFailureReason.STEP_FAILURE, False),  # the sweep has decided about that itself
        ({}, RunFailureReason.RUN_EXCEPTION, False),
    ],
)
def test_the_daemon_runs_a_requested_sweep_again_whose_process_died_and_no_other_run(
    tmp_path, monkeypatch, tags, reason, is_retried
):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with open_instance(tmp_path) as instance:
        run = dg.DagsterRun(job_name="run_sweep", status=dg.DagsterRunStatus.FAILURE, tags=tags)
        instance.add_run(run)
        assert auto_reexecution_should_retry_run(instance, run, reason) == is_retried


def test_what_is_requested_carries_the_tag():
    request = sweep_request(parse_cell(CELL), run_key="a", why="test")
    assert request.tags[RETRIES_TAG] == "2"
