"""The caller's side of a Slurm job and of a Kubernetes Job, with stand-in programs in the place of a cluster.

Neither was ever run on a cluster: these tests show what this side asks and how it reads the answers.
"""

import datetime as dt
import json
import sys
from pathlib import Path

import pytest

from pipeline.cell import GpuRun
from pipeline.definitions import CHECKOUT
from pipeline.errors import HostError, SweepRefusedError
from pipeline.hosts.order import SweepOrder
from pipeline.registry.hosts import parse_hosts
from resources.kubernetes_job import KubernetesJobs
from resources.slurm_job import SlurmJobs
from tests.unit.registry.test_hosts import KUBERNETES, SLURM

CELL = GpuRun("h100", dt.date(2026, 11, 1))
ORDER = SweepOrder("cluster", CELL, (), {})
NAME = "frontier-sweep-h100-2026-11-01"
PROGRAMS = ("sbatch", "squeue", "sacct", "scancel", "kubectl")
ACTIVE = '{"status": {"active": 1}}\n'
COMPLETE = '{"status": {"conditions": [{"type": "Complete", "status": "True"}]}}\n'
FAILED = '{"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}}\n'


@pytest.fixture
def cluster(tmp_path, monkeypatch) -> Path:
    """A folder in a cluster's place; its programs are first on PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    fake = CHECKOUT / "tests" / "fakes" / "schedulers.py"
    for name in PROGRAMS:
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} -I {fake} {name} {tmp_path} "$@"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return tmp_path


def slurm(cluster: Path) -> SlurmJobs:
    host = parse_hosts(SLURM.replace('"/srv/home"', f'"{cluster}/home"'), "hosts.toml")["cluster"]
    return SlurmJobs("cluster", host, "", poll_s=0.01)


def kubernetes(results_url: str = "memory://results") -> KubernetesJobs:
    return KubernetesJobs("pods", parse_hosts(KUBERNETES, "hosts.toml")["pods"], results_url, poll_s=0.01)


def asked(cluster: Path) -> list[str]:
    return [line.split()[0] for line in (cluster / "asked").read_text().splitlines()]


def test_a_job_is_submitted_and_its_log_is_told_line_by_line(cluster):
    (cluster / "states").write_text("PENDING\nRUNNING\nRUNNING\n\n")
    (cluster / "said").write_text("---\none\ntw---\no\n---\nthree")
    (cluster / "outcome").write_text("COMPLETED|0:0\n")
    with slurm(cluster).running(ORDER, {}) as lines:
        assert list(lines) == ["one", "two", "three"]
    assert asked(cluster) == ["squeue", "sbatch", "squeue", "squeue", "squeue", "squeue", "sacct"]
    assert "#SBATCH --partition=gpu" in (cluster / "home/jobs" / f"{NAME}.sh").read_text()


def test_a_job_that_runs_already_is_followed_and_not_submitted_again(cluster):
    (cluster / "job").write_text("5")
    (cluster / "outcome").write_text("COMPLETED|0:0\n")
    with slurm(cluster).running(ORDER, {}) as lines:
        assert list(lines) == []
    assert "sbatch" not in asked(cluster)


def test_a_job_that_ends_otherwise_is_told_with_its_state(cluster):
    (cluster / "outcome").write_text("TIMEOUT|0:15\n")
    with (
        pytest.raises(HostError, match="cluster job 7: .* expected COMPLETED, found TIMEOUT 0:15"),
        slurm(cluster).running(ORDER, {}) as lines,
    ):
        list(lines)


def test_whatever_ends_the_caller_cancels_the_job_and_waits_for_its_end(cluster):
    (cluster / "states").write_text("RUNNING\n")
    with pytest.raises(KeyboardInterrupt), slurm(cluster).running(ORDER, {}):
        raise KeyboardInterrupt
    assert asked(cluster) == ["squeue", "sbatch", "scancel", "squeue"]


def test_a_scheduler_that_does_not_answer_is_named_with_what_it_said(cluster):
    (cluster / "away").touch()
    with (
        pytest.raises(HostError, match="cluster: squeue gives no answer; found exit code 1, the scheduler is away"),
        slurm(cluster).running(ORDER, {}),
    ):
        pass


def test_files_of_a_slurm_host_are_read_where_both_sides_see_them(cluster):
    folder = cluster / "home/store/sweeps/h100/2026-11-01"
    folder.mkdir(parents=True)
    (folder / "f1.points.parquet").write_bytes(b"PAR1")
    assert slurm(cluster).read(CELL, ["f1.points.parquet"]) == {"f1.points.parquet": b"PAR1"}
    with pytest.raises(HostError, match="a finished file cannot be read"):
        slurm(cluster).read(CELL, ["f2.points.parquet"])


def test_a_kubernetes_job_is_created_and_its_pods_log_is_told(cluster):
    (cluster / "states").write_text(ACTIVE + COMPLETE)
    (cluster / "said").write_text("one\ntwo")
    with kubernetes().running(ORDER, {"DAGSTER_PIPES_CONTEXT": "abc"}) as lines:
        assert list(lines) == ["one", "two"]
    manifest = json.loads((cluster / "manifest.json").read_text())
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    assert {"name": "DAGSTER_PIPES_CONTEXT", "value": "abc"} in container["env"]
    assert {"name": "FRONTIER_RESULTS", "value": "memory://results"} in container["env"]


def test_a_kubernetes_job_that_runs_already_is_followed_and_one_that_ended_is_replaced(cluster):
    (cluster / "job").write_text(NAME)
    (cluster / "states").write_text(ACTIVE + COMPLETE)
    with kubernetes().running(ORDER, {}) as lines:
        list(lines)
    assert not (cluster / "manifest.json").exists()
    (cluster / "states").write_text(FAILED + COMPLETE)
    with kubernetes().running(ORDER, {}) as lines:
        list(lines)
    assert (cluster / "manifest.json").exists()


def test_a_kubernetes_job_that_fails_or_is_deleted_is_told_with_its_reason(cluster):
    (cluster / "states").write_text(FAILED)
    with pytest.raises(HostError, match="DeadlineExceeded"), kubernetes().running(ORDER, {}) as lines:
        list(lines)
    (cluster / "states").write_text(ACTIVE)
    with kubernetes().running(ORDER, {}) as lines:
        (cluster / "job").unlink()
        with pytest.raises(HostError, match="deleted by somebody"):
            list(lines)


def test_whatever_ends_the_caller_deletes_the_kubernetes_job(cluster):
    with pytest.raises(KeyboardInterrupt), kubernetes().running(ORDER, {}):
        raise KeyboardInterrupt
    assert not (cluster / "job").exists()


def test_pods_without_an_object_store_are_refused(cluster):
    with pytest.raises(SweepRefusedError, match="no object store is named"), kubernetes("").running(ORDER, {}):
        pass
