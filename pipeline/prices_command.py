"""`frontier prices …`: the price book on the command line. What is wrong or odd about a price is the domain's."""

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pipeline.cost.price_warnings import PriceWarning, price_warnings, refuse_odd_day
from pipeline.errors import PriceError
from pipeline.pages.formats import counted, exact_rate
from pipeline.publish_command import as_day, publish_pages
from pipeline.registry.entries import MAX_USD_PER_GPU_HOUR, Price
from pipeline.registry.registry import require
from pipeline.registry.shipped import shipped_registry
from pipeline.sheets import AsCsv, AsJson, form_of, print_sheet, print_table
from pipeline.typed import one_line

if TYPE_CHECKING:
    from pipeline.cost.price_edits import Edit
    from pipeline.definitions import Outside
    from pipeline.launch import Launch

prices_app = typer.Typer(no_args_is_help=True, help="The dated price book.")
out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

OnlyGpu = Annotated[str, typer.Argument(help="Only this GPU.")]
Source = Annotated[str, typer.Option(help="Where the price comes from.")]
Publish = Annotated[bool, typer.Option("--publish/--no-publish", help="Derive costs and publish.")]


@prices_app.command("add")
def prices_add(
    gpu: str,
    tier: str,
    usd_per_gpu_hour: float,
    source: Source,
    valid_from: Annotated[str, typer.Option("--from", help="First day of the price, YYYY-MM-DD.")],
    valid_to: Annotated[
        str, typer.Option("--to", help="First day on which it no longer holds; default: until the next row.")
    ] = "",
    publish_after: Publish = True,
) -> None:
    """Add a dated price: it holds until the next row of that GPU and tier, and changes no other day.

    Costs and pages follow. Oddities of the new row are printed; they stop nothing.
    """
    from pipeline.launch import Launch

    body = _row(gpu, tier, usd_per_gpu_hour, valid_from, source, where="prices add")
    with Launch.at_home() as launch:
        refuse_odd_day(body["valid_from"], launch.today)
        edit, cells = launch.change_prices(lambda book: book.add({**body, "valid_to": _day(valid_to, "--to")}))
        out.print(f"added {_words(edit)}")
        if edit.before:
            out.print(
                f"until now those days had {exact_rate(edit.before.usd_per_gpu_hour)} USD/GPU/h, {edit.before.price_id}"
            )
        _follow(launch, edit, cells, publish=publish_after)


@prices_app.command("correct")
def prices_correct(
    gpu: str,
    tier: str,
    usd_per_gpu_hour: float,
    source: Source,
    valid_from: Annotated[str, typer.Option("--from", help="First day of the row to correct, YYYY-MM-DD.")],
    reason: Annotated[str, typer.Option(help="Why what was published is wrong; it is published.")],
    new_from: Annotated[
        str, typer.Option("--new-from", help="The first day that is right, YYYY-MM-DD; default: it was.")
    ] = "",
    publish_after: Publish = True,
) -> None:
    """Correct a published price: its rate, its source, its first day. The old row stays, marked with today and why.

    No cost is computed from it any more; pages say what was corrected, when and why. With another first day the row
    before it ends there, where the two meet.
    """
    from pipeline.launch import Launch

    body = _row(gpu, tier, usd_per_gpu_hour, valid_from, source, where="prices correct")
    body["correction_reason"] = one_line("--reason", reason)
    first_day = _day(new_from, "--new-from")
    with Launch.at_home() as launch:
        today = launch.today
        refuse_odd_day(first_day or body["valid_from"], today, "--new-from" if first_day else "--from")
        edit, cells = launch.change_prices(lambda book: book.correct(body, today, first_day))
        out.print(f"corrected {_words(edit)}, {_was(edit)}; the old row stays, corrected on {today}")
        if edit.neighbour:
            out.print(f"{edit.neighbour.price_id} holds until {edit.neighbour.valid_to} now; it stays as it was, too")
        _follow(launch, edit, cells, publish=publish_after)


def _was(edit: "Edit") -> str:
    """What is another one than before: rate, first day, or the source alone."""
    old, new = edit.before, edit.price
    if old is None:
        return "which was not there"
    rate, first_day = exact_rate(old.usd_per_gpu_hour), old.valid_from
    is_same_rate, is_same_day = rate == exact_rate(new.usd_per_gpu_hour), first_day == new.valid_from
    if is_same_rate and is_same_day:
        return f"only its source changes (was {old.source}) and every cost stays as it is"
    said = [] if is_same_rate else [rate]
    return f"was {' '.join(said if is_same_day else [*said, f'from {first_day}'])}"


@prices_app.command("list")
def prices_list(gpu: OnlyGpu = "", as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """The price book, by GPU, tier and date; computed rows and rows that were corrected too."""
    from pipeline.terminal import price_sheet

    form = form_of(as_csv, as_json)
    rows = _outside().prices.prices()
    slug = require(shipped_registry().gpus, gpu, kind="gpu", where="prices list") if gpu else ""
    print_sheet(price_sheet([p for p in rows if slug in ("", p.gpu)]), form)


@prices_app.command("check")
def prices_check() -> None:
    """Check the price file, and the inputs of the computed tier, as they are.

    Exit code 1: some row is invalid; each fault is printed, and no cost is computed before it is corrected. Oddities
    (a jump, a gap, tiers out of order, a GPU with results and no price) are warnings: printed, exit code 0.
    """
    outside = _outside()
    found = outside.prices.checked()
    for fault in found.faults:
        err.print(f"error: {fault}")
    warnings = [] if found.faults else _warnings(outside)
    for warning in warnings:
        out.print(f"warning: {warning.text}")
    n_computed = len(outside.prices.tco())
    out.print(
        f"{outside.prices.file}: {counted(len(found.rows) + len(found.faults), 'row')}, "
        f"{counted(len(found.faults), 'error')}, {counted(len(warnings), 'warning')}; "
        f"computed prices of {counted(n_computed, 'GPU')}."
    )
    if found.faults:
        raise typer.Exit(1)


@prices_app.command("tco")
def prices_tco(gpu: OnlyGpu = "") -> None:
    """The computed price tier: parts in USD per GPU-hour, and every input with its day and source."""
    from pipeline.cost.tco import computed_rates
    from pipeline.terminal import tco_sheet

    outside = _outside()
    slug = require(shipped_registry().gpus, gpu, kind="gpu", where="prices tco") if gpu else ""
    found = {key: inputs for key, inputs in outside.prices.tco().items() if slug in ("", key)}
    if not found:
        out.print(f"{outside.prices.tco_file} has no inputs{f' of {slug}' if slug else ''}: no price is computed.")
    table_out = Console(highlight=False, markup=False)
    for key, inputs in found.items():
        for rate in computed_rates(inputs):
            table_out.print(
                f"{key} from {rate.valid_from}: {rate.usd_per_gpu_hour:.4g} USD/GPU/h that serves, computed",
                style="bold",
            )
            print_table(tco_sheet(rate))


def _outside() -> "Outside":
    from pipeline.definitions import default_home, outside

    return outside(default_home())


def _row(gpu: str, tier: str, usd_per_gpu_hour: float, valid_from: str, source: str, where: str) -> dict[str, Any]:
    registry = shipped_registry()
    return {
        "gpu": require(registry.gpus, gpu, kind="gpu", where=where),
        "tier": require(registry.tiers, tier, kind="tier", where=where),
        "usd_per_gpu_hour": _rate(usd_per_gpu_hour),
        "valid_from": as_day(valid_from, "--from"),
        "source": one_line("--source", source),
    }


def _rate(usd_per_gpu_hour: float) -> float:
    """Raises PriceError."""
    if not 0 < usd_per_gpu_hour <= MAX_USD_PER_GPU_HOUR:  # nan is neither
        raise PriceError(
            "not a price",
            where=f"USD_PER_GPU_HOUR {usd_per_gpu_hour:g}",
            expected=f"more than 0 and at most {MAX_USD_PER_GPU_HOUR:,} USD",
            next_step="Correct the number.",
        )
    return usd_per_gpu_hour


def _day(text: str, option: str) -> dt.date | None:
    return as_day(text, option) if text else None


def _words(edit: "Edit") -> str:
    end = f" until {edit.price.valid_to}" if edit.price.valid_to else ""
    return f"{edit.price.price_id}{end}: {exact_rate(edit.price.usd_per_gpu_hour)} USD/GPU/h"


def _follow(launch: "Launch", edit: "Edit", cells: Iterable[str], *, publish: bool) -> None:
    """Say what looks odd about the new row, then publish."""
    outside = _outside()
    new = {row.line for row in outside.prices.checked().rows if _is_of(row.price, edit.price)}
    for warning in _warnings(outside):
        if new & warning.lines:
            err.print(f"warning: {warning.text}")
    if publish and cells:
        publish_pages(launch, [edit.price.gpu], "")


def _is_of(row: Price, price: Price) -> bool:
    return row.price_id == price.price_id and not row.replaced


def _warnings(outside: "Outside") -> list[PriceWarning]:
    from resources.result_store import RAW

    book = outside.prices
    gpus = {cell.gpu for cell in outside.result_store.cells(RAW)}
    name = book.file.rpartition("/")[2]
    return price_warnings(book.checked().rows, shipped_registry().tiers, name, gpus, outside.clock.today())
