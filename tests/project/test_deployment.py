"""The files in deploy/: they say the same thing, hold no secret, and show nothing to the network."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.definitions import CHECKOUT

DEPLOY = CHECKOUT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("frontier*"))
FLEET = yaml.safe_load((DEPLOY / "dagster_fleet.yaml").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
VALUES = yaml.safe_load((DEPLOY / "kubernetes" / "values.yaml").read_text())
WORKERS = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "workers.yaml").read_text()))
ONE_HOST = yaml.safe_load((CHECKOUT / "resources" / "dagster_instance.yaml").read_text())
OURS = {name: s for name, s in COMPOSE["services"].items() if name not in ("postgres", "redis")}
SET_UPS = ("systemd", "compose", "kubernetes")
WORK = "--concurrency=1 --loglevel=INFO --without-gossip --without-mingle"


def unit(name: str) -> str:
    return (DEPLOY / "systemd" / name).read_text()


def pods() -> list[dict[str, Any]]:
    return [worker["spec"]["template"]["spec"] for worker in WORKERS]


def test_two_sweeps_never_share_a_gpu_wherever_they_run():
    limits = ONE_HOST["concurrency"]["runs"]["tag_concurrency_limits"]
    assert limits == [{"key": "dagster/partition/gpu", "value": {"applyLimitPerUniqueValue": True}, "limit": 1}]
    assert FLEET["concurrency"]["runs"]["tag_concurrency_limits"] == limits
    queued = VALUES["dagsterDaemon"]["runCoordinator"]["config"]["queuedRunCoordinator"]
    assert queued["tagConcurrencyLimits"] == limits


def test_nothing_is_sent_home():
    assert FLEET["telemetry"] == FLEET["nux"] == VALUES["telemetry"] == {"enabled": False}


def test_kubernetes_has_the_launcher_and_the_run_monitoring_of_the_fleet():
    assert VALUES["runLauncher"]["type"] == "CustomRunLauncher"
    assert VALUES["runLauncher"]["config"]["customRunLauncher"] == FLEET["run_launcher"]
    monitoring = VALUES["dagsterDaemon"]["runMonitoring"]
    snake = {re.sub("[A-Z]", lambda m: "_" + m[0].lower(), key): value for key, value in monitoring.items()}
    assert snake == FLEET["run_monitoring"]


def test_the_chart_has_the_version_of_the_pinned_dagster():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    version = dict(line.split("==") for line in project["dependencies"])["dagster"]
    assert f"--version {version} " in (DEPLOY / "kubernetes" / "values.yaml").read_text()
    fleet = dict(line.split("==") for line in project["optional-dependencies"]["fleet"])
    assert {fleet["dagster-postgres"], fleet["dagster-celery"]} == {version.replace("1.13", "0.29")}


def test_every_worker_takes_one_run_at_a_time_from_one_queue():
    commands = [re.search(r"^ExecStart=(.*)$", unit("frontier-worker@.service"), re.M)[1].replace("%%", "%")]
    commands += [OURS[name]["command"][-1] for name in ("worker", "gpu-worker")]
    commands += [pod["containers"][0]["command"][-1] for pod in pods()]
    for command in commands:
        queue = re.search(r"-Q (\S+)", command)[1]
        tail = f"{queue}@%h {WORK}" if queue[0] != '"' else f'"{queue[1:-1]}@%h" {WORK}'
        assert command.endswith(f"celery -A resources.fleet_worker worker -Q {queue} -n {tail}")
    assert {worker["spec"]["replicas"] for worker in WORKERS} == {1}


def test_a_stopped_worker_has_ten_minutes_for_the_end_of_its_run():
    assert "\nKillMode=mixed\nTimeoutStopSec=10min\n" in unit("frontier-worker@.service")
    assert {OURS[name]["stop_grace_period"] for name in ("worker", "gpu-worker")} == {"10m"}
    assert {pod["terminationGracePeriodSeconds"] for pod in pods()} == {600}


def test_passwords_come_from_the_environment_only():
    assert FLEET["storage"]["postgres"]["postgres_url"] == {"env": "FRONTIER_POSTGRES_URL"}
    assert FLEET["run_launcher"]["config"]["broker"] == {"env": "FRONTIER_BROKER_URL"}
    for file in [*DEPLOY.glob("*.yaml"), *(path for name in SET_UPS for path in (DEPLOY / name).iterdir())]:
        written = re.sub(r"\$\{[^}]*\}", "", file.read_text())
        given = re.findall(r"://\w*:([^@\s]+)@|(?i:password)[=:] *\"?([\w-]+)", written)
        assert {a or b for a, b in given} <= {"PASSWORD", "password", "…"}, file


def test_every_password_of_compose_is_required_and_named_in_its_example():
    text = (DEPLOY / "compose" / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w*PASSWORD)(.)", text)) == {
        ("FRONTIER_POSTGRES_PASSWORD", ":"),
        ("FRONTIER_REDIS_PASSWORD", ":"),
    }
    named = re.findall(r"^#?(FRONTIER_\w+)=", (DEPLOY / "compose" / "env.example").read_text(), re.M)
    assert set(re.findall(r"(?<!\$)\$\{(\w+)", text)) == set(named)


def test_nothing_listens_outside_the_loopback_interface_unless_it_is_told_to():
    for name in ("frontier-code-server.service", "frontier-webserver.service"):
        assert re.search(r"^ExecStart=.* -h 127\.0\.0\.1 ", unit(name), re.M)
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert published == [
        "${FRONTIER_BIND_ADDRESS:-127.0.0.1}:5432:5432",
        "${FRONTIER_BIND_ADDRESS:-127.0.0.1}:6379:6379",
        "127.0.0.1:3000:3000",
    ]
    assert VALUES["dagsterWebserver"]["service"]["type"] == "ClusterIP"
    assert VALUES["ingress"] == {"enabled": False}


def test_every_container_says_how_it_is_restarted_and_when_it_is_well():
    for name, service in COMPOSE["services"].items():
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name
    for name in OURS.keys() - {"gpu-worker"}:
        waited_for = OURS[name]["depends_on"].values()
        assert {after["condition"] for after in waited_for} == {"service_healthy"}, name


def test_the_volumes_of_compose_are_declared():
    mounted = [v.rsplit(":", 1)[0] for s in COMPOSE["services"].values() for v in s["volumes"]]
    assert {re.sub(r"\$\{FRONTIER_DATA:-(\w+)\}", r"\1", name) for name in mounted} == COMPOSE["volumes"].keys()


def test_what_a_kubernetes_pod_mounts_is_one_of_its_volumes():
    for pod in pods():
        mounts = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounts == {volume["name"] for volume in pod["volumes"]}


def test_the_target_starts_every_unit_and_they_stop_with_it():
    for file in UNITS:
        if file.suffix == ".service":
            text = file.read_text()
            assert "\nWantedBy=frontier.target\n" in text
            assert "\nPartOf=frontier.target\n" in text
            assert "\nRestart=always\n" in text
            assert "\nUser=frontier\n" in text


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_systemd_accepts_the_unit(file: Path, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    programs = str(Path(sys.executable).parent)
    for source in UNITS:
        text = source.read_text().replace("/opt/serving-frontier/.venv/bin", programs)
        (tmp_path / source.name).write_text(text.replace("/opt/serving-frontier", str(CHECKOUT)))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / file.name.replace("@", "@gpu_host_a")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (verified.returncode, str(tmp_path) in verified.stderr) == (0, False), verified.stderr
