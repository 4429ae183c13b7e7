"""What the command line calls: our jobs on the instance of the home folder, and what is stored there."""

import datetime as dt
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from assets.cost_tables import COST
from assets.frontier import FRONTIER
from assets.underived import sourced_cells, underived
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
from pipeline.cell import GpuRun, parse_cell
from pipeline.cost.checks import costs_are_current
from pipeline.cost.price_edits import Edit
from pipeline.definitions import CHECKOUT, build_defs, default_home, outside
from pipeline.errors import NothingToPublishError, SweepRefusedError
from pipeline.housekeeping import Housekeeping
from pipeline.pages.page import Page
from pipeline.partitions import FIRST_RUN_DATE
from pipeline.registry.builds import Build
from pipeline.registry.measured import MeasuredRecipe
from pipeline.registry.registry import require
from pipeline.registry.renamed import refuse_orphans, with_todays_slugs
from pipeline.registry.shipped import (
    measured_recipes,
    shipped_builds,
    shipped_plan,
    shipped_registry,
    shipped_renamed,
)
from pipeline.sweep.choice import chosen
from pipeline.sweep.measured_plan import LOAD_GENERATOR_BUILD
from pipeline.tables.by_cell import by_cell
from pipeline.tables.costs import COSTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.caller import ToldProgress, ToldStore
from resources.dagster_runs import Runs, open_instance, prepare_instance
from resources.file_lock import cannot_be_written, held
from resources.instance_settings import lacking
from resources.lost_runs import close_lost_runs
from resources.price_book import PriceBook
from resources.progress import Progress
from resources.result_files import ResultFiles, refuse_unrecordable
from resources.result_store import RAW, ResultStore

CPU = "cpu"
SMALL_MODEL = "made:small"


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
            close_lost_runs(instance)
            yield cls(Runs(build_defs(home, terminal), instance), home)

    @classmethod
    @contextmanager
    def beside_others(cls) -> Iterator["Launch"]:
        """The same without keeping other commands out: for sweeps, which hold their device instead of the home."""
        with cls._beside({"progress": Progress(terminal=True)}) as launch:
            yield launch

    @classmethod
    @contextmanager
    def for_caller(cls) -> Iterator["Launch"]:
        """As beside_others, for a sweep that another host asked for: it hears how far it is (resources/caller.py)."""
        store = outside(default_home()).sweep_store
        telling = ToldStore(root_dir=store.root_dir, results_url=store.results_url)
        with cls._beside({"progress": ToldProgress(), "sweep_store": telling}) as launch:
            yield launch

    @classmethod
    @contextmanager
    def _beside(cls, resources: Mapping[str, object]) -> Iterator["Launch"]:
        home = default_home()
        with _alone(home), open_instance(home) as instance:  # the first one makes the instance
            close_lost_runs(instance)
        with open_instance(home) as instance:
            yield cls(Runs(build_defs(home, resources), instance), home)

    def import_results(self, paths: list[str], declared: dict[str, str]) -> dict[str, Any]:
        """Run imported_results; returns its metadata (counts, cells, reports, refusals)."""
        absolute = [str(Path(path).absolute()) for path in paths]  # resolving a loop of links is an error
        refuse_unrecordable(absolute)
        return self._runs.run(IMPORT_RESULTS, config={"imported_results": {"paths": absolute, "declared": declared}})

    def build_engine(self, build: str, release: str = "") -> dict[str, Any]:
        """Run engine_builds of one build, at a release where one is named; returns its metadata.

        Raises RegistryError for an unknown build.
        """
        slug = require(shipped_builds(), build, kind="build", where="build")
        return self._runs.run(BUILD_ENGINE, partition=slug, config={"engine_builds": {"version": release}})

    def sweep(self, gpu: str, run_date: dt.date | None, config: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Run sweep of one GPU, today where no day is named; returns its cell's key and its metadata."""
        slug = require(shipped_registry().gpus, gpu, kind="gpu", where="sweep")
        cell = GpuRun(slug, run_date or self._outside.clock.today())
        if not FIRST_RUN_DATE <= cell.run_date <= self._outside.clock.today():
            raise SweepRefusedError(
                "no sweep can be of that day",
                where=f"sweep {cell.key}",
                expected=f"{FIRST_RUN_DATE} to {self._outside.clock.today()}",
                found=cell.run_date.isoformat(),
                next_step="Correct the run date.",
            )
        return cell.key, self._runs.run(RUN_SWEEP, partition=cell.key, config={"sweep": config})

    def swept_files(self, cell: str) -> dict[str, str]:
        """Hash of every file of a cell's finished points and runs, by name. Raises RegistryError for no cell's key."""
        return self._outside.sweep_store.hashes_by_file(parse_cell(cell))

    def small_model_here(self) -> tuple[str, dict[str, MeasuredRecipe]]:
        """The GPU of this host, or its CPU, with its fixed-length recipes of the small model.

        Raises SweepRefusedError for none.
        """
        here = self._outside.bench.probe.present()
        gpu = next((gpu for gpu in here if gpu != CPU), CPU)
        recipes = chosen(measured_recipes(), gpu, ())
        small = {slug: recipe for slug, recipe in recipes.items() if recipe.weights == SMALL_MODEL}
        registry = shipped_registry()
        return gpu, {s: r for s, r in small.items() if registry.workload(r.workload).kind == "fixed_length"}

    def builds_of(self, recipes: Mapping[str, MeasuredRecipe]) -> list[str]:
        """Slugs of the builds that the recipes need, the load generator's last."""
        return [*dict.fromkeys(recipe.build for recipe in recipes.values()), LOAD_GENERATOR_BUILD]

    def derive(self, cell: str) -> None:
        """Run raw_results, frontier and cost_tables of one cell."""
        self._runs.run(DERIVE_CELL, partition=cell)

    def price(self, cell: str) -> None:
        """Run cost_tables of one cell."""
        self._runs.run(PRICE_CELL, partition=cell)

    def stale_costs(self, gpus: list[str]) -> list[str]:
        """Keys of the cells whose stored costs are not those of the price book as it is now."""
        found, read, cells = [], self._outside.compact_store.read, list(self._store.cells(FRONTIER))
        for gpu, book in self._outside.prices.tables(gpus).items():
            readings, costs = by_cell(read(FRONTIER, gpu, READINGS)), by_cell(read(COST, gpu, COSTS))
            for cell in (cell for cell in cells if cell.gpu == gpu):
                of_cell = costs.get(cell, COSTS.empty()), readings.get(cell, READINGS.empty())
                if not costs_are_current(*of_cell, book, cell.run_date):
                    found.append(cell.key)
        return found

    def observe_prices(self) -> None:
        """Run observe_prices: automation then knows which prices the costs came from."""
        self._runs.run(OBSERVE_PRICES)

    def build_pages(self, gpu: str, as_of: str, corrections_until: str = "") -> None:
        """Run page_data of one GPU."""
        days = {"as_of": as_of, "corrections_until": corrections_until}
        self._runs.run(BUILD_PAGES, partition=gpu, config={"page_data": days})

    def publish_site(self) -> dict[str, Any]:
        """Run site; returns its metadata."""
        return self._runs.run(PUBLISH_SITE)

    def cells_to_rename(self) -> list[str]:
        """Keys of the cells, in today's slugs, that were derived under a slug which was renamed since.

        Raises RegistryError where something is stored of a GPU that has no block and was not renamed.
        """
        renamed, registry = shipped_renamed(), shipped_registry()
        stored = set(self._store.all_cells(RAW)) | self._outside.import_store.cells()
        refuse_orphans("gpu", {cell.gpu for cell in stored}, {*registry.gpus, *renamed.gpus}, "gpus.toml")
        found: set[str] = set()
        for cell in self._store.all_cells(RAW) if renamed.moved else ():
            today = GpuRun(renamed.gpus.get(cell.gpu, cell.gpu), cell.run_date)
            rows = self._store.read(RAW, cell, POINTS)
            kept = set(self._store.read(RAW, today, POINTS)["point_id"].to_pylist()) if today != cell else set()
            if today != cell and not kept >= set(rows["point_id"].to_pylist()):
                found.add(today.key)
            elif today == cell and not with_todays_slugs(rows, renamed).equals(rows):
                found.add(cell.key)
        return sorted(found)

    def lost(self) -> tuple[dict[str, str], list[str]]:
        """What is not derived, or not whole, of cells that have a source, by key; GPUs of which a page is gone."""
        cells = underived(self._store, self._outside.sweep_store)
        return {cell.key: what for cell, what in cells.items()}, self._outside.page_store.gpus_that_lost_pages()

    def gpus_with_results(self) -> list[str]:
        """GPUs that have a stored cell, derived or not. Raises NothingToPublishError where there is none."""
        derived = {shipped_renamed().gpus.get(cell.gpu, cell.gpu) for cell in self._store.all_cells(RAW)}
        gpus = sorted(derived | {cell.gpu for cell in sourced_cells(self._outside.sweep_store)})
        if not gpus:
            raise NothingToPublishError(
                "no result is stored", where=str(self._home), next_step="Import some first: frontier import PATH."
            )
        return gpus

    def change_prices(self, change: Callable[[PriceBook], Edit]) -> tuple[Edit, list[str]]:
        """Change the price book and observe it; returns the change with the cells that it concerns.

        Raises PriceError, and then nothing is changed.
        """
        edit = change(self._outside.prices)
        self.observe_prices()
        return edit, [cell.key for cell in self._store.cells(RAW) if cell.gpu == edit.price.gpu]

    @property
    def today(self) -> dt.date:
        """The UTC day."""
        return self._outside.clock.today()

    @property
    def housekeeping(self) -> Housekeeping:
        """Compaction and retention of the home folder."""
        return Housekeeping(self._outside, self._runs.instance, prepare_instance(self._home))

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
            raise cannot_be_written(home, error) from error
        yield


def _say_waiting() -> None:
    print("another frontier command works on this home folder: waiting for its end", file=sys.stderr)


def all_builds() -> dict[str, tuple[Build, Fingerprint | None]]:
    """Every build of the registry with the fingerprint of what is built of it in the home folder, None where not."""
    builder = outside(default_home()).engine_builder
    found = {slug: (build, builder.find(shipped_plan(slug))) for slug, build in shipped_builds().items()}
    return {slug: (build, built.fingerprint if built else None) for slug, (build, built) in found.items()}


def stored_pages(gpu: str, model: str, where: str) -> tuple[Page, ...]:
    """The stored sections of a pair. Raises RegistryError, or NothingToPublishError where there is no page."""
    registry = shipped_registry()
    pages = outside(default_home()).page_store
    gpu_slug = require(registry.gpus, gpu, kind="gpu", where=where)
    model_slug = require(registry.models, model, kind="model", where=where)
    found = pages.read(gpu_slug, model_slug)
    if not found:
        raise NothingToPublishError(
            f"no page of {model_slug} on {gpu_slug}",
            where=str(pages.root),
            next_step="Import results of that pair, or run frontier publish.",
        )
    return found


def published_site() -> Path:
    """The folder of the published site, whether it exists or not."""
    return outside(default_home()).publisher.live


def start_ui(port: int) -> None:
    """Become `dagster dev` on the checkout's workspace and the home's instance."""
    folder = prepare_instance(default_home())
    advice = lacking(folder / "dagster.yaml")
    if advice:
        print(advice, file=sys.stderr)
    os.environ["DAGSTER_HOME"] = str(folder)
    os.chdir(CHECKOUT)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # started in the background it is ignored, and then SIGTERM is too
    arguments = ["dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "dagster", *arguments])
