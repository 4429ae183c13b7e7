"""The command line: thin callers of the same assets. Every command leaves its runs in the Dagster instance.

Errors are one sentence on standard error and exit code 1, or 2 for a command line that is not understood; --debug
shows the traceback.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich.console import Console

import resources.arrow_memory  # noqa: F401 - before pyarrow
from pipeline.backup_command import backup, restore
from pipeline.build_command import build
from pipeline.check_command import check
from pipeline.cost_command import cost
from pipeline.devices_command import devices_app
from pipeline.errors import FrontierError
from pipeline.imports.lengths import guess_words
from pipeline.imports.told import told_words
from pipeline.instance_command import instance
from pipeline.pages.formats import counted
from pipeline.prices_command import prices_app
from pipeline.publish_command import as_day, publish_pages, with_bar
from pipeline.runs_command import runs
from pipeline.serve_command import serve
from pipeline.sheets import AsCsv, AsJson, form_of, print_records, print_table
from pipeline.store_command import store_app
from pipeline.sweep_command import measure, sweep
from pipeline.system_errors import sentence_of
from pipeline.usage import is_help, usage_error
from resources.home_folder import refuse_impossible_home

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Serving benchmarks to frontiers, dated costs and a static site.",
)
app.add_typer(prices_app, name="prices")
app.add_typer(store_app, name="store")
app.add_typer(devices_app, name="devices")
app.command()(backup)
app.command()(restore)
app.command()(build)
app.command()(check)
app.command()(cost)
app.command()(instance)
app.command()(runs)
app.command()(serve)
app.command()(sweep)
app.command()(measure)

out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


MAKES_HOME = {"import", "instance", "measure", "restore", "sweep", "ui"}
"""Commands that make a home folder with everything above it, and say themselves why they cannot."""


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[
        Optional[str],  # noqa: UP045 - typer reads annotations at run time
        typer.Option(
            metavar="FOLDER", envvar="FRONTIER_HOME", help="Folder of the store, the site and the Dagster instance."
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command."""
    if home is not None:
        if not home.strip():
            raise FrontierError("no folder is named", where=f"--home {home!r}", next_step="Name one, or leave it out.")
        os.environ["FRONTIER_HOME"] = str(Path(home).resolve())
    os.environ["FRONTIER_DEBUG"] = "1" if debug else ""
    named = os.environ.get("FRONTIER_HOME")
    if named and context.invoked_subcommand not in MAKES_HOME and "--help" not in sys.argv:
        refuse_impossible_home(Path(named).absolute())


@app.command(name="import")
def import_results(
    paths: Annotated[list[Path], typer.Argument(help="Result files, or folders of them.", show_default=False)],
    gpu: Annotated[str, typer.Option(help="GPU of every file that does not say: h100, b300, …")] = "",
    gpus: Annotated[str, typer.Option(help="GPUs held by the deployment.")] = "",
    engine: Annotated[str, typer.Option(help="Engine: vllm, sglang, …")] = "",
    precision: Annotated[str, typer.Option(help="Checkpoint precision: fp4, fp8, bf16, …")] = "",
    model: Annotated[str, typer.Option(help="Model.")] = "",
    workload: Annotated[str, typer.Option(help="Workload: agentx, fixed_8k1k, random_128_64, …")] = "",
    run_date: Annotated[str, typer.Option(help="Day of the run, YYYY-MM-DD.")] = "",
    declare: Annotated[
        list[str], typer.Option(help="Any other fact, as key=value; may be repeated. Keys: see README.")
    ] = [],  # noqa: B006 - typer copies it
    max_mib: Annotated[int, typer.Option(min=1, help="Refuse files above this size.")] = 512,
    publish_after: Annotated[bool, typer.Option("--publish/--no-publish", help="Publish when done.")] = True,
) -> None:
    """Read result files, derive their cells and publish. What a file says itself always wins over an option.

    Exit code 1: no row became a point, valid or invalid. 2: some files were refused.
    """
    from pipeline.launch import Launch

    given = {"gpu": gpu, "n_gpus": gpus, "engine": engine, "precision": precision, "model": model}
    given |= {"workload": workload, "run_date": run_date} | dict(_key_value(text) for text in declare)
    with Launch.at_home(max_mib=max_mib) as launch:
        launch.observe_prices()
        report = launch.import_results([str(p) for p in paths], {k: v for k, v in given.items() if v})
        _print_report(report)
        cells = report["cells"]
        for cell in with_bar(cells, "deriving cells"):
            launch.derive(cell)
        if publish_after and cells:
            publish_pages(launch, sorted({cell.partition("|")[0] for cell in cells}), "")
    n_points = report["n_rows_imported"] + report["n_rows_invalid"]
    if report["refusals"] or (report["n_rows_rejected"] and not n_points):
        raise typer.Exit(2 if n_points else 1)


def _key_value(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise FrontierError(
            "not key=value", where=f"--declare {text}", next_step="Write e.g. --declare spec_method=mtp."
        )
    return key, value


def _print_report(report: dict[str, Any]) -> None:
    for file in report["reports"]:
        for rejection in file["rejections"][:5]:
            err.print(f"{file['file']} row {rejection['row']}: rejected, {rejection['code']}: {rejection['detail']}")
        if file["rejected"] > 5:
            more = counted(file["rejected"] - 5, "more row")
            err.print(f"{file['file']}: {more} rejected; the run in the UI lists them all.")
        for note in file["notes"]:
            err.print(f"{file['file']}: {note}")
    for sentence in report["refusals"].values():
        err.print(sentence)
    out.print(
        f"{counted(report['n_rows_read'], 'row')} read from {counted(report['n_files'], 'file')}: "
        f"{report['n_rows_imported']:,} imported, "
        f"{report['n_rows_invalid']:,} invalid, {report['n_rows_rejected']:,} rejected; "
        f"{counted(report['n_files_refused'], 'file')} refused."
    )
    for sentence in told_words(report["reports"]):
        out.print(sentence, soft_wrap=True)
    guessed = guess_words({workload for file in report["reports"] for workload in file["guessed_workloads"]})
    if guessed:
        out.print(guessed, soft_wrap=True)  # its option stays in one piece


@app.command()
def publish(
    as_of: Annotated[
        Optional[str],  # noqa: UP045 - typer reads annotations at run time
        typer.Option(help="Read prices as of this day, YYYY-MM-DD, not after today; default: today (UTC)."),
    ] = None,
    corrections_until: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Leave out corrections of prices made after this day, YYYY-MM-DD; default: none."),
    ] = None,
) -> None:
    """Build every page and the site from what is stored."""
    from pipeline.launch import Launch

    given = {"--as-of": as_of, "--corrections-until": corrections_until}
    days = ["" if day is None else as_day(day, option).isoformat() for option, day in given.items()]
    with Launch.at_home() as launch:
        publish_pages(launch, launch.gpus_with_results(), *days)


@app.command()
def show(gpu: str, model: str, as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """The ladder of one model on one GPU, from the stored pages."""
    from pipeline.launch import stored_pages
    from pipeline.pages.wording import section_title
    from pipeline.terminal import ladder_sheet

    form = form_of(as_csv, as_json)
    pages = stored_pages(gpu, model, "show")
    if form != "table":
        print_records([record for page in pages for record in ladder_sheet(page).records], form)
        return
    for page in pages:
        out.print(f"{page.title}: {section_title(page)}", style="bold")
        out.print(page.quick_answer)
        print_table(ladder_sheet(page))


@app.command()
def ui(port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 3000) -> None:
    """Start the Dagster UI and daemon on this home folder (127.0.0.1 only; there is no login)."""
    from pipeline.launch import start_ui

    start_ui(port)


def main() -> None:
    """Run the command line; a FrontierError is one sentence and its exit code."""
    try:
        sys.exit(_run())
    except FrontierError as error:
        if os.environ.get("FRONTIER_DEBUG"):
            raise
        err.print(f"error: {error}")
        sys.exit(error.EXIT_CODE)
    except Exception as error:
        sentence = sentence_of(error)
        if os.environ.get("FRONTIER_DEBUG") or sentence is None:
            raise
        err.print(f"error: {sentence}")
        sys.exit(1)


def _run() -> int:
    """The exit code of the command. Raises FrontierError, also for a command line that is not understood."""
    try:
        ended = app(prog_name="frontier", standalone_mode=False)
    except typer.TyperException as error:
        if is_help(error):
            return error.exit_code
        raise usage_error(error, sys.argv[1:]) from error
    return ended if isinstance(ended, int) else 0


if __name__ == "__main__":
    main()
