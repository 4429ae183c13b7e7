"""Whether imports and sweeps hold points that the raw results of their cell do not: then it is to be derived.

Not here: which other files of a cell are absent or damaged (assets/underived.py).
"""

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.registry.shipped import shipped_renamed
from pipeline.tables.points import POINTS
from resources.import_store import ImportStore
from resources.result_store import RAW, ResultStore
from resources.sweep_store import SweepStore


def lacks_points(results: ResultStore, sweeps: SweepStore, cell: GpuRun) -> bool:
    """Whether a source came after the raw results were written, and has points that they do not have.

    A damaged source has none. Raises StoreError for damaged raw results.
    """
    raw, imports = results.path(RAW, cell, POINTS), ImportStore(root_dir=results.root_dir)
    former = (GpuRun(gpu, cell.run_date) for gpu in shipped_renamed().former_gpus(cell.gpu))
    for one in (cell, *former):
        try:
            stored = [s.read_points(one) for s in (imports, sweeps) if s.is_newer(one, raw)]
        except StoreError:  # damaged: nothing can be derived of it, and the audit names it
            continue
        known = set(results.read(RAW, cell, POINTS)["point_id"].to_pylist()) if stored else set()
        if any(not known.issuperset(rows["point_id"].to_pylist()) for rows in stored):
            return True
    return False
