"""Progress of long loops: into the log, or onto a terminal."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import dagster as dg
from rich.console import Console
from rich.progress import track

T = TypeVar("T")


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
        if self.terminal:
            from_terminal = track(items, description=what, console=Console(stderr=True), transient=True)
            yield from from_terminal
            return
        log = dg.get_dagster_logger()
        step = max(1, len(items) // 10)
        for index, item in enumerate(items):
            if index and index % step == 0:
                log.info("%s: %d of %d", what, index, len(items))
            yield item
