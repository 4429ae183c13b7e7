"""Keeps one server: starts it in a process group of its own, and ends it with everything that it started.

A program of its own, so that whatever ends the run that wanted the server, SIGKILL included, ends the server as well:
its standard input is a pipe from that run, and the end of the pipe is the order to stop. It adopts the orphans below
it, so a worker that lost its parent is found. On standard output: a line with the server's pid, then its exit code.

Where the server is a container, the process here is only the program that started it: a command that ends the container
by name follows its end, whatever that was.

Arguments: seconds of grace, descriptor to hand on (-1: none), log file, that command as JSON ([]: none), then the
server's command.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36
POLL_S = 0.2
GOODBYE_S = 1.0
"""What the workers of a server may need when it has ended."""

AFTERWARDS_TIMEOUT_S = 60.0


def keep(grace_s: float, descriptor: int, log: Path, afterwards: Sequence[str], command: Sequence[str]) -> int:
    """Start, watch, end; returns the server's exit code, negative for a signal."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with log.open("ab") as said:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            process_group=0,  # no session of its own: see processes.group_of
            pass_fds=(descriptor,) if descriptor >= 0 else (),
        )
    _tell(server.pid)
    while server.poll() is None and not _told_to_stop():
        pass
    code = _end(server, grace_s, afterwards)
    _tell(code)
    return code


def _end(server: "subprocess.Popen[bytes]", grace_s: float, afterwards: Sequence[str]) -> int:
    """SIGTERM to the server alone, which ends its own workers; after the grace, SIGKILL to all that is left.

    A container is ended by name in between: what is killed below its program can be that which would remove it.
    """
    if server.poll() is None:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(grace_s)
    if afterwards:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(afterwards, capture_output=True, timeout=AFTERWARDS_TIMEOUT_S, check=False)
    psutil.wait_procs(_below(server), timeout=GOODBYE_S)
    server.kill()
    code = server.wait()
    while left := _below(server):
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=GOODBYE_S)
    return code


def _below(server: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    """Everything below this keeper but the server itself, whose exit code its own wait must get."""
    return [process for process in psutil.Process().children(recursive=True) if process.pid != server.pid]


def _told_to_stop() -> bool:
    """Whether the pipe from the run has ended; waits a little for it."""
    readable, _, _ = select.select([sys.stdin], [], [], POLL_S)
    return bool(readable) and not os.read(sys.stdin.fileno(), 1)


def _tell(number: int) -> None:
    with contextlib.suppress(OSError):  # the run may be gone; the work goes on
        os.write(sys.stdout.fileno(), f"{number}\n".encode())


def main() -> None:
    """Signals meant for the run do not end its keeper; a handler, unlike SIG_IGN, is not inherited by the server."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(name, lambda *_: None)
    grace_s, descriptor, log, afterwards, *command = sys.argv[1:]
    keep(float(grace_s), int(descriptor), Path(log), json.loads(afterwards), command)


if __name__ == "__main__":
    main()
