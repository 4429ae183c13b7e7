"""Another run with a server up, in a process of its own: what a second run meets, and what a kill leaves."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pipeline.definitions import CHECKOUT


@contextlib.contextmanager
def run_with_server(code: str, folder: Path, *arguments: str) -> Iterator[tuple["subprocess.Popen[str]", int, int]]:
    """The process of the code, which prints UP and two pids: the server's and its keeper's. Killed at the end.

    The code gets the checkout, the folder and the further arguments.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(CHECKOUT), str(folder), *arguments], stdout=subprocess.PIPE, text=True
    )
    words: list[str] = []
    while not words or words[0] != "UP":
        line = process.stdout.readline()
        assert line, "the other run ended"
        words = line.split()
    yield process, int(words[1]), int(words[2])
    process.kill()
    process.communicate()
