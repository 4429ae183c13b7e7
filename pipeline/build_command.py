"""`frontier build`: engine builds from the command line."""

from typing import Annotated

import typer
from rich.console import Console


def build(
    slug: Annotated[str, typer.Argument(help="The build: vllm_cpu, aiperf, …", show_default=False)] = "",
    list_builds: Annotated[bool, typer.Option("--list", help="Show every build, and which of them are here.")] = False,
) -> None:
    """Install one engine, load generator or simulator into an environment of its own, and prove that it runs.

    What is built already is found and not installed again.
    """
    from pipeline.launch import Launch, all_builds
    from pipeline.terminal import build_rows

    out = Console(highlight=False, markup=False)
    if list_builds:
        out.print(build_rows(all_builds()))
        return
    if not slug:
        raise typer.BadParameter("name a build, or ask for --list")
    with Launch.at_home() as launch:
        done = launch.build_engine(slug)
    size = f"{done['n_packages']} packages, {done['size_mib']:,.0f} MiB"
    how = "found as it was" if done["reused"] else f"built in {done['seconds_of_build']:.1f} s"
    out.print(f"{slug} {done['reported_version']}: {how}, {size}: {done['path']}", soft_wrap=True)
