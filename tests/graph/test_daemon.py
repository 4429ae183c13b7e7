"""Once for real: the daemon, a new price, and the site that follows."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
import pytest

from pipeline.definitions import CHECKOUT
from resources.dagster_runs import open_instance
from tests.graph.conftest import graph_at

pytestmark = pytest.mark.daemon

PATIENCE_S = 240


@contextmanager
def daemon(
    environment: dict[str, str], log: Path, module: str = "dagster._daemon", workspace: str | Path = "workspace.yaml"
):
    """`dagster-daemon run` in a session of its own, ended with everything that it started."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, "run", "-w", str(workspace)],
            cwd=CHECKOUT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(condition, what: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not happen within {PATIENCE_S} s\n{log.read_text()[-3000:]}")
        time.sleep(1)


def what_ran(instance: dg.DagsterInstance, seen: set[str]) -> set[str]:
    """Assets, or else the job, of every run that was not there before."""
    runs = [run for run in instance.get_runs() if run.run_id not in seen]
    return {"+".join(sorted(k.to_user_string() for k in r.asset_selection or ())) or r.job_name for r in runs}


def test_a_new_price_reaches_the_site_and_starts_nothing_else(tmp_path):
    home = tmp_path / "home"
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "FRONTIER_HOME": str(home),
        "FRONTIER_PRICES": str(home / "prices.csv"),
        "DAGSTER_HOME": str(home / "dagster"),
    }
    page = home / "site/run/deepseek_v4_1_flash-on-b300/data.json"
    log = tmp_path / "daemon.log"
    with open_instance(home) as instance:
        graph = graph_at(home, instance)
        cell = graph.seed((60.0, 9000.0), (90.0, 7000.0))
        graph.runs.run("observe_prices")
        graph.derive(cell)
        graph.publish()
        seen = {run.run_id for run in instance.get_runs()}
        assert '"usd_per_gpu_hour": 4.25' in page.read_text()
        with daemon(environment, log):
            wait_for(lambda: "automation" in log.read_text(), "the first tick", log)
            price = ["prices", "add", "b300", "retail", "5.55", "--from", "2026-10-20", "--source", "quote"]
            frontier = [sys.executable, "-m", "pipeline.cli", *price, "--no-publish"]
            subprocess.run(frontier, cwd=CHECKOUT, env=environment, check=True, capture_output=True)
            wait_for(lambda: '"usd_per_gpu_hour": 5.55' in page.read_text(), "the new price on the page", log)
        assert what_ran(instance, seen) == {"observe_prices", "cost_tables", "page_data", "site"}
