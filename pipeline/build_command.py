"""`frontier build`: engine builds from the command line."""

from typing import Annotated

import typer
from rich.console import Console

from pipeline.errors import UsageError
from pipeline.sheets import AsCsv, AsJson, form_of, print_sheet


def build(
    slug: Annotated[str, typer.Argument(help="The build: vllm_cpu, aiperf, …", show_default=False)] = "",
    release: Annotated[str, typer.Option(help="Another version than the registry's, from a lock made now.")] = "",
    list_builds: Annotated[bool, typer.Option("--list", help="Show every build, and which of them are here.")] = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Install one engine or tool into an environment of its own, or get its image, and prove that it runs.

    What is built already is found and not made again. A server that already runs is asked what it is, every time.
    """
    from pipeline.launch import Launch, all_builds
    from pipeline.terminal import build_sheet

    out, form = Console(highlight=False, markup=False), form_of(as_csv, as_json)
    if list_builds:
        print_sheet(build_sheet(all_builds()), form)
        return
    if form != "table":
        raise UsageError(f"--{form} is of --list", where="frontier build", next_step="Add --list, or leave it out.")
    if not slug:
        raise UsageError("SLUG is missing", where="frontier build", next_step="Name a build, or ask for --list.")
    with Launch.at_home() as launch:
        done = launch.build_engine(slug, release)
    size = "" if done["size_mib"] is None else f", {done['n_packages']} packages, {done['size_mib']:,.0f} MiB"
    how = "found as it was" if done["reused"] else f"built in {done['seconds_of_build']:.1f} s"
    version = done["reported_version"] or "of a version that it does not say"
    out.print(f"{slug} {version}: {how}{size}: {done['path']}", soft_wrap=True)
