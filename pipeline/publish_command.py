"""What every command that publishes does: cells first that are not derived, then stale costs, pages, then the site."""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich.console import Console

from pipeline.errors import FrontierError
from pipeline.pages.formats import counted

if TYPE_CHECKING:
    from pipeline.launch import Launch

out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def publish_pages(launch: "Launch", gpus: list[str], as_of: str, corrections_until: str = "") -> None:
    """Cells that are not derived or were renamed, costs that are not of the price book as it is, pages, and the site.

    Raises FrontierError.
    """
    lost, without_pages = launch.lost()
    for cell, what in lost.items():
        err.print(f"{cell}: {what}; deriving it")
    derived = _derive(launch, lost, "deriving cells") | _derive(launch, launch.cells_to_rename(), "following slugs")
    gpus = sorted({*gpus, *without_pages, *derived})
    stale = launch.stale_costs(gpus)
    for cell in with_bar(stale, "pricing cells"):
        launch.price(cell)
    for gpu in with_bar(gpus, "building pages"):
        launch.build_pages(gpu, as_of, corrections_until)
    done = launch.publish_site()
    pages, pairs = counted(done["n_pages"], "page"), counted(done["n_pairs"], "model and GPU pair")
    out.print(f"{pages} of {pairs}: {done['path']}/index.html")


def with_bar(items: Collection[str], doing: str) -> Iterable[str]:
    """The items, with a bar on a terminal where there are several."""
    from resources.progress import bar

    return bar(items, len(items), doing) if len(items) > 1 else items


def _derive(launch: "Launch", cells: Collection[str], doing: str) -> set[str]:
    """Derive cells again; returns their GPUs. Raises FrontierError."""
    for cell in with_bar(cells, doing):
        launch.derive(cell)
    return {cell.partition("|")[0] for cell in cells}


def as_day(text: str, option: str) -> dt.date:
    """The day YYYY-MM-DD that was given to an option. Raises FrontierError, which names the option."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        where = f"{option} {text.strip() or repr(text)}"
        raise FrontierError("not a day", where=where, expected="YYYY-MM-DD", next_step="Correct the date.") from None
