"""What the pages of one GPU were made from, as versions, and in which words that differs from what is there now.

Belongs here: comparing. Reading files and hashing them is a resource's; whether the page's text is on the site is the
audit's (assets/page_audit.py). The UI's own stale mark is not relied on.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.pages.formats import counted

N_NAMED = 3


@dataclass(frozen=True)
class PageInputs:
    """Versions, all of them hashes of content: stored files by name, the price rows of ``as_of``, code, registry.

    ``files`` are named <stage>/<gpu>/<run_date>/<table>.parquet; ``pages`` are the stored pages by model.
    """

    gpu: str
    as_of: dt.date
    files: Mapping[str, str]
    prices: str
    code: str
    registry: str
    pages: Mapping[str, str]


def changed_inputs(made: PageInputs, now: PageInputs) -> tuple[str, ...]:
    """One sentence for each kind of input that is another one now; empty where the pages are current.

    ``now.prices`` are those of today: a page of an earlier day is stale where another price row holds by now.
    """
    found = _changed_cells(made.files, now.files)
    if made.prices != now.prices:
        found.append(f"the price rows of {now.as_of} are not those that it was made with, as of {made.as_of}")
    if made.code != now.code:
        found.append("it was made by other code (frontier, costs, pages)")
    if made.registry != now.registry:
        found.append("it was made with another registry (names, workloads, tiers)")
    for model in sorted({*made.pages, *now.pages}):
        if model not in now.pages:
            found.append(f"its stored page of {model} is gone")
        elif made.pages.get(model) != now.pages.get(model):
            found.append(f"its stored page of {model} is not the one that was made")
    return tuple(found)


def _changed_cells(made: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """One sentence a way of changing: cells that are new, changed or gone, the first few by name."""
    kinds = {
        "new": now.keys() - made.keys(),
        "gone": made.keys() - now.keys(),
        "changed": {name for name in made.keys() & now.keys() if made[name] != now[name]},
    }
    return [f"{_named(names)} {kind}" for kind, names in kinds.items() if names]


def _named(names: Iterable[str]) -> str:
    ordered = sorted(names, reverse=True)
    more = f" and {len(ordered) - N_NAMED} more" if len(ordered) > N_NAMED else ""
    verb = "is" if len(ordered) == 1 else "are"
    return f"{counted(len(ordered), 'input file')} ({', '.join(ordered[:N_NAMED])}{more}) {verb}"
