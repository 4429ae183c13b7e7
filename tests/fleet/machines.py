"""The processes of a fleet, started as the units in deploy/systemd say, and what they did as the instance tells it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from pipeline.definitions import CHECKOUT

UNITS = CHECKOUT / "deploy" / "systemd"
INSTALLED = "/opt/serving-frontier"
PATIENCE_S = 300


def unit_line(unit: str, key: str) -> str:
    """The one value of a key in a unit file."""
    (line,) = [x for x in (UNITS / unit).read_text().splitlines() if x.startswith(f"{key}=")]
    return line.removeprefix(f"{key}=")


def unit_command(unit: str, key: str = "ExecStart", instance: str = "") -> list[str]:
    """The command of a unit, with the programs of this environment and the files of this checkout."""
    text = unit_line(unit, key).replace("%i", instance).replace("%%", "%")
    text = text.replace(f"{INSTALLED}/.venv/bin", str(Path(sys.executable).parent))
    return shlex.split(text.replace(INSTALLED, str(CHECKOUT)))


def wait_for(condition: Callable[[], bool], what: str, logs: Path, patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            said = "\n".join(f"== {log.name}\n{log.read_text()[-1500:]}" for log in sorted(logs.glob("*.log")))
            pytest.fail(f"{what} did not happen within {patience_s} s\n{said}")
        time.sleep(0.5)


@dataclass
class Machines:
    """Processes by name, each a session of its own, ended by their pid."""

    folder: Path
    environment: Mapping[str, str]
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def start(self, name: str, command: list[str], **variables: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command,
                cwd=CHECKOUT,
                env={**self.environment, **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self, queue: str, **variables: str) -> None:
        """The worker of a host of its own, as its unit starts it: its locks are not on the shared disk."""
        unit, own = "frontier-worker@.service", {"FRONTIER_DEVICES": str(self.folder / f"devices-{queue}"), **variables}
        prepare = unit_command(unit, "ExecStartPre")
        subprocess.run(prepare, cwd=CHECKOUT, env={**self.environment, **own}, check=True, capture_output=True)
        self.start(queue, unit_command(unit, instance=queue), **own)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def children(self, name: str) -> list[psutil.Process]:
        return psutil.Process(self.processes[name].pid).children(recursive=True)

    def kill(self, name: str) -> None:
        """SIGKILL for the process and all that it started: the host is gone."""
        for process in [*self.children(name), psutil.Process(self.processes[name].pid)]:
            process.kill()
        self.processes.pop(name).wait()

    def end(self) -> None:
        """SIGTERM for all; what does not end within 30 s is killed."""
        started = [psutil.Process(p.pid) for p in self.processes.values() if p.poll() is None]
        everything = {p for process in started for p in (process, *process.children(recursive=True))}
        for process in started:
            process.send_signal(signal.SIGTERM)
        _, alive = psutil.wait_procs(list(everything), timeout=30)
        for process in alive:
            process.kill()
        for popen in self.processes.values():
            popen.wait()
        self.processes.clear()


def base_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return kept | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
