"""What publishing costs: time and memory by number of pages, what an unchanged site writes, the weight of a page."""

import datetime as dt
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import resources.arrow_memory  # noqa: F401 - before pyarrow
from pipeline.registry.shipped import shipped_registry
from resources.dagster_runs import Runs, open_instance
from tests.bench.dagster_cost import FIRST, PRICED_GPUS, Bench

KIB = 1024
N_CORES = 2
PROCESSES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
Row = tuple[str, str, str, str]


def measure_site(folder: Path, n_pages: int) -> list[Row]:
    """Publish n_pages and a quarter of them, each in a process of its own, and the larger site a second time."""
    small, large = (_published(folder / f"site-{n}", n) for n in (n_pages // 4, n_pages))
    grown = (large["peaks_mib"][0] - small["peaks_mib"][0]) / (n_pages - n_pages // 4) * KIB
    peaks = " and ".join("{:.0f} + {:.0f} MiB a core".format(*site["peaks_mib"]) for site in (small, large))
    parts = ", ".join(f"{name} {n_bytes / KIB:.0f}" for name, n_bytes in large["weight"].items())
    cpu = f"{large['cpu_s'] / n_pages * 1e3:.0f} ms CPU a page"
    weight_kib = sum(large["weight"].values()) / KIB
    written = f"{large['n_drawn']:,} pairs drawn, {large['n_written']:,} of {large['n_files']:,} files written"
    return [
        _row(
            f"publishing {n_pages:,} pages",
            large["wall_s"],
            f"{large['wall_s'] / n_pages * 1e3:.0f} ms a page",
            "≤ 60 s for 1,000, on two quiet cores",
        ),
        _row(f"the same in CPU seconds of {N_CORES} cores", large["cpu_s"] / N_CORES, cpu, "≤ 60 s for 1,000"),
        (f"peak memory, {n_pages // 4:,} and {n_pages:,} pages", peaks, f"{grown:.1f} KiB a page", "≤ 10 KiB a page"),
        _row("the same pages again", large["again_s"], written, "0 written"),
        ("a run page with all that it loads", f"{weight_kib:.0f} KiB", parts, "≤ 200 KB"),
    ]


def _row(what: str, wall_s: float, ratio: str, goal: str) -> Row:
    return (what, f"{wall_s:.1f} s", ratio, goal)


def _published(folder: Path, n_pages: int) -> dict:
    """The numbers of one site, whose pages another process stored: the peak memory is that of publishing alone."""
    _in_new_process(_store_pages, folder, n_pages)
    found: dict = _in_new_process(_publish, folder)
    return found


def _in_new_process(task: Callable, *arguments: object) -> object:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def _publish(folder: Path) -> dict:
    bench = Bench(folder)
    with open_instance(bench.home) as instance:
        runs = Runs(bench.definitions, instance)
        start, cpu_before_s = time.perf_counter(), _cpu_s()
        runs.run("publish_site")
        wall_s, cpu_s = time.perf_counter() - start, _cpu_s() - cpu_before_s
        peaks_mib = [_own_peak_mib(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / KIB]
        start = time.perf_counter()
        again = runs.run("publish_site")
        again_s = time.perf_counter() - start
    return {
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "peaks_mib": peaks_mib,
        "again_s": again_s,
        "n_written": again["n_files_written"],
        "n_drawn": again["n_pairs_drawn"],
        "n_files": again["n_files_written"] + again["n_files_kept"],
        "weight": _weight(bench.home / "site"),
    }


def _own_peak_mib() -> float:
    """Of this process since its program began. Trap: getrusage's has the peak of the process that started it in it."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / KIB


def _cpu_s() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, PROCESSES))


def _store_pages(folder: Path, n_pages: int) -> None:
    """n_pages stored pages: those of ten GPUs, again under made-up model slugs until there are enough."""
    bench, day = Bench(folder), FIRST + dt.timedelta(1)
    model = next(iter(shipped_registry().models))
    with open_instance(bench.home) as instance:
        for gpu in PRICED_GPUS:
            cell = bench.fill(gpu, model, day)
            for asset in ("frontier", "cost_tables"):
                bench.run_range(instance, asset, cell.key, cell.key)
            Runs(bench.definitions, instance).run("build_pages", partition=gpu)
    pages = bench.home / "store" / "pages"
    for n in range(n_pages):
        gpu = PRICED_GPUS[n % len(PRICED_GPUS)]
        text = (pages / gpu / f"{model}.json").read_text(encoding="utf-8")
        slug = f"{model}_{n // len(PRICED_GPUS)}"
        (pages / gpu / f"{slug}.json").write_text(
            text.replace(f'"slug": "{model}"', f'"slug": "{slug}"'), encoding="utf-8"
        )
    for gpu in PRICED_GPUS:
        (pages / gpu / f"{model}.json").unlink()


def _weight(site: Path) -> dict[str, int]:
    """Bytes of the largest run page and of every file that it loads, by name."""
    page = max((site / "run").glob("*/index.html"), key=lambda path: path.stat().st_size)
    loaded = [page, site / "style.css", *site.glob("*.js"), site / "favicon.svg"]
    return {path.name: path.stat().st_size for path in loaded}
