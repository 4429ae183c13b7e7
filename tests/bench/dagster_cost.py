"""What orchestration costs: one cell, and a price change over a grid of cells. CPU seconds."""

import datetime as dt
import shutil
import time
from pathlib import Path

import dagster as dg

from pipeline.cell import GpuRun
from pipeline.definitions import CHECKOUT, build_defs
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.clock import Clock
from resources.dagster_runs import QUIET, Runs, open_instance
from resources.price_book import PriceBook
from resources.result_store import ResultStore
from tests.bench.generate import curve_points
from tests.bench.report import Row

FIRST = dt.date(2025, 10, 1)
PRICED_GPUS = ("h100", "h200", "b200", "b300", "gb200", "gb300", "mi300x", "mi325x", "mi355x", "rtx6000pro")


class Bench:
    """A home folder with generated cells."""

    def __init__(self, home: Path):
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / "pipeline" / "registry" / "prices.csv", home / "prices.csv")
        self.home = home
        self.book = PriceBook(file=str(home / "prices.csv"))
        self.store = ResultStore(root_dir=str(home / "store"))
        self.definitions = build_defs(home, {"prices": self.book, "clock": Clock(fixed_day="2026-11-01")})

    def fill(self, gpu: str, model: str, day: dt.date) -> GpuRun:
        cell = GpuRun(gpu, day)
        self.store.write("raw", cell, POINTS, curve_points(gpu, model, day, f"{gpu}{model}{day}"))
        self.store.write("raw", cell, REQUESTS, REQUESTS.empty())
        return cell

    def run_range(self, instance: dg.DagsterInstance, asset: str, first: str, last: str) -> None:
        """Materialize one asset over a contiguous range of partitions in one run, as a backfill does."""
        tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
        self.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey(asset)], tags=tags, run_config=dict(QUIET)
        )


def measure_cell(folder: Path) -> Row:
    """Frontier and costs of one cell of 8 points, as one Dagster run; the median of five runs after a first one."""
    bench = Bench(folder)
    times = []
    with open_instance(bench.home) as instance:
        for i in range(6):
            cell = bench.fill("h100", "deepseek_v4_1_flash", FIRST + dt.timedelta(i))
            job = bench.definitions.resolve_implicit_global_asset_job_def()
            start = time.process_time()
            job.execute_in_process(
                instance=instance,
                partition_key=cell.key,
                asset_selection=[dg.AssetKey("frontier"), dg.AssetKey("cost_tables")],
                run_config=dict(QUIET),
            )
            times.append(time.process_time() - start)
    return ("one cell: frontier and costs through Dagster", f"{sorted(times[1:])[2]:.2f} s CPU", "", "≤ 0.5 s CPU")


def measure_price_change(folder: Path, n_days: int) -> list[Row]:
    """A new price for each of 10 GPUs that have pages over n_days dates each: costs of every cell, then pages."""
    bench = Bench(folder)
    with open_instance(bench.home) as instance:
        for gpu in PRICED_GPUS:
            for i in range(n_days):
                bench.fill(gpu, "deepseek_v4_1_flash", FIRST + dt.timedelta(i))
        _derived_s(bench, instance, "frontier", n_days)
        _derived_s(bench, instance, "cost_tables", n_days)
        first_s = _pages_s(bench, instance)
        for gpu in PRICED_GPUS:
            price = {"gpu": gpu, "tier": "retail", "usd_per_gpu_hour": 3.21, "source": "bench"}
            bench.book.add(price | {"valid_from": dt.date(2026, 9, 1)})
        costs_s = _derived_s(bench, instance, "cost_tables", n_days)
        pages_s = _pages_s(bench, instance)
    what = f"a price change, {len(PRICED_GPUS)} GPUs × {n_days} dates"
    per_cell = f"{costs_s / n_days / len(PRICED_GPUS) * 1e3:.1f} ms a cell"
    return [
        (f"{what}: costs", f"{costs_s:.1f} s CPU", per_cell, ""),
        (f"{what}: pages", f"{pages_s:.1f} s CPU", f"{first_s:.1f} s the first time, before the change", ""),
        (f"{what}: both", f"{costs_s + pages_s:.1f} s CPU", "", "≤ 60 s CPU"),
    ]


def _derived_s(bench: Bench, instance: dg.DagsterInstance, asset: str, n_days: int) -> float:
    """CPU seconds of an asset over every date of every priced GPU, a run a GPU."""
    last, start_s = FIRST + dt.timedelta(n_days - 1), time.process_time()
    for gpu in PRICED_GPUS:
        bench.run_range(instance, asset, f"{gpu}|{FIRST}", f"{gpu}|{last}")
    return time.process_time() - start_s


def _pages_s(bench: Bench, instance: dg.DagsterInstance) -> float:
    """CPU seconds of the pages of every priced GPU."""
    runs, start_s = Runs(bench.definitions, instance), time.process_time()
    for gpu in PRICED_GPUS:
        runs.run("build_pages", partition=gpu)
    return time.process_time() - start_s
