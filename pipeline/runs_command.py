"""`frontier runs`: what ran on the home folder, and why a run failed."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from rich.console import Console

from pipeline.sheets import AsCsv, AsJson, Column, Sheet, form_of, print_sheet

if TYPE_CHECKING:
    import dagster as dg

    from resources.past_runs import PastRun

out = Console(highlight=False, markup=False, soft_wrap=True)


def runs(
    run_id: Annotated[
        Optional[str],  # noqa: UP045 - typer reads annotations at run time
        typer.Argument(help="Only this run, by the start of its id: what went wrong."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs that failed.")] = False,
    last: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """The newest runs: what, why, how they ended; and of one run the words with which it failed."""
    import dagster as dg

    from pipeline.definitions import default_home
    from resources.dagster_runs import open_instance
    from resources.past_runs import past_runs, run_of

    form = form_of(as_csv, as_json)
    with open_instance(default_home()) as instance:
        if run_id is not None:
            _print_run(instance, run_of(instance, run_id))
            return
        statuses = [dg.DagsterRunStatus.FAILURE] if failed else []
        print_sheet(_sheet(past_runs(instance, last, statuses)), form)


def _sheet(runs: "list[PastRun]") -> Sheet:
    heads = ("run", "made, UTC", "job", "cell", "why", "ended", "s")
    columns = tuple(Column(head, wraps=head == "why") for head in heads)
    return Sheet(columns, [_cells(run) for run in runs], [dataclasses.asdict(run) for run in runs])


def _cells(run: "PastRun") -> list[str]:
    seconds = "–" if run.seconds is None else f"{run.seconds:,.0f}"
    return [run.run_id[:8], f"{run.created_at:%Y-%m-%d %H:%M}", run.job, run.partition, run.why, run.status, seconds]


def _print_run(instance: "dg.DagsterInstance", run: "PastRun") -> None:
    from resources.past_runs import words_of_failure

    out.print(f"{run.run_id}: {run.job} {run.partition}".rstrip())
    out.print(f"{run.status}, {run.created_at:%Y-%m-%d %H:%M:%S} UTC, {run.why}")
    for words in words_of_failure(instance, run.run_id):
        out.print(words)
