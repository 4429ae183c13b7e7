"""`frontier devices`: who uses the devices of this host, and which of them nobody may use."""

from typing import Annotated

import typer
from rich.console import Console

from pipeline.errors import DeviceError
from pipeline.sheets import AsCsv, AsJson, form_of, print_sheet
from pipeline.typed import one_line

devices_app = typer.Typer(no_args_is_help=True, help="Devices of this host: who uses them, quarantine and release.")
out = Console(highlight=False, markup=False)


@devices_app.command("list")
def devices_list(as_csv: AsCsv = False, as_json: AsJson = False) -> None:
    """Every device that is here or was used here: free, in use, or quarantined and why."""
    from pipeline.definitions import default_home, outside
    from pipeline.terminal import device_sheet

    form = form_of(as_csv, as_json)
    bench = outside(default_home()).bench
    gpus = sorted({*bench.probe.present(), *bench.devices.known_gpus()})
    print_sheet(device_sheet((gpu, bench.devices.state(gpu)) for gpu in gpus), form)


@devices_app.command()
def quarantine(
    gpu: str, reason: Annotated[str, typer.Option(help="Why; whoever is refused the device reads it.")]
) -> None:
    """Refuse a device to every sweep from now on; one that runs ends before its next recipe.

    A device that is quarantined keeps its reason: release it first to give another.
    """
    from pipeline.definitions import default_home, outside

    slug, why = _slug(gpu, "devices quarantine"), one_line("--reason", reason)
    devices = outside(default_home()).bench.devices
    _refuse_quarantined(slug, devices.quarantined(slug))
    devices.quarantine(slug, why)
    out.print(f"{slug} is quarantined: {why}")


@devices_app.command()
def release(gpu: str) -> None:
    """Trust a quarantined device again. Make sure first that nothing is left on it."""
    from pipeline.definitions import default_home, outside

    slug, devices = _slug(gpu, "devices release"), outside(default_home()).bench.devices
    why = devices.quarantined(slug)
    devices.release(slug)
    out.print(f"{slug} is released; it was quarantined: {why}" if why else f"{slug} was not quarantined")


def _refuse_quarantined(slug: str, why: str | None) -> None:
    """Raises DeviceError: a reason that somebody gave is not replaced."""
    if why:
        raise DeviceError(
            "is quarantined already, and its reason stays",
            where=slug,
            found=why,
            next_step=f"To give another one, run frontier devices release {slug} first.",
        )


def _slug(gpu: str, where: str) -> str:
    """Raises RegistryError."""
    from pipeline.registry.registry import require
    from pipeline.registry.shipped import shipped_registry

    return require(shipped_registry().gpus, gpu, kind="gpu", where=where)
