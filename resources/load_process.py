"""One process of the load generator and everything that it starts: watched each second, ended with nothing left.

Belongs here: the process tree, its CPU time, its signs of life and its end. Not here: what it is asked and what its
records mean (load_generator.py).
"""

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from resources.processes import Known, group_of, is_running, known, tree_of
from resources.programs import surroundings

POLL_S = 0.5
GOODBYE_S = 3.0
BUSY_SHARE = 0.3
"""A tree that uses this share of a core is at work: it imports, or makes prompts."""


@dataclass(frozen=True)
class Watch:
    """What ends a run before its own end: an ``alive`` that returns why, or ``silence_s`` without a sign of life.

    Signs of life are ``files`` that grow, and CPU time. ``tick`` is called at each look.
    """

    alive: Callable[[], str | None]
    silence_s: float
    files: tuple[Path, ...]
    tick: Callable[[], None]


@dataclass
class CpuTime:
    """CPU seconds of a tree, sampled: (time in ns since 1970, CPU seconds so far)."""

    samples: list[tuple[int, float]] = field(default_factory=list)
    before_s: float = 0.0
    seconds: float = 0.0

    def start_process(self) -> None:
        """Another process begins: what was used so far stays."""
        self.before_s = self.seconds

    def add(self, pid: int) -> None:
        """Look at the tree of a process. What ended in between is no longer seen, so it never falls."""
        self.seconds = max(self.seconds, self.before_s + _tree_cpu_s(pid))
        self.samples.append((time.time_ns(), self.seconds))

    def add_ended(self, children_s: float) -> None:
        """What the kernel counted for the process once it ended, with everything that it waited for."""
        self.seconds = max(self.seconds, self.before_s + children_s)

    def cores(self, start_ns: int, end_ns: int) -> float | None:
        """CPU seconds a second between two moments; None where fewer than two looks lie inside."""
        inside = [sample for sample in self.samples if start_ns <= sample[0] <= end_ns]
        if len(inside) < 2:
            return None
        (first_ns, first_s), (last_ns, last_s) = inside[0], inside[-1]
        return (last_s - first_s) / ((last_ns - first_ns) / 1e9)


@dataclass(frozen=True)
class RunEnded:
    """How it ended: its exit code, None where it was stopped, and then why."""

    code: int | None
    why: str | None


def run_watched(
    command: Sequence[str], variables: Mapping[str, str], folder: Path, watch: Watch, cpu: CpuTime
) -> RunEnded:
    """Run to the end or until the watch ends it; its output goes to output.txt in the folder. Raises OSError.

    Whatever interrupts this ends the whole tree as well.
    """
    ended_before_s = _ended_children_s()
    with _tree(command, variables, folder) as process:
        last_sign_s, last_size, last_cpu_s = time.monotonic(), -1, 0.0
        while process.poll() is None:
            cpu.add(process.pid)
            size = sum(file.stat().st_size for file in watch.files if file.exists())
            now_s = time.monotonic()
            if size != last_size or cpu.seconds - last_cpu_s > BUSY_SHARE * (now_s - last_sign_s):
                last_sign_s, last_size, last_cpu_s = now_s, size, cpu.seconds
            why = watch.alive() or _silence(now_s - last_sign_s, watch.silence_s)
            if why:
                return RunEnded(None, why)
            watch.tick()
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_S)
        watch.tick()
        cpu.add_ended(_ended_children_s() - ended_before_s)
        return RunEnded(process.returncode, None)


@contextmanager
def _tree(command: Sequence[str], variables: Mapping[str, str], folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    with (folder / "output.txt").open("wb") as said:
        process = subprocess.Popen(
            command,
            env=surroundings(variables),
            cwd=folder,
            stdin=subprocess.PIPE,  # its end is the child's signal that this process is gone
            stdout=said,
            stderr=subprocess.STDOUT,
            process_group=0,  # no session of its own: see processes.group_of
        )
        leader = known(process.pid)
        try:
            yield process
        except BaseException:
            _end(process, leader, goodbye_s=0)  # nobody reads what it would still write
            raise
        finally:
            _end(process, leader, GOODBYE_S)
            if process.stdin is not None:
                process.stdin.close()


def _end(process: "subprocess.Popen[bytes]", leader: Known, goodbye_s: float) -> None:
    """End the tree and its shared memory: SIGTERM, and SIGKILL after the goodbye. A group that is gone is no error."""
    tree = _members(leader)
    if not tree:
        return
    shared = _shared_memory(tree)
    left = tree
    if goodbye_s > 0:
        _signal(process.pid, tree, signal.SIGTERM)
        _, left = psutil.wait_procs(tree, timeout=goodbye_s)
    if left:
        _signal(process.pid, left, signal.SIGKILL)
        psutil.wait_procs(left, timeout=GOODBYE_S)
    process.wait()
    for file in shared:
        file.unlink(missing_ok=True)


def _signal(group: int, members: Sequence[psutil.Process], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)
    for member in members:
        with suppress(psutil.Error):
            member.send_signal(number)


def _members(leader: Known) -> list[psutil.Process]:
    """The processes of the tree, and those of its process group whose parent is gone."""
    found = {process.pid: process for process in (*tree_of(leader.pid), *group_of(leader))}
    return [process for process in found.values() if is_running(process)]


def _shared_memory(tree: Sequence[psutil.Process]) -> list[Path]:
    """Files under /dev/shm that the tree has mapped."""
    found = set()
    for process in tree:
        with suppress(psutil.Error, OSError):
            found |= {entry.path for entry in process.memory_maps() if entry.path.startswith("/dev/shm/")}
    return [Path(path.removesuffix(" (deleted)")) for path in sorted(found)]


def _tree_cpu_s(pid: int) -> float:
    """User and system seconds of a process, its running descendants, and the ended ones that it waited for."""
    total_s = 0.0
    for process in tree_of(pid):
        with suppress(psutil.Error):
            total_s += sum(process.cpu_times()[:4])
    return total_s


def _ended_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _silence(seconds: float, limit_s: float) -> str | None:
    return f"the load generator gave no sign of life for {limit_s:.0f} s" if seconds > limit_s else None
