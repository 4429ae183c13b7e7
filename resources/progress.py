"""Progress of long loops: into the log, or onto a terminal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import dagster as dg
from rich.console import Console
from rich.progress import track

T = TypeVar("T")

Say = Callable[[str], None]
"""Takes one line of progress."""


def bar(items: Iterable[T], n: int, what: str) -> Iterable[T]:
    """The n items with a bar on standard error; with none where that is no terminal: it would leave an empty line."""
    console = Console(stderr=True)
    return track(items, total=n, description=what, console=console, transient=True, disable=not console.is_terminal)


class Progress(dg.ConfigurableResource):
    """Says how far something is. ``terminal``: on standard error, a loop as a bar; otherwise a line in the log."""

    terminal: bool = False

    def say(self, text: str) -> None:
        """One line about something that takes long."""
        if self.terminal:
            Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)
        else:
            dg.get_dagster_logger().info(text)

    def over(self, items: Sequence[T], what: str) -> Iterator[T]:
        """The items, in order, with progress told along the way."""
        return self.along(items, len(items), what)

    def along(self, items: Iterable[T], n: int, what: str) -> Iterator[T]:
        """As over, for n items that are made while they are asked for."""
        if self.terminal:
            yield from bar(items, n, what)
            return
        log = dg.get_dagster_logger()
        step = max(1, n // 10)
        for index, item in enumerate(items):
            if index and index % step == 0:
                log.info("%s: %d of %d", what, index, n)
            yield item
