"""Where verdicts are, and the newest of them: what sensors and the site read. Judging is the frontier asset's."""

import pyarrow as pa

from pipeline.frontier.verdict_rows import CurveVerdict, standing
from pipeline.frontier.verdicts import N_RUN_DATES_BACK
from pipeline.tables.verdicts import VERDICTS
from resources.result_store import ResultStore, read_parquet

VERDICT = "verdicts"
"""The stage of the result store."""


def standing_verdicts(store: ResultStore, gpu: str) -> list[CurveVerdict]:
    """The last verdict of every series and recipe of one GPU over its newest run dates. Raises StoreError."""
    files = store.paths(VERDICT, gpu, VERDICTS)[-N_RUN_DATES_BACK:]
    return standing(pa.concat_tables([VERDICTS.empty(), *(read_parquet(path, VERDICTS) for path in files)]))


def judged_gpus(store: ResultStore) -> list[str]:
    """GPUs that have a verdict."""
    return sorted({cell.gpu for cell in store.cells(VERDICT)})
