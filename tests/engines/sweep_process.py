"""A sweep in a process of its own, as a person starts it: who takes part in it, what it stored, and what it left."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.cell import GpuRun
from pipeline.definitions import CHECKOUT
from pipeline.registry.shipped import shipped_builds
from pipeline.tables.columns import Table
from pipeline.tables.points import POINTS
from resources.processes import dead_segments
from resources.sweep_store import SweepStore
from tests.engines.short_recipes import short_recipes

PATIENCE_S = 600
SHARED = ("builds", "models", "calibration")
"""Folders of a home that all tests of a module share: they are content-addressed, or of the day."""


@dataclass
class Swept:
    """One home folder and the sweeps that were started on it."""

    home: Path
    cell: GpuRun
    since_s: float = field(default_factory=time.time)
    started: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def variables(self, ladder: int = 4, **more: str) -> dict[str, str]:
        ours = {"FRONTIER_HOME": str(self.home), "SHORT_LADDER": str(ladder), "COLUMNS": "500", **more}
        return {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME"} | ours

    def start(self, *recipes: str, ladder: int = 4, **more: str) -> "subprocess.Popen[bytes]":
        """frontier sweep; what it says goes to <n>.log in the home folder."""
        asked = [f"--recipe={recipe}" for recipe in recipes]
        command = [sys.executable, "-m", "tests.engines.short_sweep", "sweep", "cpu", "--kind", "measured", *asked]
        pinned = [f"--build={slug}={version}" for slug, version in versions_of(recipes).items()]
        command += ["--run-date", self.cell.run_date.isoformat(), "--again", *pinned, "--no-publish"]
        with self.log(len(self.started)).open("wb") as said:
            process = subprocess.Popen(
                command, cwd=CHECKOUT, env=self.variables(ladder, **more), stdout=said, stderr=subprocess.STDOUT
            )
        self.started.append(process)
        return process

    def run(self, *recipes: str, ladder: int = 4, **more: str) -> tuple[int, str]:
        """A whole sweep: exit code and everything that it said."""
        code = self.start(*recipes, ladder=ladder, **more).wait(PATIENCE_S)
        return code, self.said()

    def log(self, index: int) -> Path:
        return self.home / f"{index}.log"

    def said(self) -> str:
        return self.log(len(self.started) - 1).read_text()

    def files(self) -> dict[str, bytes]:
        """Every finished file of points and of what is beside them; those of runs change with every point."""
        folder = self.home / "store" / "sweeps" / self.cell.gpu / self.cell.run_date.isoformat()
        return {path.name: path.read_bytes() for path in folder.glob("*.parquet") if ".runs." not in path.name}

    def names(self, *concurrencies: int) -> set[str]:
        """Names of the finished points, of some concurrencies where they are named."""
        suffix = ".points.parquet"
        files = {name: pa.BufferReader(content) for name, content in self.files().items() if name.endswith(suffix)}
        at = {name.removesuffix(suffix): pq.read_table(file)["concurrency"][0].as_py() for name, file in files.items()}
        return {name for name, concurrency in at.items() if concurrency in (concurrencies or at.values())}

    def read(self, table: Table) -> pa.Table:
        return SweepStore(root_dir=str(self.home / "store")).read(self.cell, table)

    def rows(self) -> list[dict]:
        """POINTS, by concurrency and attempt."""
        return sorted(self.read(POINTS).to_pylist(), key=lambda row: (row["concurrency"], row["attempt"]))

    def server(self) -> psutil.Process | None:
        """The server that the device's record names, where it runs."""
        with contextlib.suppress(OSError, KeyError, ValueError, psutil.NoSuchProcess):
            holder = json.loads((self.home / "devices" / "cpu.holder.json").read_text())
            return psutil.Process(holder["server"]["pid"])
        return None

    def client(self) -> psutil.Process | None:
        """The load generator's first process, where one runs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            run = psutil.Process(self.started[-1].pid)
            return next((child for child in run.children() if child.cwd().startswith(f"{self.home}/load/")), None)
        return None

    def is_measuring(self, n_finished: int) -> bool:
        """Whether requests of the point after so many finished ones are coming in."""
        records = self.home.glob("load/.tmp-*/artifacts/profile_export.jsonl")
        sending = self.home.glob("load/.tmp-*/load.json")
        to_server = any('"scripted"' not in path.read_text() for path in sending)
        return len(self.names()) == n_finished and to_server and any(path.stat().st_size for path in records)

    def wait_until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for something that the run which was started last is to do. A run that ended before is a failure."""
        run = self.started[-1]
        while not condition():
            assert run.poll() is None, f"{what} did not happen, the run ended: {self.said()}"
            time.sleep(0.1)

    def left(self) -> list[str]:
        """What is left of all sweeps on this home: processes, ports, shared memory, folders."""
        return [*self.left_but_memory(), *(str(path) for path in dead_segments(self.since_s))]

    def left_but_memory(self) -> list[str]:
        """The same without shared memory: a code server of Dagster leaves the semaphores of its own runs there."""
        ports = {int(port) for log in self.home.glob("*.log") for port in PORT.findall(log.read_text())}
        listening = {s.laddr.port for s in psutil.net_connections("tcp") if s.status == psutil.CONN_LISTEN}
        owners = {f"{process.pid}" for process in self.started}
        temp = [*Path(tempfile.gettempdir()).glob("frontier-*"), *(self.home / "load").glob(".tmp-*")]
        return [
            *(f"process {p.pid} {' '.join(p.cmdline())[:200]}" for p in self.processes()),
            *(f"port {port}" for port in ports & listening),
            *(str(path) for path in temp if owners & set(path.name.split("-"))),
            *(str(path) for path in (self.home / "store").rglob(".tmp-*")),
        ]

    def processes(self) -> list[psutil.Process]:
        """Living processes that belong to this home: by folder, arguments or environment."""
        return [p for p in psutil.process_iter() if p.pid != os.getpid() and self._is_ours(p)]

    def is_of_dagster(self, process: psutil.Process) -> bool:
        """Whether it is neither server nor client nor what keeps them: those have folders of their own."""
        return process.cwd() == str(CHECKOUT)

    def _is_ours(self, process: psutil.Process) -> bool:
        home = str(self.home)
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            said = [process.cwd(), *process.cmdline(), process.environ().get("FRONTIER_HOME", "")]
            return any(word == home or word.startswith(f"{home}/") for word in said)
        return False


def versions_of(recipes: Sequence[str]) -> dict[str, str]:
    """The registry's version of every build that some of the short recipes are measured with; none named: of all."""
    short = short_recipes(1)
    builds = {short[recipe].build for recipe in recipes or short}
    return {slug: shipped_builds()[slug].version for slug in sorted(builds)}


PORT = re.compile(r"ready after .* at http://[\d.]+:(\d+)")


def wait_for(condition: Callable[[], object], what: str, timeout_s: float) -> None:
    until_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until_s, f"{what} did not happen within {timeout_s:.0f} s"
        time.sleep(0.1)


@contextlib.contextmanager
def swept_at(home: Path, shared: Path, cell: GpuRun) -> Iterator[Swept]:
    """A home folder over the shared ones. Whatever a failed test left is killed at the end."""
    home.mkdir(parents=True)
    for name in SHARED:
        (shared / name).mkdir(exist_ok=True)
        (home / name).symlink_to(shared / name)
    swept = Swept(home, cell)
    try:
        yield swept
    finally:
        for process in swept.processes():
            with contextlib.suppress(psutil.Error):
                process.kill()
        for run in swept.started:
            run.wait()
