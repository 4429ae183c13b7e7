"""`frontier backup` and `frontier restore`: a home folder as one file, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pipeline.pages.formats import counted

if TYPE_CHECKING:
    from resources.backup import BackedUp

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

MIB = 2**20


def backup(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="A new .tar.gz file outside the home folder.")],
) -> None:
    """Results, site, prices and run history of the home folder in one file, also while sweeps run.

    Engine builds, made models and server logs are left out: builds and models are made again from the registry.
    """
    from pipeline.definitions import default_home, outside
    from resources.backup import COST_INPUTS, PRICES, write_backup
    from resources.interrupted_runs import has_own_history

    here, home = outside(default_home()), default_home()
    beside = {PRICES: Path(here.prices.file), COST_INPUTS: Path(here.prices.tco_file)}
    done = write_backup(home, beside, archive, here.clock.now(), _say_waiting)
    out.print(f"{archive}: {_size(done)} of {home}")
    if not has_own_history(home):
        err.print("The history of runs is a database or folder of its own and not in this file: back it up as such.")


def restore(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="A file that frontier backup wrote.")],
) -> None:
    """Put a backup into the home folder, which must be empty or new. Every file is held against its hash first."""
    from pipeline.definitions import default_home
    from resources.backup import COST_INPUTS, PRICES, read_backup
    from resources.interrupted_runs import cancel_interrupted

    home = default_home()
    done = read_backup(archive, home, _say_waiting)
    out.print(f"{home}: {_size(done)}, as of {done.made_at:%Y-%m-%d %H:%M} UTC")
    out.print(f"its prices: FRONTIER_PRICES={home / PRICES} FRONTIER_TCO={home / COST_INPUTS}")
    for run in cancel_interrupted(home):
        out.print(f"was going on, is canceled now: {run}")


def _size(done: "BackedUp") -> str:
    return f"{counted(len(done.files), 'file')}, {done.n_bytes / MIB:,.1f} MiB"


def _say_waiting() -> None:
    err.print("another frontier command or publisher works on this home folder: waiting for its end")
