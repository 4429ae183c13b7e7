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

import resources.arrow_memory  # noqa: F401 - before pyarrow
from assets.cost_tables import cost_tables
from assets.engine_builds import engine_builds
from assets.frontier import frontier
from assets.imported_results import imported_results
from assets.page_audit import measured_in_time, pages_are_current
from assets.page_data import page_data
from assets.price_book import price_book
from assets.raw_results import raw_results
from assets.site import site
from assets.sweep import sweep
from pipeline.automation import automation_sensor, jobs, schedules
from pipeline.automation.catch_up_sensor import catch_up
from pipeline.automation.inbox_sensor import new_files
from pipeline.automation.notice_sensors import failed_runs, verdict_notices
from pipeline.automation.rebenchmarks import rebenchmarks
from pipeline.automation.regression_sensor import confirm_regressions
from pipeline.automation.release_sensor import new_releases
from pipeline.hosts.order import HOST_VARIABLE
from pipeline.registry.shipped import shipped_plan
from pipeline.sweep.plan import SIMULATOR_BUILD
from resources.bench import Bench
from resources.change_log import ChangeLog
from resources.clock import Clock
from resources.compact_store import CompactStore
from resources.device_lock import Devices
from resources.engine_builder import EngineBuilder
from resources.engine_server import EngineServers
from resources.far_hosts import FarHosts
from resources.host_probe import HostProbe
from resources.import_store import ImportStore
from resources.inbox import Inbox
from resources.load_calibration import LoadCalibration
from resources.load_generator import LoadGenerator
from resources.made_model import MadeModels
from resources.notifier import Notifier
from resources.page_renderer import PageRenderer
from resources.page_store import PageStore
from resources.price_book import PriceBook
from resources.progress import Progress
from resources.release_index import ReleaseIndex
from resources.result_files import ResultFiles
from resources.result_store import ResultStore
from resources.simulator import Simulator
from resources.site import Site
from resources.store_files import StoreFiles
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse

CHECKOUT = Path(__file__).resolve().parents[1]
ASSETS = (engine_builds, imported_results, sweep, raw_results, frontier, price_book, cost_tables, page_data, site)
SENSORS = (catch_up, new_releases, new_files, confirm_regressions, verdict_notices, failed_runs)


def default_home() -> Path:
    """FRONTIER_HOME, else the checkout's data folder."""
    return Path(os.environ.get("FRONTIER_HOME") or CHECKOUT / "data").resolve()


@dataclass(frozen=True)
class Outside:
    """Every resource of one home folder, by the name that assets ask for it."""

    bench: Bench
    change_log: ChangeLog
    clock: Clock
    compact_store: CompactStore
    engine_builder: EngineBuilder
    far_hosts: FarHosts
    import_store: ImportStore
    inbox: Inbox
    notifier: Notifier
    page_renderer: PageRenderer
    page_store: PageStore
    prices: PriceBook
    progress: Progress
    publisher: Site
    release_index: ReleaseIndex
    result_files: ResultFiles
    result_store: ResultStore
    simulator: Simulator
    store_files: StoreFiles
    sweep_store: SweepStore
    warehouse: Warehouse

    def by_name(self) -> dict[str, dg.ConfigurableResource]:
        """The resources as Dagster takes them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def outside(home: Path) -> Outside:
    """The resources of one home folder: its store, its site, the checkout's price book."""
    store = str(home / "store")
    wheels = os.environ.get("FRONTIER_WHEELS", "")
    containers = os.environ.get("FRONTIER_CONTAINERS", "")
    results = os.environ.get("FRONTIER_RESULTS", "")
    builder = EngineBuilder(root_dir=str(home / "builds"), wheels_dir=wheels, containers=containers)
    simulator = os.environ.get("FRONTIER_SIMULATOR_PYTHON") or str(builder.interpreter(shipped_plan(SIMULATOR_BUILD)))
    return Outside(
        bench=_bench(home, builder, containers),
        change_log=ChangeLog(root_dir=store),
        clock=Clock(),
        compact_store=CompactStore(root_dir=store),
        engine_builder=builder,
        far_hosts=_far_hosts(results),
        import_store=ImportStore(root_dir=store),
        inbox=Inbox(folder=os.environ.get("FRONTIER_INBOX") or str(home / "inbox"), root_dir=store),
        notifier=Notifier(),
        page_renderer=PageRenderer(),
        page_store=PageStore(root_dir=store),
        prices=_price_book(),
        progress=Progress(),
        publisher=Site(site_dir=str(home / "site"), base_url=os.environ.get("FRONTIER_BASE_URL", "")),
        release_index=ReleaseIndex(root_dir=str(home / "candidates"), wheels_dir=wheels),
        result_files=ResultFiles(),
        result_store=ResultStore(root_dir=store),
        simulator=Simulator(python=simulator, cache_dir=str(home / "simulator")),
        store_files=StoreFiles(root_dir=store),
        sweep_store=SweepStore(root_dir=store, results_url=results),
        warehouse=Warehouse(),
    )


def _far_hosts(results: str) -> FarHosts:
    """The other hosts. FRONTIER_HOST says which of them this one is."""
    ssh_config = os.environ.get("FRONTIER_SSH_CONFIG", "")
    return FarHosts(this_host=os.environ.get(HOST_VARIABLE, ""), ssh_config=ssh_config, results_url=results)


def _price_book() -> PriceBook:
    """The checkout's book and inputs of the computed tier, or the files of FRONTIER_PRICES and FRONTIER_TCO."""
    registry = CHECKOUT / "pipeline" / "registry"
    return PriceBook(
        file=os.environ.get("FRONTIER_PRICES") or str(registry / "prices.csv"),
        tco_file=os.environ.get("FRONTIER_TCO") or str(registry / "tco.toml"),
    )


def _bench(home: Path, builder: EngineBuilder, containers: str) -> Bench:
    """The bench of a home folder. FRONTIER_DEVICES moves the locks: all who share a device share that folder."""
    return Bench(
        builder=builder,
        devices=Devices(root_dir=os.environ.get("FRONTIER_DEVICES") or str(home / "devices")),
        servers=EngineServers(root_dir=str(home / "servers"), containers=containers),
        client=LoadGenerator(root_dir=str(home / "load")),
        calibration=LoadCalibration(root_dir=str(home / "calibration")),
        models=MadeModels(root_dir=str(home / "models")),
        probe=HostProbe(),
    )


def build_defs(home: Path, resources: Mapping[str, object] | None = None) -> dg.Definitions:
    """Fresh definitions over a home folder; ``resources`` replaces any of the defaults by name."""
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=[pages_are_current, measured_in_time],
        resources={**outside(home).by_name(), **(resources or {})},
        jobs=jobs,
        schedules=[*schedules, *rebenchmarks()],
        sensors=[*SENSORS, automation_sensor()],
        executor=dg.in_process_executor,
    )


defs = build_defs(default_home())
