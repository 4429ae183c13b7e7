"""Cells whose imports or sweeps are stored, and whose raw results, curves or costs are not, or not of all of them.

What is derived may be deleted, damaged, or of an older version: it is made again from its sources, never asked for.
Whether stored curves are those of their raw results is the audit's (assets/page_audit.py), which derives them for it.
"""

from collections.abc import Iterable, Iterator

from assets.cost_tables import COST
from assets.frontier import FRONTIER
from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.registry.shipped import shipped_registry, shipped_renamed
from pipeline.tables.columns import Table
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.runs import RUNS
from resources.compact_store import CompactStore
from resources.import_store import ImportStore
from resources.result_store import RAW, ResultStore
from resources.source_points import lacks_points
from resources.sweep_store import SweepStore

ALWAYS = ((RAW, POINTS), (FRONTIER, KNOTS), (FRONTIER, READINGS), (COST, COSTS))
"""Stage and table of the files that every derived cell has, also without a row."""

READ = (*ALWAYS, (RAW, RUNS), (RAW, REPEATS))
"""Those that a publication reads."""


def sourced_cells(sweep_store: SweepStore) -> set[GpuRun]:
    """Every cell with stored imports or finished points of sweeps, in today's slugs; none of a GPU without a block."""
    renamed = shipped_renamed().gpus
    stored = ImportStore(root_dir=sweep_store.root_dir).cells() | sweep_store.finished_cells()
    cells = (GpuRun(renamed.get(cell.gpu, cell.gpu), cell.run_date) for cell in stored)
    return {cell for cell in cells if cell.gpu in shipped_registry().gpus}


def underived(result_store: ResultStore, sweep_store: SweepStore) -> dict[GpuRun, str]:
    """What is not derived of each cell, in words, by GPU and run date; none where everything is. Raises StoreError."""
    cells = sorted(sourced_cells(sweep_store))
    found = dict(_unreadable(result_store, cells))
    for cell in cells:
        absent = [table.name for stage, table in ALWAYS if not result_store.path(stage, cell, table).is_file()]
        if absent:
            what = "imports or sweeps" if len(absent) == len(ALWAYS) else ", ".join(absent)
            found[cell] = f"its {what} are not derived"
        elif cell not in found and lacks_points(result_store, sweep_store, cell):
            found[cell] = "some points of its imports or sweeps are not derived"
    return {cell: found[cell] for cell in sorted(found)}


def _unreadable(store: ResultStore, cells: Iterable[GpuRun]) -> Iterator[tuple[GpuRun, str]]:
    """Cells with a damaged file, or one of an older version. Where the compacted rows are whole, no cell is read."""
    compact, of_gpu = CompactStore(root_dir=store.root_dir), dict[str, list[GpuRun]]()
    for cell in cells:
        of_gpu.setdefault(cell.gpu, []).append(cell)
    for gpu, stage, table in ((gpu, *read) for gpu in of_gpu for read in READ):
        try:
            compact.read(stage, gpu, table)
        except StoreError:
            for cell in of_gpu[gpu]:
                if error := _error_of(store, stage, cell, table):
                    yield cell, f"{error.where} is {error.what}" if "readable" in error.what else error.what


def _error_of(store: ResultStore, stage: str, cell: GpuRun, table: Table) -> StoreError | None:
    try:
        store.read(stage, cell, table)
    except StoreError as error:
        return error
    return None
