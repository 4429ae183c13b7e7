"""frontier check: pages that are not made from what is stored now, whatever the UI shows, and GPUs that are overdue."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pipeline.errors import FrontierError, StoppedError
from pipeline.pages.formats import counted

if TYPE_CHECKING:
    from assets.finding import Finding

out = Console(highlight=False, markup=False, soft_wrap=True)

WELL = "Every page is made from what is stored now."


def check(
    mend: Annotated[
        bool, typer.Option("--mend", help="Derive stale cells again and publish; then check again.")
    ] = False,
) -> None:
    """Name every stale cell, page and published file, what is not as it was, and the command that mends it.

    Exit code 1 where something is stale, or no page is stored. A GPU that is overdue is named and changes nothing.
    """
    found, stopped = _findings(), ""
    if mend and any(finding.is_mendable for finding in found):
        stopped = _mend(found)
        found = _findings()
    for finding in found:
        out.print(str(finding))
    for sentence in _overdue():
        out.print(sentence)
    if stopped:
        out.print(f"Mending stopped: {stopped}")
    nothing = "" if found else _nothing_there()
    out.print(f"{counted(len(found), 'thing')} stale." if found else nothing or WELL)
    if found or stopped or nothing:
        raise typer.Exit(1)


def _nothing_there() -> str:
    """The sentence on a home folder without a page, such as a mistyped one; empty where there is one."""
    from pipeline.definitions import default_home, outside

    if outside(default_home()).page_store.files():
        return ""
    return f"No page is stored in {default_home()}. Check --home, or run frontier publish."


def _findings() -> "list[Finding]":
    from assets.page_audit import Audited, findings
    from pipeline.definitions import default_home, outside

    here = outside(default_home())
    stores = (here.result_store, here.sweep_store, here.page_store)
    return list(findings(Audited(*stores, here.prices, here.publisher, here.warehouse, here.clock.today())))


def _overdue() -> list[str]:
    from assets.page_audit import measured_gpus
    from pipeline.definitions import default_home, outside

    here = outside(default_home())
    today = here.clock.today()
    known = measured_gpus(here.page_store)
    return [
        f"{gpu.gpu} was measured on {gpu.last_run_date} and was due by {gpu.due_on}. Next: frontier sweep {gpu.gpu}"
        for gpu in known
        if gpu.overdue_on(today)
    ]


def _mend(found: "list[Finding]") -> str:
    """Derive and publish again. Returns why it stopped, empty where it came to its end."""
    from pipeline.launch import Launch
    from pipeline.publish_command import publish_pages

    with Launch.at_home() as launch:
        try:
            for cell in sorted({finding.cell for finding in found if finding.cell}):
                launch.derive(cell)
            publish_pages(launch, launch.gpus_with_results(), "")
        except StoppedError:
            raise
        except FrontierError as error:
            return str(error)
    return ""
