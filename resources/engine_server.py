"""Engine servers: up for one block of code, proven to be what was asked for, and gone after it in every ending.

Belongs here: preflight, readiness, the order of teardown. Not here: the process itself (running_server.py), what it
answers (server_answers.py), the lock of the device (device_lock.py), the arguments (pipeline/sweep/launch_line.py), and
servers that run already (borrowed_server.py).
"""

import contextlib
import datetime as dt
import http.client
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import psutil
from pydantic import Field

from pipeline.errors import EngineError
from pipeline.sweep.launch_line import ServerPlan, address_arguments, module_command
from pipeline.sweep.server_end import FAILURES
from pipeline.units import GIB
from resources.borrowed_server import BorrowedServer, borrowed
from resources.built import Built
from resources.device_lock import DeviceHold
from resources.engine_launch import Place, StartCommand, start_command
from resources.progress import Say
from resources.running_server import RunningServer, Start, silent, start
from resources.server_answers import first_token, free_port, on_this_host, prove_identity
from resources.server_container import ServerContainer
from resources.signs_of_life import SignsOfLife

DeviceMemory = Callable[[], float | None]
N_KEPT_LOGS = 50
POLL_S = 0.25
SECONDS_BETWEEN_LINES = 15.0


def no_device_memory() -> float | None:
    """A host whose processors compute: its memory is back when the processes are gone."""
    return None


class EngineServers(dg.ConfigurableResource):
    """Starts servers, their logs under ``root_dir``. ``port`` 0: a fresh one for every start.

    ``grace_s`` is between SIGTERM and SIGKILL: an engine that still answers waits for its last request.
    ``free_memory_gib`` must be free on the host before a start.
    ``memory_timeout_s``: how long a device may take to give its memory back, up to ``memory_tolerance_gib``.
    ``containers`` names docker or podman; empty: the first on PATH. ``proof_timeout_s`` bounds one question to a server
    that runs already.
    """

    root_dir: str
    port: int = Field(default=0, ge=0, le=65_535)
    grace_s: float = Field(default=6, gt=0)
    free_memory_gib: float = Field(default=2, ge=0)
    memory_timeout_s: float = Field(default=60, ge=0)
    memory_tolerance_gib: float = Field(default=1, ge=0)
    containers: str = ""
    proof_timeout_s: float = Field(default=600, gt=0)

    @contextmanager
    def running(
        self,
        built: Built,
        plan: ServerPlan,
        held: DeviceHold,
        say: Say,
        device_memory_gib: DeviceMemory = no_device_memory,
    ) -> Iterator[RunningServer | BorrowedServer]:
        """A server that has generated a token, for the block. Raises EngineError where it does not come to that.

        However the block ends, nothing of the server is left then, or the device is quarantined. A build that is a
        running server is asked instead of started, and left as it is. Raises BuildError where it does not answer, and
        where there is no program for containers.
        """
        if built.build.server:
            yield borrowed(built, plan, self.proof_timeout_s, say)
            return
        self._refuse_full_host(plan)
        before_gib = device_memory_gib()
        server = self._start(built, plan, held)
        try:
            self._wait_until_ready(server, built, plan, say)
            yield server
        finally:
            self._end(server, plan, say)
            self._refuse_dirty(held, before_gib, device_memory_gib)

    def _start(self, built: Built, plan: ServerPlan, held: DeviceHold) -> RunningServer:
        port, key, module = self.port or free_port(), secrets.token_hex(16), module_command(plan.engine)
        self._refuse_taken(plan, port)
        place = Place(port, plan.folders, plan.variables)
        begun = start_command(built.build, built, module, place, self.containers)
        asked = Start(
            engine=plan.engine,
            model_name=plan.model_name,
            command=[*begun.command, *plan.arguments, *address_arguments(plan.engine, begun.bind_host, port, key)],
            launch_line=plan.line,
            variables=begun.variables,
            address=on_this_host(port, key),
            log=self._log(plan),
            grace_s=self.grace_s,
            container=_container(begun),
        )
        try:
            return start(asked, held)
        except OSError as error:
            raise EngineError(
                f"no server can be started ({error.strerror or error})",
                where=plan.build,
                next_step="Free what is missing (processes, disk), then run the same command again.",
            ) from error

    def _wait_until_ready(self, server: RunningServer, built: Built, plan: ServerPlan, say: Say) -> None:
        """Until a token came from the process that was started. Raises EngineError."""
        life = SignsOfLife(server.processes, server.log)
        start_s = said_s = time.monotonic()
        question: _Question | None = None
        while question is None or not question.answered():
            _refuse_ended(server, plan)
            silent_s = life.silent_s()
            if silent_s > plan.silence_s:
                raise _failed(server, plan, "silent", silent(server, silent_s))
            if question is None and server.listens():
                question = _Question(server, built, plan)
            if time.monotonic() - said_s > SECONDS_BETWEEN_LINES:
                said_s = time.monotonic()
                _refuse_stolen_port(server, plan)
                say(f"{plan.build}: starting, {said_s - start_s:.0f} s")
            time.sleep(POLL_S)
        _refuse_ended(server, plan)
        question.refuse_failed()
        say(f"{plan.build}: ready after {time.monotonic() - start_s:.0f} s at {server.url}, process {server.pid}")

    def _end(self, server: RunningServer, plan: ServerPlan, say: Say) -> None:
        start_s = time.monotonic()
        stuck = server.stop(self.grace_s)
        if stuck:
            server.held.quarantine(f"{stuck} after a server of {plan.build}")
            say(f"{plan.build}: {stuck}; the device is quarantined")
            return
        server.held.ended()
        say(f"{plan.build}: the server is gone after {time.monotonic() - start_s:.1f} s")

    def _refuse_dirty(self, held: DeviceHold, before_gib: float | None, device_memory_gib: DeviceMemory) -> None:
        """Quarantine the device where it does not give its memory back: the next server would be short of it."""
        if before_gib is None:
            return
        until_s = time.monotonic() + self.memory_timeout_s
        while (after_gib := device_memory_gib()) is not None and after_gib > before_gib + self.memory_tolerance_gib:
            if time.monotonic() > until_s:
                held.quarantine(
                    f"{after_gib:.1f} GiB of its memory are in use after the server's end, {before_gib:.1f} GiB before"
                )
                return
            time.sleep(1)

    def _refuse_full_host(self, plan: ServerPlan) -> None:
        free_gib = psutil.virtual_memory().available / GIB
        if free_gib < self.free_memory_gib:
            raise EngineError(
                "too little memory of the host is free to start a server",
                where=plan.build,
                expected=f"{self.free_memory_gib:g} GiB",
                found=f"{free_gib:.1f} GiB",
                next_step="End what holds it.",
                kind="out_of_memory",
            )

    def _refuse_taken(self, plan: ServerPlan, port: int) -> None:
        listening = [s for s in psutil.net_connections(kind="tcp") if s.status == psutil.CONN_LISTEN]
        taken = [s for s in listening if getattr(s.laddr, "port", None) == port]
        if taken:
            raise EngineError(
                FAILURES["port_taken"],
                where=plan.build,
                found=f"process {taken[0].pid or 'of another user'} listens on port {port}",
                next_step="End it, or choose another port.",
                kind="port_taken",
            )

    def _log(self, plan: ServerPlan) -> Path:
        folder = Path(self.root_dir)
        folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(folder.glob("*.log"), key=lambda log: log.stat().st_mtime)[: -N_KEPT_LOGS + 1]:
            old.unlink(missing_ok=True)
        return folder / f"{plan.build}-{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S-%f}.log"


class _Question:
    """Identity and a first token, asked in a thread of its own: the first answer may take longer than any timeout.

    The thread ends with the server, whose end closes the connection.
    """

    def __init__(self, server: RunningServer, built: Built, plan: ServerPlan):
        self._error: EngineError | None = None
        self._asked = (server, built.fingerprint.reported_version or "", plan)
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def answered(self) -> bool:
        """Whether there is an answer, good or bad."""
        return not self._thread.is_alive()

    def refuse_failed(self) -> None:
        """Raises EngineError where the answer is bad."""
        if self._error:
            raise self._error

    def _ask(self) -> None:
        server, version, plan = self._asked
        while server.keeper.poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException):  # it listens before it answers
                try:
                    prove_identity(server.address, plan, version)
                    first_token(server.address, plan)
                except EngineError as error:
                    self._error = error
                return
            time.sleep(POLL_S)


def _container(begun: StartCommand) -> ServerContainer | None:
    return ServerContainer(begun.command[0], begun.container) if begun.container else None


def _refuse_ended(server: RunningServer, plan: ServerPlan) -> None:
    kind = server.failure()
    if kind:
        raise _failed(server, plan, kind, server.ended() or "")


def _refuse_stolen_port(server: RunningServer, plan: ServerPlan) -> None:
    pid = server.port_taken_by()
    if pid is not None:
        found = f"process {pid or 'of another user'} listens on port {server.address.port}"
        raise _failed(server, plan, "port_taken", f"{FAILURES['port_taken']}: {found}")


def _failed(server: RunningServer, plan: ServerPlan, kind: str, how: str) -> EngineError:
    return EngineError(
        f"the server did not start: it {how}",
        where=plan.build,
        next_step=f"Its log is {server.log}.",
        kind=kind,
    )
