"""`frontier store`: compaction and retention of results and of the run history. Nothing is deleted without --yes."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pipeline.pages.formats import counted

if TYPE_CHECKING:
    from resources.store_files import OldFile

MIB = 2**20

store_app = typer.Typer(no_args_is_help=True, help="Compaction and retention. Nothing is deleted without --yes.")
out = Console(highlight=False, markup=False, soft_wrap=True)

OlderThan = Annotated[int, typer.Option("--older-than", help="Days before today (UTC); 1 to 36,500.")]
Yes = Annotated[bool, typer.Option("--yes", help="Delete; without it the command only says what it would delete.")]


@store_app.command()
def compact(gpu: Annotated[str, typer.Argument(help="Only this GPU.")] = "") -> None:
    """Put the cell files of each GPU into one file a table, from which pages and downloads are read.

    Publishing does the same for what it reads; this does it ahead of time. The cell files stay, and stay the truth.
    """
    from pipeline.launch import Launch

    with Launch.at_home() as launch:
        for slug, done in launch.housekeeping.compact(gpu):
            n_cells, n_rows = counted(done.n_cells, "cell file"), counted(done.rows.num_rows, "row")
            out.print(f"{slug}: {n_cells}, {n_rows}; {done.n_read} were not compacted yet")


@store_app.command()
def prune(older_than: OlderThan, yes: Yes = False) -> None:
    """Delete rows of single requests and samples of older cells, points never finished, and what killed writers left.

    Points, readings, costs, the log of changes, and all rows behind the newest valid curve of every series stay: the
    site and its downloads keep their bytes.
    """
    from pipeline.launch import Launch

    with Launch.at_home() as launch:
        files = launch.housekeeping.old_files(older_than)
        for line in file_lines(files):
            out.print(line)
        if yes:
            launch.housekeeping.remove_files(files)
        out.print(_ending(bool(files), yes))


@store_app.command("trim-history")
def trim_history(older_than: OlderThan, yes: Yes = False) -> None:
    """Delete older finished runs with their events and logs, and give the space back.

    A run that holds the latest materialization, observation or request of some partition stays, and so does one that a
    schedule or sensor asked for: status, data versions and automation do not change.
    """
    from pipeline.launch import Launch

    with Launch.at_home() as launch:
        run_ids = launch.housekeeping.old_runs(older_than)
        out.print(f"{counted(len(run_ids), 'run')} that nothing reads any more")
        if yes:
            n_bytes = launch.housekeeping.remove_runs(run_ids)
            out.print(f"{n_bytes / MIB:,.1f} MiB given back")
        out.print(_ending(bool(run_ids), yes))


def file_lines(files: "Sequence[OldFile]") -> list[str]:
    """One line a kind of file: how many and how large."""
    found = groupby(sorted(files, key=lambda file: file.kind), key=lambda file: file.kind)
    kinds = {kind: [file.n_bytes for file in members] for kind, members in found}
    return [f"{kind}: {counted(len(sizes), 'file')}, {sum(sizes) / MIB:,.1f} MiB" for kind, sizes in kinds.items()]


def _ending(found: bool, yes: bool) -> str:
    if not found:
        return "nothing to delete"
    return "deleted" if yes else "nothing is deleted yet: run the same command with --yes"
