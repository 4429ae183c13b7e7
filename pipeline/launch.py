"""What the command line calls: our jobs on the instance of the home folder, and what is stored there."""

import datetime as dt
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from assets.cost_tables import COST
from assets.frontier import FRONTIER
from assets.raw_results import RAW
from pipeline.automation import (
    BUILD_ENGINE,
    BUILD_PAGES,
    DERIVE_CELL,
    IMPORT_RESULTS,
    OBSERVE_PRICES,
    PRICE_CELL,
    PUBLISH_SITE,
    RUN_SWEEP,
)
from pipeline.builds.fingerprint import Fingerprint
from pipeline.cell import GpuRun
from pipeline.cost.checks import costs_are_current
from pipeline.definitions import CHECKOUT, build_defs, default_home, outside
from pipeline.errors import NothingToPublishError, StoreError
from pipeline.pages.page import Page
from pipeline.registry.builds import Build
from pipeline.registry.entries import Price
from pipeline.registry.registry import require
from pipeline.registry.shipped import shipped_builds, shipped_plan, shipped_registry
from pipeline.tables.costs import COSTS
from pipeline.tables.readings import READINGS
from resources.dagster_runs import Runs, open_instance, prepare_instance
from resources.file_lock import held
from resources.progress import Progress
from resources.result_files import ResultFiles
from resources.result_store import ResultStore


class Launch:
    """The jobs of one home folder, run in this process and kept in its Dagster instance."""

    def __init__(self, runs: Runs, home: Path):
        self._runs = runs
        self._home = home
        self._outside = outside(home)

    @classmethod
    @contextmanager
    def at_home(cls, max_mib: int = 512) -> Iterator["Launch"]:
        """The home folder of the environment; the instance is closed at the end."""
        home = default_home()
        terminal = {"progress": Progress(terminal=True), "result_files": ResultFiles(max_mib=max_mib)}
        with _alone(home), open_instance(home) as instance:
            yield cls(Runs(build_defs(home, terminal), instance), home)

    def import_results(self, paths: list[str], declared: dict[str, str]) -> dict[str, Any]:
        """Run imported_results; returns its metadata (counts, cells, reports, refusals)."""
        absolute = [str(Path(path).resolve()) for path in paths]
        return self._runs.run(IMPORT_RESULTS, config={"imported_results": {"paths": absolute, "declared": declared}})

    def build_engine(self, build: str) -> dict[str, Any]:
        """Run engine_builds of one build; returns its metadata. Raises RegistryError for an unknown one."""
        slug = require(shipped_builds(), build, kind="build", where="build")
        return self._runs.run(BUILD_ENGINE, partition=slug)

    def sweep(self, gpu: str, run_date: dt.date | None, config: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Run sweep of one GPU, today where no day is named; returns its cell's key and its metadata."""
        slug = require(shipped_registry().gpus, gpu, kind="gpu", where="sweep")
        cell = GpuRun(slug, run_date or self._outside.clock.today())
        return cell.key, self._runs.run(RUN_SWEEP, partition=cell.key, config={"sweep": config})

    def derive(self, cell: str) -> None:
        """Run raw_results, frontier and cost_tables of one cell."""
        self._runs.run(DERIVE_CELL, partition=cell)

    def price(self, cell: str) -> None:
        """Run cost_tables of one cell."""
        self._runs.run(PRICE_CELL, partition=cell)

    def stale_costs(self, gpus: list[str]) -> list[str]:
        """Keys of the cells whose stored costs are not those of the price book as it is now."""
        found = []
        for gpu, book in self._outside.prices.tables(gpus).items():
            for cell in (cell for cell in self._store.cells(FRONTIER) if cell.gpu == gpu):
                readings = self._store.read(FRONTIER, cell, READINGS)
                costs = self._store.read(COST, cell, COSTS)
                if not costs_are_current(costs, readings, book, cell.run_date):
                    found.append(cell.key)
        return found

    def observe_prices(self) -> None:
        """Run observe_prices: automation then knows which prices the costs came from."""
        self._runs.run(OBSERVE_PRICES)

    def build_pages(self, gpu: str, as_of: str) -> None:
        """Run page_data of one GPU."""
        self._runs.run(BUILD_PAGES, partition=gpu, config={"page_data": {"as_of": as_of}})

    def publish_site(self) -> dict[str, Any]:
        """Run site; returns its metadata."""
        return self._runs.run(PUBLISH_SITE)

    def gpus_with_results(self) -> list[str]:
        """GPUs that have a stored cell. Raises NothingToPublishError where there is none."""
        gpus = sorted({cell.gpu for cell in self._store.cells(RAW)})
        if not gpus:
            raise NothingToPublishError(
                "no result is stored", where=str(self._home), next_step="Import some first: frontier import PATH."
            )
        return gpus

    def add_price(
        self, gpu: str, tier: str, usd_per_gpu_hour: float, valid_from: dt.date, source: str
    ) -> tuple[Price, list[str]]:
        """Add the price and observe the book; returns it with the cells that it concerns. Raises PriceError."""
        book = self._outside.prices
        registry = shipped_registry()
        slugs = {
            "gpu": require(registry.gpus, gpu, kind="gpu", where="prices add"),
            "tier": require(registry.tiers, tier, kind="tier", where="prices add"),
        }
        price = book.add({**slugs, "usd_per_gpu_hour": usd_per_gpu_hour, "valid_from": valid_from, "source": source})
        self.observe_prices()
        return price, [cell.key for cell in self._store.cells(RAW) if cell.gpu == price.gpu]

    @property
    def _store(self) -> ResultStore:
        return self._outside.result_store


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """One command at a time on a home folder: the others wait. Raises StoreError where the folder cannot be written."""
    with ExitStack() as stack:
        try:
            stack.enter_context(held(home / ".frontier.lock", _say_waiting))
        except OSError as error:
            raise StoreError(
                f"cannot be written ({error.strerror or error})",
                where=str(home),
                next_step="Correct its permissions, or name another folder with --home.",
            ) from error
        yield


def _say_waiting() -> None:
    print("waiting for another frontier command on this home folder", file=sys.stderr)


def all_prices(gpu: str) -> list[Price]:
    """The price book's rows, of one GPU where one is named. Raises RegistryError for an unknown one."""
    rows = outside(default_home()).prices.prices()
    slug = require(shipped_registry().gpus, gpu, kind="gpu", where="prices list") if gpu else ""
    return [price for price in rows if slug in ("", price.gpu)]


def all_builds() -> dict[str, tuple[Build, Fingerprint | None]]:
    """Every build of the registry with the fingerprint of what is built of it in the home folder, None where not."""
    builder = outside(default_home()).engine_builder
    found = {slug: (build, builder.find(shipped_plan(slug))) for slug, build in shipped_builds().items()}
    return {slug: (build, built.fingerprint if built else None) for slug, (build, built) in found.items()}


def stored_pages(gpu: str, model: str) -> tuple[Page, ...]:
    """The stored sections of a pair. Raises RegistryError, or NothingToPublishError where there is no page."""
    registry = shipped_registry()
    pages = outside(default_home()).page_store
    gpu_slug = require(registry.gpus, gpu, kind="gpu", where="show")
    model_slug = require(registry.models, model, kind="model", where="show")
    found = pages.read(gpu_slug, model_slug)
    if not found:
        raise NothingToPublishError(
            f"no page of {model_slug} on {gpu_slug}",
            where=str(pages.root),
            next_step="Import results of that pair, or run frontier publish.",
        )
    return found


def start_ui(port: int) -> None:
    """Become `dagster dev` on the checkout's workspace and the home's instance."""
    os.environ["DAGSTER_HOME"] = str(prepare_instance(default_home()))
    os.chdir(CHECKOUT)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # started in the background it is ignored, and then SIGTERM is too
    arguments = ["dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "dagster", *arguments])
