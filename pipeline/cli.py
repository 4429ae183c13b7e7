"""The command line: thin callers of the same assets. Every command leaves its runs in the Dagster instance.

Errors are one sentence on standard error and exit code 1; --debug shows the traceback.
"""

import datetime as dt
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
from rich.console import Console
from rich.progress import track

from pipeline.build_command import build
from pipeline.errors import FrontierError

if TYPE_CHECKING:
    from pipeline.launch import Launch

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Serving benchmarks to frontiers, dated costs and a static site.",
)
prices_app = typer.Typer(no_args_is_help=True, help="The dated price book.")
app.add_typer(prices_app, name="prices")
app.command()(build)

out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


@app.callback()
def options(
    home: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads annotations at run time
        typer.Option(envvar="FRONTIER_HOME", help="Folder of the store, the site and the Dagster instance."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command."""
    if home is not None:
        os.environ["FRONTIER_HOME"] = str(home.resolve())
    os.environ["FRONTIER_DEBUG"] = "1" if debug else ""


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
    max_mib: Annotated[int, typer.Option(help="Refuse files above this size.")] = 512,
    publish_after: Annotated[bool, typer.Option("--publish/--no-publish", help="Publish when done.")] = True,
) -> None:
    """Read result files, derive their cells and publish. What a file says itself always wins over an option.

    Exit code 1: nothing could be imported. 2: some files were refused.
    """
    from pipeline.launch import Launch

    given = {"gpu": gpu, "n_gpus": gpus, "engine": engine, "precision": precision, "model": model}
    given |= {"workload": workload, "run_date": run_date} | dict(_key_value(text) for text in declare)
    with Launch.at_home(max_mib=max_mib) as launch:
        launch.observe_prices()
        report = launch.import_results([str(p) for p in paths], {k: v for k, v in given.items() if v})
        _print_report(report)
        cells = report["cells"]
        for cell in track(cells, description="deriving cells", console=err, transient=True, disable=len(cells) < 2):
            launch.derive(cell)
        if publish_after and cells:
            _publish(launch, sorted({cell.partition("|")[0] for cell in cells}), "")
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
            err.print(f"{file['file']}: {file['rejected'] - 5} more rows rejected; the run in the UI lists them all.")
        for note in file["notes"]:
            err.print(f"{file['file']}: {note}")
    for sentence in report["refusals"].values():
        err.print(sentence)
    out.print(
        f"{report['n_rows_read']:,} rows read from {report['n_files']} files: {report['n_rows_imported']:,} imported, "
        f"{report['n_rows_invalid']:,} invalid, {report['n_rows_rejected']:,} rejected; "
        f"{report['n_files_refused']} files refused."
    )


@app.command()
def sweep(
    gpu: str,
    run_date: Annotated[str, typer.Option(help="Day of the sweep, YYYY-MM-DD; default: today (UTC).")] = "",
    again: Annotated[bool, typer.Option("--again", help="Measure although the day is past.")] = False,
    publish_after: Annotated[bool, typer.Option("--publish/--no-publish", help="Publish when done.")] = True,
) -> None:
    """Run the recipes of one GPU, derive its cell and publish. What is finished is not run again."""
    from pipeline.launch import Launch

    day = dt.date.fromisoformat(_day(run_date)) if run_date else None
    with Launch.at_home() as launch:
        cell, done = launch.sweep(gpu, day, {"measure_again": again})
        out.print(
            f"{cell}: {done['n_points']} points, {done['n_points_measured_now']} of them now, "
            f"{done['n_invalid_points']} invalid."
        )
        launch.derive(cell)
        if publish_after:
            _publish(launch, [cell.partition("|")[0]], "")


@app.command()
def publish(
    as_of: Annotated[str, typer.Option(help="Read prices as of this day, YYYY-MM-DD; default: today (UTC).")] = "",
) -> None:
    """Build every page and the site from what is stored."""
    from pipeline.launch import Launch

    with Launch.at_home() as launch:
        _publish(launch, launch.gpus_with_results(), _day(as_of) if as_of else "")


def _publish(launch: "Launch", gpus: list[str], as_of: str) -> None:
    stale = launch.stale_costs(gpus)
    for cell in track(stale, description="pricing cells", console=err, transient=True, disable=len(stale) < 2):
        launch.price(cell)
    for gpu in track(gpus, description="building pages", console=err, transient=True, disable=len(gpus) < 2):
        launch.build_pages(gpu, as_of)
    done = launch.publish_site()
    out.print(f"{done['n_pages']} pages of {done['n_pairs']} model and GPU pairs: {done['path']}/index.html")


def _day(text: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise FrontierError("not a day", where=text, expected="YYYY-MM-DD", next_step="Correct the date.") from None


@app.command()
def show(gpu: str, model: str) -> None:
    """The ladder of one model on one GPU, from the stored pages."""
    from pipeline.launch import stored_pages
    from pipeline.pages.wording import section_title
    from pipeline.terminal import ladder_table

    for page in stored_pages(gpu, model):
        out.print(f"{page.title}: {section_title(page)}", style="bold")
        out.print(page.quick_answer)
        out.print(ladder_table(page))


@prices_app.command("add")
def prices_add(
    gpu: str,
    tier: str,
    usd_per_gpu_hour: float,
    source: Annotated[str, typer.Option(help="Where the price comes from.")],
    valid_from: Annotated[str, typer.Option("--from", help="First day of the price, YYYY-MM-DD.")],
    publish_after: Annotated[bool, typer.Option("--publish/--no-publish", help="Derive costs and publish.")] = True,
) -> None:
    """Add a dated price; the open price of that GPU and tier ends there. Costs and pages follow."""
    from pipeline.launch import Launch

    with Launch.at_home() as launch:
        price, cells = launch.add_price(gpu, tier, usd_per_gpu_hour, dt.date.fromisoformat(_day(valid_from)), source)
        out.print(f"added {price.price_id}: {price.usd_per_gpu_hour:.2f} USD/GPU/h")
        if publish_after and cells:
            _publish(launch, [price.gpu], "")


@prices_app.command("list")
def prices_list(gpu: Annotated[str, typer.Argument(help="Only this GPU.")] = "") -> None:
    """The price book, by GPU, tier and date."""
    from pipeline.launch import all_prices
    from pipeline.terminal import price_rows

    out.print(price_rows(all_prices(gpu)))


@app.command()
def ui(port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 3000) -> None:
    """Start the Dagster UI and daemon on this home folder (127.0.0.1 only; there is no login)."""
    from pipeline.launch import start_ui

    start_ui(port)


def main() -> None:
    """Run the command line; a FrontierError is one sentence and exit code 1."""
    try:
        app()
    except FrontierError as error:
        if os.environ.get("FRONTIER_DEBUG"):
            raise
        err.print(f"error: {error}")
        sys.exit(1)
    except KeyboardInterrupt:
        err.print("stopped; everything that was finished is stored, run the same command again to go on")
        sys.exit(130)


if __name__ == "__main__":
    main()
