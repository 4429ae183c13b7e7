"""Whole sweeps of the small model on real vLLM and real SGLang: measured, killed, run again, cancelled, refused.

One test's result is what the next ones compare with, so that a server is started as rarely as possible.
"""

import datetime as dt
import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.cell import GpuRun
from pipeline.definitions import CHECKOUT
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep.stop_rule import ABOVE, BELOW
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES
from resources.processes import dead_segments
from resources.server_answers import free_port
from tests.engines.short_recipes import LOAD, RUNGS, SHIPPED
from tests.engines.sweep_process import PATIENCE_S, Swept, swept_at, versions_of, wait_for

pytestmark = pytest.mark.engines

CELL = GpuRun("cpu", dt.date(2026, 11, 1))


BUSY_HOST = {"off_target_concurrency", "client_bound"}
"""Reasons of a point that was measured while something else had the host's cores: true, and no fault of the sweep."""


READ_AT_ONCE = {"implausible_tpot", "percentile_missing"}
"""What follows where a client-bound one read most outputs at once: their TPOT is 0."""


def faults(row: dict) -> set[str]:
    """The reasons of a point that a busy host does not explain."""
    reasons = set(row["reasons"])
    return reasons - BUSY_HOST - (READ_AT_ONCE if "client_bound" in reasons else set())


def came_to_its_end(run: dict, rows: list[dict]) -> bool:
    """Whether nothing but what was measured ended the ladder; an invalid point may have, where the host was busy."""
    broken_off = {"unfinished", "engine_ended", "too_many_failed"}
    if not any(row["reasons"] for row in rows):
        broken_off.add("invalid_point")
    return run["stopped_above"] in ABOVE.keys() - broken_off and run["stopped_below"] in BELOW.keys() - broken_off


@pytest.fixture(scope="module")
def shared(tmp_path_factory, engines, built_of) -> Path:
    """Builds, the made model, and the load client's own error, which the first sweep measures for all."""
    for slug in ("aiperf", *(measured_recipes()[recipe].build for recipe in SHIPPED.values())):
        built_of(slug)
    folder = tmp_path_factory.mktemp("shared")
    (folder / "builds").symlink_to(engines.root_dir)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory, shared):
    """A fresh home folder by name; afterwards nothing is left of what ran on it."""
    root = tmp_path_factory.mktemp("homes")

    def at(name: str):
        return swept_at(root / name, shared, CELL)

    return at


@pytest.fixture(scope="module")
def whole(home):
    """An undisturbed sweep of an engine, once for all tests that compare with it."""
    done: dict[str, Swept] = {}
    open_homes = []

    def of(engine: str) -> Swept:
        if engine not in done:
            open_homes.append(home(engine))
            swept = open_homes[-1].__enter__()
            code, said = swept.run(engine)
            assert code == 0, said
            done[engine] = swept
        return done[engine]

    yield of
    for opened in open_homes:
        opened.__exit__(None, None, None)


@pytest.mark.parametrize("engine", SHIPPED)
def test_a_whole_sweep_is_measured_and_agrees_with_the_engines_counters(whole, engine):
    swept = whole(engine)
    rows = swept.rows()
    assert [(row["concurrency"], row["attempt"], faults(row)) for row in rows] == [(c, 1, set()) for c in RUNGS]
    assert any(row["valid"] for row in rows)
    for row in rows:
        assert (row["valid"], row["provenance"], row["engine"]) == (not row["reasons"], "measured", engine)
        assert row["n_requested"] == row["n_successful"] + row["n_failed"] + row["n_cancelled"]
        assert row["n_successful"] >= 2 * row["concurrency"]
        assert (row["n_repeats"], row["n_failed"]) == (LOAD.repeats, 0)
        if "off_target_concurrency" not in row["reasons"]:
            assert row["achieved_concurrency"] == pytest.approx(row["concurrency"], rel=0.1)
        # The counters hold the warm-up too, and what the windows cut off.
        assert row["server_output_tok"] >= row["output_tok"] == 64 * row["n_successful"]
        assert row["server_input_tok"] >= row["input_tok"] == pytest.approx(256 * row["n_successful"], rel=0.01)
        assert row["throughput_tok_s_gpu"] > 0
        assert row["client_error_share"] is not None
    n_seen = {table.name: swept.read(table).num_rows for table in (REPEATS, REQUESTS, SAMPLES)}
    assert n_seen["repeats"] == LOAD.repeats * len(RUNGS)
    assert n_seen["requests"] > sum(row["n_requested"] for row in rows)  # warm-up requests are recorded
    assert n_seen["samples"] >= len(RUNGS) * LOAD.repeats * LOAD.window_s
    assert swept.left() == []


@pytest.mark.parametrize("engine", SHIPPED)
def test_a_whole_sweep_leaves_one_run_that_says_why_it_stopped(whole, engine):
    swept = whole(engine)
    (run,) = swept.read(RUNS).to_pylist()
    assert {row["run_id"] for row in swept.rows()} == {run["run_id"]}
    assert came_to_its_end(run, swept.rows())
    assert run["n_points"] == len(RUNGS)
    assert "made:small" in run["launch_line"]
    assert str(swept.home) not in run["launch_line"]
    assert 0 < run["measured_s"] < run["wall_s"]


@pytest.fixture(scope="module")
def resumed(home):
    """vLLM: while its server starts, a second sweep asks for the device. Killed in the second point, then run again,
    beside a recipe with a flag that vLLM does not know."""
    with home("resumed") as swept, home("second") as second:
        run = swept.start("vllm", ladder=2)
        swept.wait_until(swept.server, "the first server")
        story = {"second": second.run("vllm", FRONTIER_DEVICES=str(swept.home / "devices"))}
        swept.wait_until(lambda: swept.is_measuring(1), "the second point")
        story["first"] = swept.files()
        run.kill()
        run.wait()
        story["again"] = swept.run("wrong_flag", "vllm", ladder=2)
        yield swept, story


def test_a_killed_sweep_goes_on_where_it_was_and_ends_as_an_undisturbed_one(resumed, whole):
    swept, story = resumed
    assert [(row["concurrency"], row["attempt"]) for row in swept.rows()] == [(1, 1), (2, 1)]
    assert [faults(row) for row in swept.rows()] == [set(), set()]
    undisturbed = whole("vllm")
    expected = undisturbed.names(1, 2)
    assert swept.names() == expected
    assert {name.split(".")[0] for name in story["first"]} == undisturbed.names(1)
    assert story["first"].items() <= swept.files().items()
    assert len({(row["run_id"], row["run_started_at"]) for row in swept.rows()}) == 1
    (run,) = swept.read(RUNS).to_pylist()
    assert came_to_its_end(run, swept.rows())
    assert swept.left() == []


def test_a_second_sweep_on_the_device_is_refused_and_the_first_goes_on(resumed):
    _, story = resumed
    code, said = story["second"]
    assert code == 1
    assert "error: cpu: is in use by another sweep" in said
    assert "Traceback" not in said
    assert story["first"]


def test_a_recipe_with_a_wrong_flag_is_told_and_the_other_is_measured(resumed):
    swept, story = resumed
    code, said = story["again"]
    assert code == 1
    assert "1 of its recipes failed; every point that was finished is stored" in said
    assert "--max-running-sequences" in said
    assert "Traceback" not in said


@pytest.fixture(scope="module")
def crashed(home):
    """vLLM: the load client is killed in the first point and the server in the second; then run again."""
    with home("crashed") as swept:
        run = swept.start("vllm", ladder=2)
        swept.wait_until(lambda: swept.is_measuring(0), "the first point")
        swept.client().kill()
        swept.wait_until(lambda: swept.is_measuring(1), "the second point")
        swept.server().kill()
        code = run.wait(60)
        story = {"code": code, "rows": swept.rows(), "files": swept.files(), "left": swept.left()}
        story["again"] = swept.run("vllm", ladder=2)
        yield swept, story


def test_a_crash_in_a_point_is_a_row_and_the_sweep_comes_to_its_end(crashed):
    _, story = crashed
    assert story["code"] == 0
    assert [(row["concurrency"], row["valid"]) for row in story["rows"]] == [(1, False), (2, False)]
    client_killed, server_killed = story["rows"]
    assert "load_ended" in client_killed["reasons"]
    assert "engine_ended" not in client_killed["reasons"]
    assert "engine_ended" in server_killed["reasons"]
    assert story["left"] == []


def test_the_next_run_measures_again_what_was_broken_off_and_keeps_the_rows(crashed):
    swept, story = crashed
    assert story["again"][0] == 0, story["again"][1]
    rows = swept.rows()
    assert [(row["concurrency"], row["attempt"]) for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [faults(row) for row in rows if row["attempt"] == 2] == [set(), set()]
    assert story["files"].items() <= swept.files().items()
    (run,) = swept.read(RUNS).to_pylist()
    assert came_to_its_end(run, [row for row in swept.rows() if row["attempt"] == 2])
    assert run["n_points"] == 4
    assert swept.left() == []


def test_terminating_the_run_in_the_ui_ends_what_it_started_and_leaves_nothing(home):
    with home("cancelled") as swept, _Ui(swept) as ask:
        run_id = _launch(ask, "vllm")
        wait_for(lambda: swept.is_measuring(0) or _status(ask, run_id) in ENDED, "the first point", PATIENCE_S)
        members = [process for process in swept.processes() if not swept.is_of_dagster(process)]
        assert len(members) > 4  # keeper, server with its workers, load generator with its own
        start_s = time.monotonic()
        assert ask(TERMINATE, {"runId": run_id})["terminateRun"]["__typename"] == "TerminateRunSuccess"
        wait_for(lambda: _status(ask, run_id) == "CANCELED", "the cancellation", 60)
        wait_for(lambda: not any(member.is_running() for member in members), "the end of what it started", 60)
        took_s = time.monotonic() - start_s
        print(f"cancelled within {took_s:.1f} s")
        assert swept.names() == set()
        assert swept.server() is None
        assert dead_segments(swept.since_s) == []  # what Dagster itself holds for its run is in use until it ends
    wait_for(lambda: swept.left_but_memory() == [], "an end without leftovers", 60)


ENDED = ("FAILURE", "SUCCESS", "CANCELED")
LAUNCH = """mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
TERMINATE = "mutation ($runId: String!) { terminateRun(runId: $runId) { __typename } }"
STATUS = "query ($runId: ID!) { runOrError(runId: $runId) { ... on Run { status } } }"


class _Ui:
    """Dagster's web server over the short sweep; gives a function that asks it a GraphQL question."""

    def __init__(self, swept: Swept):
        self._swept = swept
        self._port = free_port()

    def __enter__(self) -> Callable[[str, dict], dict]:
        folder = self._swept.home / "dagster"
        folder.mkdir()
        (folder / "dagster.yaml").write_text(
            "telemetry: {enabled: false}\n"
            "run_coordinator: {module: dagster._core.run_coordinator, class: DefaultRunCoordinator}\n"
        )
        place = {"module_name": "tests.engines.short_sweep", "working_directory": str(CHECKOUT)}
        (folder / "workspace.yaml").write_text(
            json.dumps({"load_from": [{"python_module": {**place, "location_name": "short"}}]})
        )
        command = [sys.executable, "-m", "dagster_webserver", "-w", str(folder / "workspace.yaml")]
        with (folder / "ui.log").open("wb") as said:
            self._process = subprocess.Popen(
                [*command, "-h", "127.0.0.1", "-p", str(self._port)],
                cwd=CHECKOUT,
                env=self._swept.variables(1, DAGSTER_HOME=str(folder)),
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        self._swept.started.append(self._process)
        wait_for(self._answers, "the UI", 180)
        return self._ask

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)

    def _answers(self) -> bool:
        try:
            return bool(self._ask("{ version }", {}))
        except OSError:
            return False

    def _ask(self, question: str, variables: dict) -> dict:
        body = json.dumps({"query": question, "variables": variables}).encode()
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"http://127.0.0.1:{self._port}/graphql", body, headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            said = json.load(answer)
        assert "errors" not in said, said["errors"]
        return said["data"]


def _launch(ask: Callable[[str, dict], dict], recipe: str) -> str:
    place = {"repositoryName": "__repository__", "repositoryLocationName": "short", "jobName": "run_sweep"}
    again = {"measure_again": True, "versions": versions_of([recipe])}
    config = {"ops": {"sweep": {"config": {"recipes": [recipe], "kind": "measured", **again}}}}
    day = CELL.run_date.isoformat()
    tags = {"dagster/partition": CELL.key, "dagster/partition/gpu": "cpu", "dagster/partition/run_date": day}
    params = {
        "selector": place,
        "runConfigData": config,
        "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
    }
    launched = ask(LAUNCH, {"params": params})["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    return launched["run"]["runId"]


def _status(ask: Callable[[str, dict], dict], run_id: str) -> str:
    return ask(STATUS, {"runId": run_id})["runOrError"]["status"]
