"""Processes that this project started and may end: known again by pid and start time, never by name alone.

A start is counted from the host's own start, which the kernel keeps: an epoch time would move with every step of the
clock, and a living process would be taken for another one.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

SHARED_MEMORY = Path("/dev/shm")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
OUR_SEGMENTS = ("psm_", "sem.mp-", "torch_", "nccl-", "vllm", "sglang")
"""How the names of shared memory begin that engines leave behind where they are killed."""


@dataclass(frozen=True)
class Known:
    """One process, known again after any restart of this one. A pid alone may be somebody else's by then."""

    pid: int
    started_s: float
    """Seconds from the start of the host to that of the process."""

    boot: str = field(default_factory=lambda: boot_id())
    """The kernel's name for the time since the host was started: pids and seconds begin anew with the next one."""

    def process(self) -> psutil.Process | None:
        """The process if it still runs; None also where another one has its pid."""
        with contextlib.suppress(psutil.NoSuchProcess):
            found = psutil.Process(self.pid)
            same = self.boot == boot_id() and abs(_started_s(self.pid) - self.started_s) < 0.05
            return found if same and is_running(found) else None
        return None


def known(pid: int) -> Known:
    """The process as it can be known again. Raises psutil.NoSuchProcess."""
    return Known(pid, _started_s(pid))


def ended_by_now(pid: int) -> Known:
    """A process that ended before it could be looked at: nobody is it, and what it began began before now."""
    return Known(pid, time.clock_gettime(time.CLOCK_BOOTTIME))


def boot_id() -> str:
    """The kernel's identifier of this start of the host."""
    return BOOT_ID.read_text(encoding="ascii").strip()


def _started_s(pid: int) -> float:
    """Seconds from the host's start to the process's. Raises psutil.NoSuchProcess."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(pid) from None
    return int(said.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


def group_of(leader: Known) -> list[psutil.Process]:
    """Every living process of the process group that ``leader`` opened, with it or after its end.

    While one of them lives the kernel gives the group's number to nobody else, so they are ours unless the leader's
    pid is now that of a younger process.

    Groups and not sessions: Linux schedules each session as one (sched_autogroup), and Linux 6.18 lets a session whose
    engine waits with sched_yield starve the others. A load client in a session of its own then got 6 % of two cores and
    read whole outputs at once (client_bound), on an otherwise idle host. Server and client share the run's session.
    """
    if leader.boot != boot_id():
        return []
    with contextlib.suppress(psutil.NoSuchProcess):
        if _started_s(leader.pid) > leader.started_s + 0.05:
            return []
    return [process for process in _running() if _group(process.pid) == leader.pid]


def tree_of(pid: int) -> list[psutil.Process]:
    """A process and everything below it; empty where it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def is_running(process: psutil.Process) -> bool:
    """Whether it lives: one that ended and was not waited for does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def kill_all(processes: list[psutil.Process], timeout_s: float = 5.0) -> list[psutil.Process]:
    """SIGKILL to each; returns those that still live after the timeout [s] (stuck inside the kernel)."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill()
    return list(psutil.wait_procs(processes, timeout=timeout_s)[1])


def remove_dead_segments(since_s: float) -> list[str]:
    """Remove the shared memory that engines left since then; returns the names."""
    removed = dead_segments(since_s)
    for path in removed:
        path.unlink(missing_ok=True)
    return [path.name for path in removed]


def dead_segments(since_s: float) -> list[Path]:
    """Shared memory that engines left: this user's, written since then, and open in no living process.

    ``since_s`` is in seconds since the epoch: what was there before is somebody else's.
    """
    found = {path: path.stat().st_ino for path in _segments() if _ours_since(path, since_s)}
    in_use = _inodes_in_use() if found else set()
    return [path for path, inode in found.items() if inode not in in_use]


def _segments() -> list[Path]:
    return [path for start in OUR_SEGMENTS for path in SHARED_MEMORY.glob(f"{start}*")]


def _ours_since(path: Path, since_s: float) -> bool:
    with contextlib.suppress(OSError):
        status = path.stat()
        return status.st_uid == os.getuid() and status.st_mtime >= since_s
    return False


def _inodes_in_use() -> set[int]:
    """Files of shared memory that a living process has mapped or open. A semaphore is mapped under another name."""
    inodes: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            lines = (folder / "maps").read_text(errors="replace").splitlines()
            inodes |= {int(line.split()[4]) for line in lines if f" {SHARED_MEMORY}/" in line}
        with contextlib.suppress(OSError):
            inodes |= {inode for link in (folder / "fd").iterdir() if (inode := _inode_in_shared_memory(link))}
    return inodes


def _inode_in_shared_memory(link: Path) -> int | None:
    with contextlib.suppress(OSError):  # descriptors come and go while they are listed
        if link.readlink().is_relative_to(SHARED_MEMORY):
            return link.stat().st_ino
    return None


def _running() -> Iterator[psutil.Process]:
    return (process for process in psutil.process_iter() if is_running(process))


def _group(pid: int) -> int:
    with contextlib.suppress(OSError):
        return os.getpgid(pid)
    return -1
