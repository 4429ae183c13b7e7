"""frontier sweep and frontier measure: recipes on one GPU, then its cell and its pages."""

import datetime as dt
from typing import Annotated, Optional

import typer
from rich.console import Console

from pipeline.errors import FrontierError
from pipeline.hosts.messages import Ended, Failed, Finished
from pipeline.pages.formats import counted

out = Console(highlight=False, markup=False)

Days = Annotated[str, typer.Option("--run-date", help="Day of the sweep, YYYY-MM-DD; default: today (UTC).")]
Publish = Annotated[bool, typer.Option("--publish/--no-publish", help="Publish when done.")]


def sweep(
    gpu: str,
    run_date: Days = "",
    kind: Annotated[
        str, typer.Option(help="measured, simulated, or auto: measured where the GPU's host has it, else simulated.")
    ] = "auto",
    recipe: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads annotations at run time
        typer.Option(help="Only this recipe; may be repeated. Default: all of the GPU."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Although the day is past; then --build names every build.")
    ] = False,
    build: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads annotations at run time
        typer.Option(
            "--build", "--release", help="BUILD=VERSION to measure with instead of the registry's; may be repeated."
        ),
    ] = None,
    repetition: Annotated[int, typer.Option(min=1, max=99, help="2, 3, …: a further run of the same day.")] = 1,
    publish_after: Publish = True,
    # Not for people: another host's sweep starts this one so (pipeline/hosts), hears of it and ends it.
    to_caller: Annotated[bool, typer.Option("--to-caller", hidden=True)] = False,
    while_input: Annotated[bool, typer.Option("--while-input", hidden=True)] = False,
) -> None:
    """Run the recipes of one GPU on its host, derive its cell and publish. What is finished is not run again."""
    if kind not in ("auto", "measured", "simulated"):
        raise FrontierError(
            "unknown kind of sweep",
            where=f"--kind {kind}",
            expected="auto, measured or simulated",
            found=kind,
            next_step="Correct it.",
        )
    versions = dict(_version(text) for text in build or [])
    config = {"measure_again": again, "kind": kind, "recipes": recipe or [], "versions": versions}
    config["repetition"] = repetition
    if to_caller:
        _sweep_for_caller(gpu, run_date, config, while_input=while_input)
    else:
        _sweep(gpu, run_date, config, publish_after=publish_after)


def _sweep_for_caller(gpu: str, run_date: str, config: dict[str, object], *, while_input: bool) -> None:
    """The same sweep for a caller on another host, who hears of every finished file and of its error."""
    from pipeline.launch import Launch
    from resources.caller import end_with_input, tell, told

    day = dt.date.fromisoformat(run_date)
    with told() as line:
        if while_input:
            end_with_input(line)
        try:
            with Launch.for_caller() as launch:
                tell(Finished(launch.swept_files(f"{gpu}|{run_date}")))
                cell, done = launch.sweep(gpu, day, config)
                tell(Ended(launch.swept_files(cell), done["n_points_measured_now"]))
        except FrontierError as error:
            tell(Failed(error))
            raise


def _version(text: str) -> tuple[str, str]:
    build, _, version = text.partition("=")
    if not build or not version:
        raise FrontierError(
            "not build=version",
            where=f"--build {text}",
            expected="a build of builds.toml and its version",
            next_step="Write e.g. --build vllm_cuda=0.33.0.",
        )
    return build, version


def measure(
    build: Annotated[bool, typer.Option("--build/--no-build", help="Build what is missing first.")] = True,
    publish_after: Publish = True,
) -> None:
    """The small model on vLLM and SGLang on this machine: its GPU if it has one, else its CPU."""
    from pipeline.launch import Launch

    with Launch.at_home() as launch:
        gpu, recipes = launch.small_model_here()
        if build:
            for slug in launch.builds_of(recipes):
                done = launch.build_engine(slug)
                out.print(f"{slug}: {'as it was' if done['reused'] else 'built'}, {done['path']}")
    _sweep(gpu, "", {"kind": "measured", "recipes": list(recipes)}, publish_after=publish_after)


def _sweep(gpu: str, run_date: str, config: dict[str, object], *, publish_after: bool) -> None:
    from pipeline.launch import Launch
    from pipeline.publish_command import as_day, publish_pages

    day = as_day(run_date, "--run-date") if run_date else None
    with Launch.beside_others() as launch:
        cell, done = launch.sweep(gpu, day, config)
        out.print(
            f"{cell}: {counted(done['n_points'], 'point')}, {done['n_points_measured_now']} {done['kind']} now, "
            f"{done['n_invalid_points']} invalid."
        )
    with Launch.at_home() as launch:
        launch.derive(cell)
        if publish_after:
            publish_pages(launch, [cell.partition("|")[0]], "")
