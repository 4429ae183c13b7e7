"""One device, one sweep: a lock that engines inherit, a record of what runs under it, and quarantine.

Belongs here: who may use a device, and ending what an interrupted sweep of ours left on it. Not here: starting a server
(engine_server.py). The files are beside each other: <gpu>.lock, <gpu>.holder.json, <gpu>.quarantine.json.
"""

import dataclasses
import datetime as dt
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
from pydantic import Field

from pipeline.errors import DeviceError
from resources.atomic_files import write_bytes
from resources.processes import Known, group_of, kill_all, known, remove_dead_segments
from resources.progress import Say
from resources.server_container import ServerContainer

BETWEEN_REASONS = "; "


@dataclass(frozen=True)
class DeviceHold:
    """The lock of one device, held. ``descriptor`` is for children: while one of them has it, nobody else gets in."""

    gpu: str
    descriptor: int
    devices: "Devices"

    def starts(self, container: ServerContainer | None) -> None:
        """Record a container before it is started: nothing that is killed afterwards takes it along."""
        self.devices.record(self.gpu, _recorded(container=container))

    def runs(self, keeper: Known, server: Known, container: ServerContainer | None = None) -> None:
        """Record a server that was started under the lock, so that a later sweep can end it if this one is killed."""
        self.devices.record(self.gpu, _recorded(keeper=keeper, server=server, container=container))

    def ended(self) -> None:
        """Record that the server is gone."""
        self.devices.record(self.gpu, {})

    def quarantine(self, reason: str) -> None:
        """Nobody gets this device again before a person released it."""
        self.devices.quarantine(self.gpu, reason)


class Devices(dg.ConfigurableResource):
    """Locks under ``root_dir``, one a device. It must be the same folder for everybody who uses the device.

    ``leftover_timeout_s`` bounds the end of what an interrupted sweep left.
    """

    root_dir: str
    leftover_timeout_s: float = Field(default=30, gt=0)

    @contextmanager
    def hold(self, gpu: str, say: Say) -> Iterator[DeviceHold]:
        """Hold the device inside the block. Raises DeviceError where it is quarantined, or somebody else holds it.

        What a killed sweep of ours left running is ended first: processes that are known by pid and start time, a
        container by its name, and nothing else.
        """
        self.refuse_quarantined(gpu)
        descriptor = self._lock(gpu, say)
        try:
            self._end_leftovers(gpu, say)
            self.record(gpu, {})
            yield DeviceHold(gpu, descriptor, self)
            self._path(gpu, "holder.json").unlink(missing_ok=True)
        finally:
            os.close(descriptor)

    def quarantine(self, gpu: str, reason: str) -> None:
        """Refuse the device from now on, for this reason and those that it had before. Raises StoreError."""
        path = self._path(gpu, "quarantine.json")
        before = _read(path)
        said = str(before.get("reason", ""))
        new = reason not in said.split(BETWEEN_REASONS)
        content = {
            "reason": f"{said}{BETWEEN_REASONS}{reason}" if said and new else said or reason,
            "since": before.get("since") or _now().isoformat(timespec="seconds"),
        }
        write_bytes(path, json.dumps(content, indent=1).encode())

    def release(self, gpu: str) -> None:
        """Trust the device again."""
        self._path(gpu, "quarantine.json").unlink(missing_ok=True)

    def quarantined(self, gpu: str) -> str | None:
        """Reason and moment of the quarantine, None where there is none. A file nobody can read is one as well."""
        path = self._path(gpu, "quarantine.json")
        if not path.exists():
            return None
        found = _read(path)
        return f"{found.get('reason', 'its reason cannot be read')}, since {found.get('since', 'some time')}"

    def known_gpus(self) -> list[str]:
        """Devices that were held or quarantined here before."""
        kinds = ("lock", "quarantine.json")
        return sorted(
            {p.name.removesuffix(f".{kind}") for kind in kinds for p in Path(self.root_dir).glob(f"*.{kind}")}
        )

    def state(self, gpu: str) -> str:
        """Who uses the device, in words, from the records: the lock itself is not touched."""
        why = self.quarantined(gpu)
        holder = _read(self._path(gpu, "holder.json"))
        run, server = (_known_in(holder, name) for name in ("run", "server"))
        if run and run.process():
            used = f"in use by process {run.pid}, since {holder.get('since')}"
        elif server and group_of(server):
            used = f"free; the next sweep ends what an interrupted one left, process {server.pid}"
        else:
            used = "free"
        return f"quarantined: {why}; {used}" if why else used

    def refuse_quarantined(self, gpu: str) -> None:
        """Raises DeviceError where the device is quarantined."""
        why = self.quarantined(gpu)
        if why:
            raise DeviceError(
                "is quarantined",
                where=gpu,
                found=why,
                next_step=f"Make sure that nothing is left on it, then run frontier devices release {gpu} on its host.",
            )

    def record(self, gpu: str, runs: dict[str, Any]) -> None:
        """Write who holds the device and what runs under it; the caller holds the lock. Raises StoreError."""
        since = _now().isoformat(timespec="seconds")
        who = {"run": dataclasses.asdict(known(os.getpid())), "gpu": gpu, "since": since, "since_s": time.time()}
        write_bytes(self._path(gpu, "holder.json"), json.dumps(who | runs, indent=1).encode())

    def _path(self, gpu: str, kind: str) -> Path:
        return Path(self.root_dir) / f"{gpu}.{kind}"

    def _lock(self, gpu: str, say: Say) -> int:
        path = self._path(gpu, "lock")
        descriptor = _opened(path, gpu)
        try:
            if not _try(descriptor) and not self._outlast(gpu, descriptor, say):
                raise self._held_by_another(gpu)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _outlast(self, gpu: str, descriptor: int, say: Say) -> bool:
        """Where the sweep that took the lock is dead, end what it left and wait for the lock; False where it lives."""
        run = _known_in(_read(self._path(gpu, "holder.json")), "run")
        if run is None or run.process():
            return False
        self._end_leftovers(gpu, say)
        until_s = time.monotonic() + self.leftover_timeout_s
        while not _try(descriptor):
            if time.monotonic() > until_s:
                return False
            time.sleep(0.1)
        return True

    def _held_by_another(self, gpu: str) -> DeviceError:
        holder = _read(self._path(gpu, "holder.json"))
        run = _known_in(holder, "run")
        who = (
            f"process {run.pid}, since {holder.get('since')}"
            if run and run.process()
            else "a process that left no record"
        )
        return DeviceError(
            "is in use by another sweep",
            where=gpu,
            found=who,
            next_step="Wait for its end, or stop it, then run again.",
            kind="in_use",
        )

    def _end_leftovers(self, gpu: str, say: Say) -> None:
        """End what is on record of a run that is gone, or gave its lock back without ending it."""
        holder = _read(self._path(gpu, "holder.json"))
        stuck = self._end_processes(gpu, holder, say) or _end_container(gpu, holder, say)
        if stuck:
            self.quarantine(gpu, f"{stuck} of an interrupted sweep cannot be ended")
            self.refuse_quarantined(gpu)

    def _end_processes(self, gpu: str, holder: dict[str, Any], say: Say) -> str | None:
        """End keeper and server; what cannot be ended, if anything. The keeper is given time to do it itself."""
        keeper, server = (_known_in(holder, name) for name in ("keeper", "server"))
        if server is None:
            return None
        alive = keeper.process() if keeper else None
        if alive or group_of(server):
            say(f"{gpu}: ending a server that an interrupted sweep left, process {server.pid}")
        if alive:
            psutil.wait_procs([alive], timeout=self.leftover_timeout_s)
        stuck = kill_all([*([alive] if alive else []), *group_of(server)])
        removed = remove_dead_segments(float(holder.get("since_s", time.time())))
        if removed:
            say(f"{gpu}: removed shared memory that it left: {' '.join(removed)}")
        return f"process {stuck[0].pid}" if stuck else None


def _end_container(gpu: str, holder: dict[str, Any], say: Say) -> str | None:
    """End the recorded container by its name; its name, where it cannot be ended."""
    container = _container_in(holder)
    if container is None or container.is_gone():
        return None
    say(f"{gpu}: ending a server that an interrupted sweep left, container {container.name}")
    return None if container.end() else f"container {container.name}"


def _opened(path: Path, gpu: str) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DeviceError(
            f"its lock cannot be opened ({error.strerror or error})",
            where=f"{gpu}, {path}",
            next_step="Correct the permissions of the folder.",
        ) from error


def _try(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _read(path: Path) -> dict[str, Any]:
    """The file's object; empty where there is none or it is damaged."""
    with suppress(OSError, ValueError):
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def _known_in(holder: dict[str, Any], name: str) -> Known | None:
    with suppress(KeyError, TypeError, ValueError):
        return Known(int(holder[name]["pid"]), float(holder[name]["started_s"]), str(holder[name]["boot"]))
    return None


def _container_in(holder: dict[str, Any]) -> ServerContainer | None:
    with suppress(KeyError, TypeError):
        return ServerContainer(str(holder["container"]["program"]), str(holder["container"]["name"]))
    return None


def _recorded(**runs: Known | ServerContainer | None) -> dict[str, Any]:
    return {name: dataclasses.asdict(what) for name, what in runs.items() if what}


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
