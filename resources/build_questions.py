"""Questions to a new build: a piece of Python code is run in it, and a failure is one sentence.

Not here: how each kind of build runs code (engine_builder.py), and the parser of launch lines (launch_lines.py).
"""

from collections.abc import Callable, Sequence

from pipeline.errors import BuildError
from resources.programs import Ended

Ask = Callable[[str, Sequence[str]], Ended]
"""Runs a piece of Python code with arguments inside a build, whatever kind of build that is."""


def last_line(slug: str, ask: Ask, code: str) -> str:
    """The last line that the code prints in the build; empty where it prints nothing. Raises BuildError."""
    ended = ask(code, ())
    expect(slug, "it does not run", ended)
    return (ended.output.strip().splitlines() or [""])[-1]


def expect(slug: str, what: str, ended: Ended) -> None:
    """Raises BuildError where a program of the build did not end well."""
    if ended.code:
        raise BuildError(
            f"{what} (exit code {ended.code})",
            where=slug,
            found=ended.tail(),
            next_step="Nothing of it is kept; correct the cause and build again.",
        )
