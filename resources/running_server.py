"""One server process under its keeper: what it does, whether it still runs, and its end.

Belongs here: the process. Not here: what makes it ready (engine_server.py), and what it answers (server_answers.py).
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from pipeline.sweep.server_end import FAILURES, ending, failure, last_words
from resources.device_lock import DeviceHold
from resources.processes import Known, ended_by_now, group_of, kill_all, known, remove_dead_segments, tree_of
from resources.programs import N_KEPT_LINES, surroundings
from resources.server_answers import HOST, Address, counters, flush
from resources.server_container import ServerContainer

KEEPER = Path(__file__).with_name("server_keeper.py")
KEEPER_TIMEOUT_S = 15.0
"""What the keeper may need beyond the grace, before it is ended itself."""


@dataclass
class RunningServer:
    """A server that runs, or did. Where it is a container, ``pid`` is the program that started that."""

    asked: "Start"
    keeper: "subprocess.Popen[bytes]"
    held: DeviceHold
    pid: int
    known: Known
    since_s: float
    _code: int | None = field(default=None)
    _inside: int | None = field(default=None)

    @property
    def address(self) -> Address:
        """Where it listens, and its key."""
        return self.asked.address

    @property
    def log(self) -> Path:
        """What it said."""
        return self.asked.log

    @property
    def model_name(self) -> str:
        """The model that it serves, under the name that clients ask for."""
        return self.asked.model_name

    @property
    def launch_line(self) -> tuple[str, ...]:
        """What it was started with, without address and key: the same plan, the same line."""
        return self.asked.launch_line

    @property
    def url(self) -> str:
        """Where clients reach it."""
        return self.address.url

    @property
    def api_key(self) -> str:
        """The key that clients send."""
        return self.address.api_key or ""

    def pids(self) -> set[int]:
        """The server and everything below it, as long as it runs."""
        return {process.pid for process in self.processes()} - {self.keeper.pid}

    def processes(self) -> list[psutil.Process]:
        """Its keeper and everything below it; the processes of a container are below docker's, not below ours."""
        inside = self._pid_inside()
        return [*tree_of(self.keeper.pid), *(tree_of(inside) if inside else [])]

    def _pid_inside(self) -> int | None:
        if self._inside is None and self.asked.container:
            self._inside = self.asked.container.pid()
        return self._inside

    def metrics(self) -> str:
        """Its counters as Prometheus text; empty where it does not answer."""
        return counters(self.address)

    def flush_cache(self) -> bool:
        """Reset the prefix cache; False where the engine has no such call, or does not do it."""
        return flush(self.address, self.asked.engine)

    def ended(self) -> str | None:
        """None while it runs, else how it ended and its last words. Fit to be asked several times a second."""
        code = self.exit_code()
        return None if code is None else ending(code, self.last_lines())

    def failure(self) -> str | None:
        """The class of its end (pipeline/sweep/server_end.py); None while it runs."""
        code = self.exit_code()
        return None if code is None else failure(code, self.last_lines())

    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal. Where the keeper itself was killed, its own code."""
        if self._code is None and self.keeper.poll() is not None:
            said = self.keeper.stdout.readline() if self.keeper.stdout else b""
            self._code = int(said) if said.strip() else self.keeper.returncode
        return self._code

    def last_lines(self) -> list[str]:
        """The end of its log."""
        if not self.log.exists():
            return []
        with self.log.open(encoding="utf-8", errors="replace") as lines:
            return [line.rstrip() for line in deque(lines, maxlen=N_KEPT_LINES)]

    def last_words(self) -> str:
        """What a person wants to read of the log."""
        return last_words(self.last_lines())

    def listens(self) -> bool:
        """Whether the port is this server's own: one of its processes listens there.

        A container's port is published by the program that runs it, and nobody else has it while the container lives.
        """
        if self.asked.container:
            with socket.socket() as probe:
                return self._pid_inside() is not None and probe.connect_ex((HOST, self.address.port)) == 0
        for process in tree_of(self.pid):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                sockets = process.net_connections(kind="tcp")
                if any(s.status == psutil.CONN_LISTEN and s.laddr.port == self.address.port for s in sockets):
                    return True
        return False

    def port_taken_by(self) -> int | None:
        """Another process that listens on this server's port, 0 where it is not known which; None where there is none.

        SGLang goes on without its port, busy and never ready, so waiting for its end is not enough. A container whose
        port is taken does not start.
        """
        if self.asked.container:
            return None
        sockets = [s for s in psutil.net_connections(kind="tcp") if s.status == psutil.CONN_LISTEN and s.laddr]
        pids = {s.pid or 0 for s in sockets if s.laddr and s.laddr.port == self.address.port}
        return next(iter(pids - self.pids()), None)

    def stop(self, grace_s: float) -> str | None:
        """End it and everything that it started, remove its shared memory; None, or what could not be ended.

        The keeper does it where it can; whatever it leaves is killed here.
        """
        with contextlib.suppress(OSError):
            if self.keeper.stdin:
                self.keeper.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.keeper.wait(grace_s + KEEPER_TIMEOUT_S)
        left = [*tree_of(self.keeper.pid), *group_of(self.known)] if self.exit_code() is None else []
        stuck = kill_all([*left, *group_of(self.known)])
        self.exit_code()
        self.keeper.wait()
        if self.keeper.stdout:
            self.keeper.stdout.close()
        remove_dead_segments(self.since_s)
        if self.asked.container and not self.asked.container.end():
            return f"the container {self.asked.container.name} cannot be ended"
        return f"process {stuck[0].pid} cannot be ended" if stuck else None


@dataclass(frozen=True)
class Start:
    """What a server is started with. ``command`` ends with address and key.

    ``container`` is the one that the command starts, None where the process itself is the server.
    """

    engine: str
    model_name: str
    command: Sequence[str]
    launch_line: tuple[str, ...]
    variables: Mapping[str, str]
    address: Address
    log: Path
    grace_s: float
    container: ServerContainer | None


def start(asked: Start, held: DeviceHold) -> RunningServer:
    """Start it under a keeper, recorded with the device. Raises OSError where not even the keeper starts.

    An interpreter that is not there is an end like any other: the server has ended when it is asked.
    """
    since_s = time.time()
    held.starts(asked.container)
    afterwards = asked.container.end_command() if asked.container else ()
    with asked.log.open("ab") as said:
        keeper = subprocess.Popen(
            [
                sys.executable,
                "-I",
                str(KEEPER),
                f"{asked.grace_s}",
                f"{held.descriptor}",
                str(asked.log),
                json.dumps(afterwards),
                *asked.command,
            ],
            env=surroundings({"PATH": _path_of(asked.command[0]), **asked.variables}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=asked.log.parent,
            process_group=0,
            pass_fds=(held.descriptor,),
        )
    assert keeper.stdout is not None
    pid = int(keeper.stdout.readline() or keeper.pid)
    server = _known_or_ended(pid)
    held.runs(_known_or_ended(keeper.pid), server, asked.container)
    return RunningServer(asked, keeper, held, pid, server, since_s)


def _known_or_ended(pid: int) -> Known:
    """The process, also where it has ended already."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return known(pid)
    return ended_by_now(pid)


def _path_of(python: str) -> str:
    """The commands of the build's own environment first."""
    return f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '/usr/bin:/bin')}"


def silent(server: RunningServer, silent_s: float) -> str:
    """One sentence about a server that does nothing."""
    return f"{FAILURES['silent']} for {silent_s:.0f} s: {server.last_words()}"
