"""What is written for other hosts: one word stays one, and every fact of a block is where its reader expects it."""

import datetime as dt
import shlex

from pipeline.cell import GpuRun
from pipeline.hosts import kubernetes, slurm
from pipeline.hosts.order import SweepOrder
from pipeline.hosts.ssh import connection, files_words, sweep_words
from pipeline.registry.hosts import parse_hosts
from tests.unit.registry.test_hosts import KUBERNETES, SLURM, SSH

CELL = GpuRun("rtx5090", dt.date(2026, 11, 1))
ORDER = SweepOrder("rack_b", CELL, ("a", "b"), {"vllm_cuda": "0.33.1"})
PIPES = {"DAGSTER_PIPES_CONTEXT": "eJw+/=="}
HOSTS = parse_hosts(SSH + SLURM + KUBERNETES, "hosts.toml")
ASKED = [
    *("sweep", "rtx5090", "--run-date=2026-11-01", "--kind=measured", "--again", "--no-publish", "--to-caller"),
    *("--recipe=a", "--recipe=b", "--release=vllm_cuda=0.33.1"),
]


def test_an_order_is_the_command_line_of_the_same_sweep():
    assert list(ORDER.arguments) == ASKED
    assert SweepOrder("x", CELL, (), {}, repetition=2).arguments[-1] == "--repetition=2"
    assert SweepOrder("x", GpuRun("h100_pcie", CELL.run_date), (), {}).name == "frontier-sweep-h100-pcie-2026-11-01"


def test_a_connection_checks_the_host_key_and_asks_nobody():
    words = connection(HOSTS["rack_b"], "/etc/frontier/ssh_config")
    assert words[:4] == ("ssh", "-F", "/etc/frontier/ssh_config", "-T")
    assert words[-5:] == ("-p", "22", "-l", "bench", "b.example.org")
    assert {"StrictHostKeyChecking=yes", "BatchMode=yes"} < set(words)


def test_the_command_over_ssh_is_the_sweep_itself_and_ends_with_its_input():
    place, command = sweep_words(HOSTS["rack_b"], ORDER, PIPES).split(" && exec ")
    assert place == "cd /srv/frontier"
    assert shlex.split(command) == [
        *("env", "FRONTIER_HOST=rack_b", "PYTHONUNBUFFERED=1", "DAGSTER_PIPES_CONTEXT=eJw+/=="),
        *("/srv/frontier/.venv/bin/python", "-m", "pipeline.cli", "--home", "/srv/home", *ASKED, "--while-input"),
    ]


def test_a_file_name_is_one_word_over_there():
    words = files_words(HOSTS["rack_b"], CELL, ["a b;rm.parquet"])
    assert shlex.split(words)[1:] == [
        *("-C", "/srv/home/store/sweeps/rtx5090/2026-11-01", "-cf", "-", "--", "a b;rm.parquet")
    ]


def test_a_batch_script_asks_for_what_its_block_says_and_runs_the_sweep_as_a_step():
    lines = slurm.batch_script(HOSTS["cluster"], ORDER, PIPES, "s3://bucket/prefix").splitlines()
    assert lines[0] == "#!/bin/sh"
    assert {line.removeprefix("#SBATCH --") for line in lines if line.startswith("#SBATCH")} == {
        *("job-name=frontier-sweep-rtx5090-2026-11-01", "partition=gpu", "account=bench", "gres=gpu:h100:8"),
        *("time=1-00:00:00", "nodes=1", "ntasks=1", "exclusive", "no-requeue", "open-mode=truncate"),
        "output=/srv/home/jobs/frontier-sweep-rtx5090-2026-11-01.log",
    }
    assert "export FRONTIER_HOST=rack_b" in lines
    assert "export FRONTIER_RESULTS=s3://bucket/prefix" in lines
    step = lines[-1].removeprefix("cd /srv/frontier && exec srun --ntasks=1 --unbuffered ")
    assert shlex.split(step)[1:] == ["-m", "pipeline.cli", "--home", "/srv/home", *ASKED]


def test_a_script_without_an_object_store_names_none():
    assert "FRONTIER_RESULTS" not in slurm.batch_script(HOSTS["cluster"], ORDER, PIPES, "")


def test_slurm_is_asked_by_the_jobs_name_and_number():
    assert slurm.find_command(ORDER)[-1] == "--name=frontier-sweep-rtx5090-2026-11-01"
    assert slurm.submit_command(HOSTS["cluster"], ORDER) == (
        *("sbatch", "--parsable", "/srv/home/jobs/frontier-sweep-rtx5090-2026-11-01.sh"),
    )
    assert [slurm.watch_command("7")[-1], slurm.outcome_command("7")[-1], slurm.cancel_command("7")[-1]] == [
        *("--jobs=7", "--jobs=7", "7")
    ]


def test_a_manifest_is_one_pod_that_is_never_started_twice():
    manifest = kubernetes.job_manifest(HOSTS["pods"], ORDER, PIPES, "s3://bucket/prefix")
    assert (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "Job")
    assert manifest["metadata"]["namespace"] == "bench"
    spec = manifest["spec"]
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (0, 86_400)
    pod = spec["template"]["spec"]
    assert (pod["restartPolicy"], pod["nodeSelector"]) == ("Never", {"gpu": "h100"})
    (container,) = pod["containers"]
    assert container["image"] == "registry.example.org/frontier:1"
    assert container["command"] == ["frontier", *ASKED]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert {"name": "FRONTIER_RESULTS", "value": "s3://bucket/prefix"} in container["env"]
    assert "envFrom" not in container


def test_credentials_come_from_a_secret_by_its_name():
    host = HOSTS["pods"].model_copy(update={"secret": "results-store"})
    (container,) = kubernetes.job_manifest(host, ORDER, PIPES, "s3://b")["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "results-store"}}]


def test_a_job_has_an_ending_once_a_condition_holds():
    assert kubernetes.ending({"status": {"active": 1}}) is None
    conditions = [{"type": "FailureTarget", "status": "True"}, {"type": "Failed", "status": "False"}]
    assert kubernetes.ending({"status": {"conditions": conditions}}) is None
    late = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
    assert kubernetes.ending({"status": {"conditions": [late]}}) == "DeadlineExceeded"
    assert kubernetes.ending({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}) == "Complete"
