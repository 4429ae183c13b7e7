"""Whether a process tree does anything: a start may take an hour, but an hour of silence is a failure.

A sign is output, work of the processors, or reading. A clock on the wall says nothing: compiling kernels and loading
weights take as long as they take.
"""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import psutil

BUSY_SHARE = 0.05
"""Processor time per second above which the tree works; an idle server's own housekeeping stays below."""

READ_BYTES = 1 << 20


class SignsOfLife:
    """Watches processes and their log file; ``silent_s`` is how long the last sign is ago [s]."""

    def __init__(self, processes: Callable[[], list[psutil.Process]], log: Path):
        self._processes = processes
        self._log = log
        self._seen = self._look()
        self._last_sign_s = self._seen[0]

    def silent_s(self) -> float:
        """Look again."""
        before, now = self._seen, self._look()
        elapsed_s = now[0] - before[0]
        busy = now[1] - before[1] > BUSY_SHARE * elapsed_s
        read = now[2] - before[2] > READ_BYTES
        if busy or read or now[3] != before[3]:
            self._last_sign_s = now[0]
        self._seen = now
        return now[0] - self._last_sign_s

    def _look(self) -> tuple[float, float, int, int]:
        cpu_s, read = 0.0, 0
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                times = process.cpu_times()
                cpu_s += times.user + times.system
                read += process.io_counters().read_chars
        said = self._log.stat().st_size if self._log.exists() else 0
        return time.monotonic(), cpu_s, read, said
