"""Child programs that end by themselves: an installer told line by line, a question answered on standard output."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

N_KEPT_LINES = 200
SECONDS_BETWEEN_LINES = 10
OURS = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DAGSTER_HOME"})


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code, its standard output and the last lines of everything that it said."""

    code: int
    output: str
    last_lines: tuple[str, ...]

    def tail(self, n_lines: int = 6) -> str:
        """The last lines that hold anything, joined for a sentence."""
        said = [line.strip() for line in self.last_lines if line.strip()]
        return " / ".join(said[-n_lines:]) or "no output"


def follow(arguments: Sequence[str], descriptor: int, on_line: Callable[[str], None]) -> Ended:
    """Run to the end, each line of output to ``on_line``; the child holds ``descriptor`` open too.

    Whatever interrupts this ends the child as well. Raises OSError where it cannot be started.
    """
    lines: deque[str] = deque(maxlen=N_KEPT_LINES)
    with subprocess.Popen(
        arguments,
        env=surroundings({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=(descriptor,),
    ) as child:
        try:
            for line in child.stdout or ():
                lines.append(line.rstrip())
                on_line(line.rstrip())
            code = child.wait()
        except BaseException:
            child.kill()
            raise
    return Ended(code, "\n".join(lines), tuple(lines))


def ask(arguments: Sequence[str], variables: Mapping[str, str], timeout_s: float, said: str = "") -> Ended:
    """Run to the end on the input ``said``, its standard output kept apart. Out of time is code 124. Raises OSError."""
    try:
        done = subprocess.run(
            arguments,
            env=surroundings(variables),
            input=said,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ended(124, "", (f"no answer within {timeout_s:g} s",))
    heard = (done.stdout + "\n" + done.stderr).splitlines()
    return Ended(done.returncode, done.stdout, tuple(heard[-N_KEPT_LINES:]))


def surroundings(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process without what leads a child to our own Python, and with the variables."""
    return {name: value for name, value in os.environ.items() if name not in OURS} | dict(variables)


def every_few_seconds(slug: str, say: Callable[[str], None]) -> Callable[[str], None]:
    """A taker of a program's lines that passes one on when the last one is some seconds old."""
    start_s = last_s = time.monotonic()

    def tell(line: str) -> None:
        nonlocal last_s
        now_s = time.monotonic()
        if line.strip() and now_s - last_s >= SECONDS_BETWEEN_LINES:
            last_s = now_s
            say(f"{slug}: {now_s - start_s:.0f} s, {line.strip()[:100]}")

    return tell
