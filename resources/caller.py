"""The caller of this sweep, on another host: told over Dagster Pipes what is finished here, and missed when gone.

Belongs here: this end of it. Not here: the caller's (far_hosts.py), and what a message is (pipeline/hosts/messages.py).
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TextIO

import pyarrow as pa
from dagster_pipes import (
    DAGSTER_PIPES_CONTEXT_ENV_VAR,
    PipesContext,
    PipesMessageWriter,
    PipesParams,
    PipesStreamMessageWriterChannel,
    open_dagster_pipes,
)

from pipeline.cell import GpuRun
from pipeline.errors import SweepRefusedError
from pipeline.hosts.messages import Ended, Failed, Finished
from pipeline.tables.columns import Table
from resources.atomic_files import sha256_of
from resources.progress import Progress
from resources.sweep_store import SweepStore

SILENCE_S = 60.0
"""Without a sign of life for so long the caller is gone, even where the connection does not say so."""


@contextmanager
def told() -> Iterator[int]:
    """Inside, the caller hears what ToldProgress and ToldStore say, on the descriptor that this yields.

    Raises SweepRefusedError where nobody called.
    """
    if DAGSTER_PIPES_CONTEXT_ENV_VAR not in os.environ:
        raise SweepRefusedError(
            "nobody called",
            where="sweep --to-caller",
            expected="to be started by the sweep of another host",
            next_step="Leave --to-caller out.",
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's way to say stop
    with os.fdopen(os.dup(1), "w", buffering=1) as line, open_dagster_pipes(message_writer=_OwnLine(line)):
        os.dup2(2, 1)
        yield line.fileno()


class _OwnLine(PipesMessageWriter[PipesStreamMessageWriterChannel]):
    """Messages on a stream of their own: Dagster leads what is printed during a run through files."""

    def __init__(self, line: TextIO):
        self._line = line

    @contextmanager
    def open(self, params: PipesParams) -> Iterator[PipesStreamMessageWriterChannel]:
        """The stream, whatever the caller proposes."""
        yield PipesStreamMessageWriterChannel(self._line)


def tell(message: Finished | Ended | Failed) -> None:
    """One message to the caller."""
    _send(lambda: PipesContext.get().report_custom_message(message.message()))


def end_with_input(line: int) -> None:
    """Interrupt this process when its standard input ends, or has nothing to say for a minute.

    What is said on the descriptor ``line`` leads nowhere from then on: nothing here waits for a reader who is gone.
    """
    threading.Thread(target=_watch, args=(line,), daemon=True).start()


def _watch(line: int) -> None:
    descriptor = sys.stdin.fileno()
    while select.select([descriptor], [], [], SILENCE_S)[0] and os.read(descriptor, 4096):
        pass
    os.dup2(os.open(os.devnull, os.O_WRONLY), line)
    ident = threading.main_thread().ident
    assert ident
    signal.pthread_kill(ident, signal.SIGINT)


class ToldProgress(Progress):
    """Progress that the caller hears."""

    def say(self, text: str) -> None:
        """One line to the caller's log."""
        _send(lambda: PipesContext.get().log.info(text))


class ToldStore(SweepStore):
    """The sweep store, whose caller hears of every finished point and run."""

    def put(self, cell: GpuRun, fingerprint: str, point: dict[str, object], beside: Mapping[Table, pa.Table]) -> None:
        """As in the sweep store; then the caller hears of its files."""
        super().put(cell, fingerprint, point, beside)
        self._tell(cell, fingerprint)

    def put_run(self, cell: GpuRun, name: str, run: dict[str, object]) -> None:
        """As in the sweep store; then the caller hears of its file."""
        super().put_run(cell, name, run)
        self._tell(cell, name)

    def _tell(self, cell: GpuRun, name: str) -> None:
        tell(Finished({path.name: sha256_of(path.read_bytes()) for path in self.files(cell, name)}))


def _send(speak: Callable[[], object]) -> None:
    """Speak. A caller who is gone hears nothing, and what goes on here ends in its own way: by the end of its input."""
    with suppress(OSError):
        speak()
