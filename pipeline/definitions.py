"""The composition root: everything is wired here and nowhere else. No logic.

``build_defs`` returns fresh definitions for a home folder, with any resource overridden; ``defs`` is what
Dagster loads. FRONTIER_HOME moves the store and the site out of the checkout.
"""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from assets.cost_tables import cost_tables
from assets.engine_builds import engine_builds
from assets.frontier import frontier
from assets.imported_results import imported_results
from assets.page_data import page_data
from assets.price_book import price_book
from assets.raw_results import raw_results
from assets.site import site
from assets.sweep import sweep
from pipeline.automation import automation_sensor, jobs, schedules
from pipeline.registry.shipped import shipped_plan
from pipeline.sweep.plan import SIMULATOR_BUILD
from resources.clock import Clock
from resources.engine_builder import EngineBuilder
from resources.import_store import ImportStore
from resources.page_store import PageStore
from resources.price_book import PriceBook
from resources.progress import Progress
from resources.result_files import ResultFiles
from resources.result_store import ResultStore
from resources.simulator import Simulator
from resources.site import Site
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse

CHECKOUT = Path(__file__).resolve().parents[1]
ASSETS = (engine_builds, imported_results, sweep, raw_results, frontier, price_book, cost_tables, page_data, site)


def default_home() -> Path:
    """FRONTIER_HOME, else the checkout's data folder."""
    return Path(os.environ.get("FRONTIER_HOME") or CHECKOUT / "data").resolve()


@dataclass(frozen=True)
class Outside:
    """Every resource of one home folder, by the name that assets ask for it."""

    clock: Clock
    engine_builder: EngineBuilder
    import_store: ImportStore
    page_store: PageStore
    prices: PriceBook
    progress: Progress
    publisher: Site
    result_files: ResultFiles
    result_store: ResultStore
    simulator: Simulator
    sweep_store: SweepStore
    warehouse: Warehouse

    def by_name(self) -> dict[str, dg.ConfigurableResource]:
        """The resources as Dagster takes them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def outside(home: Path) -> Outside:
    """The resources of one home folder: its store, its site, the checkout's price book."""
    store = str(home / "store")
    prices = os.environ.get("FRONTIER_PRICES") or str(CHECKOUT / "pipeline" / "registry" / "prices.csv")
    builder = EngineBuilder(root_dir=str(home / "builds"), wheels_dir=os.environ.get("FRONTIER_WHEELS", ""))
    simulator = os.environ.get("FRONTIER_SIMULATOR_PYTHON") or str(builder.interpreter(shipped_plan(SIMULATOR_BUILD)))
    return Outside(
        clock=Clock(),
        engine_builder=builder,
        import_store=ImportStore(root_dir=store),
        page_store=PageStore(root_dir=store),
        prices=PriceBook(file=prices),
        progress=Progress(),
        publisher=Site(site_dir=str(home / "site"), base_url=os.environ.get("FRONTIER_BASE_URL", "")),
        result_files=ResultFiles(),
        result_store=ResultStore(root_dir=store),
        simulator=Simulator(python=simulator, cache_dir=str(home / "simulator")),
        sweep_store=SweepStore(root_dir=store),
        warehouse=Warehouse(),
    )


def build_defs(home: Path, resources: Mapping[str, object] | None = None) -> dg.Definitions:
    """Fresh definitions over a home folder; ``resources`` replaces any of the defaults by name."""
    return dg.Definitions(
        assets=ASSETS,
        resources={**outside(home).by_name(), **(resources or {})},
        jobs=jobs,
        schedules=schedules,
        sensors=[automation_sensor()],
        executor=dg.in_process_executor,
    )


defs = build_defs(default_home())
