"""What growth costs: the same questions with ten, a hundred and a thousand dates behind each GPU.

One GPU is backfilled. The history of the others is that of its latest cell, copied row by row inside the SQLite file of
the instance: 20,000 runs would take hours and leave the same rows.
"""

import datetime as dt
import json
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import duckdb

from assets.frontier import FRONTIER
from pipeline.cell import GpuRun
from pipeline.definitions import CHECKOUT
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.compact_store import CompactStore
from resources.dagster_runs import QUIET, Runs, open_instance
from resources.result_store import RAW
from resources.warehouse import read_files
from tests.bench.dagster_cost import Bench
from tests.bench.report import Row
from tests.bench.webserver import served_instance

MODEL = "deepseek_v4_1_flash"
GPU = "h100"
ALL_GPUS = tuple(shipped_registry().gpus)
LATEST = dt.date(2026, 10, 31)
COMPACTED = ((RAW, POINTS), (FRONTIER, KNOTS), (FRONTIER, READINGS))
"""What pages read of every date; of the costs they read those of the newest curves."""

COPIED = ("frontier", "cost_tables")
N_NEW = 6

STATUS = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  partitionKeysByDimension { name partitionKeys }
  partitionStats { numMaterialized }
  assetPartitionStatuses { ... on MultiPartitionStatuses { primaryDimensionName ranges {
    primaryDimStartKey primaryDimEndKey primaryDimStartTime primaryDimEndTime
    secondaryDim { ... on DefaultPartitionStatuses { materializedPartitions materializingPartitions failedPartitions }
                   ... on TimePartitionStatuses { ranges { status startTime endTime startKey endKey } } } } } } } } }"""
"""The question that the UI asks for the partitions of an asset, and how many are there."""


def measure_growth(folder: Path, n_dates: int) -> list[Row]:
    """All measurements at 1×, 10× and 100× of the work: n_dates / 100, / 10 and n_dates of every GPU."""
    grown = [_at(folder / f"growth-{n}", n) for n in (n_dates // 100, n_dates // 10, n_dates)]
    return [_definitions_load(), *(row for at in grown for row in _rows(at, grown[0]))]


def _definitions_load() -> Row:
    """CPU seconds until a process has the definitions, with every job resolved: what a code server does."""
    code = "import time; from pipeline.definitions import defs; defs.get_repository_def(); print(time.process_time())"
    command = [sys.executable, "-W", "ignore", "-c", code]
    said = [subprocess.run(command, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE).stdout for _ in range(3)]
    median_s = statistics.median(map(float, said))
    return ("definitions load", f"{median_s:.1f} s CPU", "nothing stored is read for it", "≤ 5 s")


@dataclass(frozen=True)
class Status:
    """Wall seconds of an answer: on the server that gave it before, on a fresh one, and the first one ever."""

    again_s: float
    fresh_s: float
    ever_s: float
    n_found: int


@dataclass(frozen=True)
class Grown:
    """What was measured with n_dates of every GPU; CPU seconds, but for the status."""

    n_dates: int
    backfilled_cell_s: float
    new_cell_s: float
    pages_s: float
    first_pages_s: float
    compacted_s: float
    cells_s: float
    status: Status


def _rows(at: Grown, small: Grown) -> Iterator[Row]:
    def than(much_s: float, little_s: float) -> str:
        return f"{much_s / little_s:.2f} × that of {small.n_dates:,} dates"

    what, status = f"{len(ALL_GPUS)} GPUs × {at.n_dates:,} dates", at.status
    faster = f"{at.cells_s / at.compacted_s:.1f} × faster than its cell files"
    first = f"{status.fresh_s:.2f} s from a fresh server, {status.ever_s:.2f} s the first time ever"
    yield (f"{what}: a new cell", f"{at.new_cell_s:.2f} s CPU", than(at.new_cell_s, small.new_cell_s), "≈ 1")
    backfilled = f"{at.backfilled_cell_s * 1e3:.0f} ms CPU"
    yield (f"{what}: a cell of a backfill", backfilled, than(at.backfilled_cell_s, small.backfilled_cell_s), "≤ 1")
    yield (f"{what}: reading one GPU, compacted", f"{at.compacted_s:.2f} s CPU", faster, "")
    yield (f"{what}: pages of one GPU", f"{at.pages_s:.2f} s CPU", f"{at.first_pages_s:.2f} s with compaction", "")
    yield (f"{what}: status of {status.n_found:,} partitions", f"{status.again_s:.2f} s", first, "≤ 1 s")


def _at(folder: Path, n_dates: int) -> Grown:
    bench = Bench(folder)
    days = [LATEST - dt.timedelta(N_NEW + n) for n in range(n_dates)]
    with open_instance(bench.home) as instance:
        backfilled_s = _backfilled_cell_s(bench, instance, days)
        _copy_history(bench, days)
        new_cell_s = _new_cell_s(bench, instance)
        first_pages_s, pages_s = (_pages_s(bench, instance) for _ in range(2))
    compacted_s, cells_s = _reading_s(bench)
    status = _status(bench, n_dates * len(ALL_GPUS))
    return Grown(n_dates, backfilled_s, new_cell_s, pages_s, first_pages_s, compacted_s, cells_s, status)


def _backfilled_cell_s(bench: Bench, instance: dg.DagsterInstance, days: list[dt.date]) -> float:
    """CPU seconds of a cell, frontier and costs, in a backfill of one GPU over the days; eight points a day."""
    cells = [bench.fill(GPU, MODEL, day) for day in sorted(days)]
    ends = (cells[0].key, cells[-1].key)
    return _cpu_s(lambda: [bench.run_range(instance, asset, *ends) for asset in COPIED]) / len(cells)


def _cpu_s(call: Callable[[], object]) -> float:
    start_s = time.process_time()
    call()
    return time.process_time() - start_s


def _derive(bench: Bench, instance: dg.DagsterInstance, cell: GpuRun) -> None:
    bench.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance,
        partition_key=cell.key,
        asset_selection=[dg.AssetKey(name) for name in COPIED],
        run_config=dict(QUIET),
    )


def _new_cell_s(bench: Bench, instance: dg.DagsterInstance) -> float:
    """CPU seconds of one more date of the GPU through Dagster; the median of those after the first."""
    cells = [bench.fill(GPU, MODEL, LATEST - dt.timedelta(n)) for n in reversed(range(N_NEW))]
    return statistics.median([_cpu_s(lambda cell=cell: _derive(bench, instance, cell)) for cell in cells][1:])


def _copy_history(bench: Bench, days: list[dt.date]) -> None:
    """The materializations of the latest cell again for every other GPU and day, with their data versions."""
    file = bench.home / "dagster" / "history" / "runs" / "index.db"
    source = GpuRun(GPU, max(days))
    cells = [GpuRun(gpu, day) for gpu in ALL_GPUS if gpu != GPU for day in days]
    with sqlite3.connect(file) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(event_logs)")]
        for asset in COPIED:
            wanted = "dagster_event_type = 'ASSET_MATERIALIZATION' AND partition = ? AND asset_key = ?"
            row = database.execute(f"SELECT * FROM event_logs WHERE {wanted}", (source.key, json.dumps([asset])))
            event = dict(zip(columns, row.fetchone(), strict=True))
            tags = database.execute(
                "SELECT asset_key, key, value, event_timestamp FROM asset_event_tags WHERE event_id = ?",
                (event.pop("id"),),
            ).fetchall()
            for cell in cells:
                _copy_event(database, event, tags, source, cell)
    database.close()


def _copy_event(database: sqlite3.Connection, event: dict, tags: list[tuple], source: GpuRun, cell: GpuRun) -> None:
    days = (source.run_date.isoformat(), cell.run_date.isoformat())
    body = event["event"].replace(source.gpu, cell.gpu).replace(*days)
    copied = event | {"event": body, "partition": cell.key}
    places = ", ".join("?" * len(copied))
    done = database.execute(f"INSERT INTO event_logs ({', '.join(copied)}) VALUES ({places})", tuple(copied.values()))
    for asset_key, key, value, at in tags:
        changed = value.replace(source.gpu, cell.gpu).replace(*days)
        database.execute(
            "INSERT INTO asset_event_tags (event_id, asset_key, key, value, event_timestamp) VALUES (?, ?, ?, ?, ?)",
            (done.lastrowid, asset_key, key, changed, at),
        )


def _reading_s(bench: Bench) -> tuple[float, float]:
    """CPU seconds of the tables that pages read: compacted, checked by hash; and from the cell files, in DuckDB."""
    compact = CompactStore(root_dir=bench.store.root_dir)

    def from_cells() -> None:
        with duckdb.connect(":memory:") as connection:
            for stage, table in COMPACTED:
                read_files(connection, table, bench.store.paths(stage, GPU, table))

    def compacted() -> None:
        for stage, table in COMPACTED:
            compact.read(stage, GPU, table)

    return _cpu_s(compacted), _cpu_s(from_cells)


def _pages_s(bench: Bench, instance: dg.DagsterInstance) -> float:
    return _cpu_s(lambda: Runs(bench.definitions, instance).run("build_pages", partition=GPU))


def _status(bench: Bench, n_copied: int) -> Status:
    """Dagster keeps the status of an asset once it was asked for, and adds to it what happened since."""
    with served_instance(bench.home) as ask:
        (ever_s, n_found), *again = (_asked(ask) for _ in range(4))
    with served_instance(bench.home) as ask:
        fresh_s, _ = _asked(ask)
    assert n_found >= n_copied, (n_found, n_copied)
    return Status(statistics.median(wall_s for wall_s, _ in again), fresh_s, ever_s, n_found)


def _asked(ask: Callable[[str, dict], dict]) -> tuple[float, int]:
    """Wall seconds of the question, and how many partitions are materialized."""
    start_s = time.perf_counter()
    answer = ask(STATUS, {"key": {"path": ["frontier"]}})
    return time.perf_counter() - start_s, answer["assetNodeOrError"]["partitionStats"]["numMaterialized"]
