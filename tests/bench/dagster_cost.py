"""What orchestration costs: one cell, a price change over a grid of cells, publishing many pages. CPU seconds."""

import datetime as dt
import shutil
import time
from pathlib import Path

import dagster as dg

from pipeline.cell import GpuRun
from pipeline.definitions import CHECKOUT, build_defs
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.clock import Clock
from resources.dagster_runs import QUIET, Runs, open_instance
from resources.price_book import PriceBook
from resources.result_store import ResultStore
from tests.bench.generate import curve_points

FIRST = dt.date(2025, 10, 1)
PRICED_GPUS = ("h100", "h200", "b200", "b300", "gb200", "gb300", "mi300x", "mi325x", "mi355x", "rtx6000pro")


class Bench:
    """A home folder with generated cells."""

    def __init__(self, home: Path):
        home.mkdir(parents=True)
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


def measure_cell(folder: Path) -> tuple[str, str, str, str]:
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


def measure_price_change(folder: Path, n_days: int) -> list[tuple[str, str, str, str]]:
    """A new price for each of 10 GPUs over n_days dates each: costs of every cell, then pages and site."""
    bench = Bench(folder)
    last = FIRST + dt.timedelta(n_days - 1)
    with open_instance(bench.home) as instance:
        for gpu in PRICED_GPUS:
            for i in range(n_days):
                bench.fill(gpu, "deepseek_v4_1_flash", FIRST + dt.timedelta(i))
            bench.run_range(instance, "frontier", f"{gpu}|{FIRST}", f"{gpu}|{last}")
        for gpu in PRICED_GPUS:
            price = {"gpu": gpu, "tier": "retail", "usd_per_gpu_hour": 3.21, "source": "bench"}
            bench.book.add(price | {"valid_from": dt.date(2026, 9, 1)})
        start = time.process_time()
        for gpu in PRICED_GPUS:
            bench.run_range(instance, "cost_tables", f"{gpu}|{FIRST}", f"{gpu}|{last}")
        costs_s = time.process_time() - start
        runs = Runs(bench.definitions, instance)
        for gpu in PRICED_GPUS:
            runs.run("build_pages", partition=gpu)
        pages_s = time.process_time() - start - costs_s
    what = f"a price change, {len(PRICED_GPUS)} GPUs × {n_days} dates"
    per_cell = f"{costs_s / n_days / len(PRICED_GPUS) * 1e3:.1f} ms a cell"
    return [
        (f"{what}: costs", f"{costs_s:.1f} s CPU", per_cell, ""),
        (f"{what}: pages", f"{pages_s:.1f} s CPU", "", ""),
        (f"{what}: both", f"{costs_s + pages_s:.1f} s CPU", "", "≤ 60 s CPU"),
    ]


def measure_publish(folder: Path, n_pages: int) -> tuple[str, str, str, str]:
    """The site of n_pages pairs from stored pages: HTML, JSON, CSV, charts, downloads, link check. Wall time."""
    bench = Bench(folder)
    registry = shipped_registry()
    pairs = [(gpu, model) for gpu in PRICED_GPUS for model in registry.models][:n_pages]
    gpus = sorted({gpu for gpu, _ in pairs})
    with open_instance(bench.home) as instance:
        runs = Runs(bench.definitions, instance)
        for i, (gpu, model) in enumerate(pairs):
            bench.fill(gpu, model, FIRST + dt.timedelta(i % len(registry.models)))
        for gpu in gpus:
            last = FIRST + dt.timedelta(len(registry.models) - 1)
            bench.run_range(instance, "frontier", f"{gpu}|{FIRST}", f"{gpu}|{last}")
            bench.run_range(instance, "cost_tables", f"{gpu}|{FIRST}", f"{gpu}|{last}")
            runs.run("build_pages", partition=gpu)
        start = time.perf_counter()
        done = runs.run("publish_site")
        wall_s = time.perf_counter() - start
    per_page = f"{wall_s / done['n_pages'] * 1e3:.0f} ms a page"
    return (f"publishing {done['n_pages']} pages", f"{wall_s:.1f} s", per_page, f"≤ 15 s for {n_pages}")
