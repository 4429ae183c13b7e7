"""Following a job that somebody else runs: its log as it grows, and programs that are asked about it."""

import time
from collections.abc import Callable, Iterator, Sequence

from pipeline.errors import HostError
from resources.programs import ask

ASK_TIMEOUT_S = 60.0
N_TRIES = 5


def growing(text: Callable[[], str], ending: Callable[[], str | None], poll_s: float) -> Iterator[str]:
    """The lines of a log that only grows, each once, until the job has an ending; a last half line counts then."""
    n_read, is_over = 0, False
    while not is_over:
        is_over = ending() is not None
        if is_over:
            time.sleep(poll_s)  # what it said last may be on its way
        said = text()
        whole = said if is_over else said[: said.rfind("\n") + 1]
        yield from (line for line in whole[n_read:].split("\n") if line)
        n_read = len(whole)
        if not is_over:
            time.sleep(poll_s)


def answer(host: str, command: Sequence[str], said: str = "") -> str:
    """What a program prints. Raises HostError where it cannot be started or fails."""
    try:
        ended = ask(command, {}, ASK_TIMEOUT_S, said)
    except OSError as error:
        raise _no_answer(host, command, str(error)) from error
    if ended.code:
        raise _no_answer(host, command, f"exit code {ended.code}, {ended.tail(3)}")
    return ended.output


def patient_answer(host: str, command: Sequence[str], poll_s: float) -> str:
    """As answer, for a question that may be asked again: a scheduler that is away for a while ends no sweep."""
    for _ in range(N_TRIES - 1):
        try:
            return answer(host, command)
        except HostError:
            time.sleep(poll_s)
    return answer(host, command)


def _no_answer(host: str, command: Sequence[str], found: str) -> HostError:
    return HostError(
        f"{command[0]} gives no answer",
        where=host,
        found=found[:400],
        next_step=f"Try it by hand: {' '.join(command)[:200]}",
    )
