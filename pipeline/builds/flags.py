"""A launch line against the flags that a build knows: a renamed flag is found before any GPU time is spent."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from pipeline.errors import BuildError

_FLAG = re.compile(r"^--?[A-Za-z]")


def flags_of(arguments: Iterable[str]) -> list[str]:
    """The flags of a launch line as an engine's parser reads them.

    _ is read as -, a value after = is cut off, and so is the path into a nested option (--compilation-config.level).
    """
    names = (re.split(r"[=.]", argument)[0] for argument in arguments if _FLAG.match(argument))
    return [re.sub("(?<=[A-Za-z0-9])_", "-", name) for name in names]


def unknown_flags(arguments: Sequence[str], known: Iterable[str]) -> list[str]:
    """Flags of the launch line that are not known, in their order. An abbreviation is not known."""
    names = {name for flag in known for name in (flag, *flags_of([flag]))}
    return [flag for flag in flags_of(arguments) if flag not in names]


def refuse_unknown_flags(arguments: Sequence[str], known: Sequence[str], build: str) -> None:
    """Raises BuildError for the first unknown flag; it names the flag, the build and the nearest flag that exists."""
    for flag in unknown_flags(arguments, known):
        close = difflib.get_close_matches(flag, sorted(known), n=1, cutoff=0.5)
        nearest = f"Nearest flag that exists: {close[0]}" if close else f"It knows {len(set(known))} others, none close"
        raise BuildError(f"unknown flag {flag}", where=build, next_step=f"{nearest}.")
