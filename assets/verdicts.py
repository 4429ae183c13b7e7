"""What the frontier asset says about regressions: verdicts of its cells, and the check that names what is worse."""

import datetime as dt
from collections.abc import Iterable, Sequence

import dagster as dg
import pyarrow as pa

from assets.evidence import N_SHOWN, markdown_table
from pipeline.cell import GpuRun
from pipeline.frontier.verdict_rows import Curves, curve_verdicts, verdict_table
from pipeline.frontier.verdict_words import regression_words
from pipeline.frontier.verdicts import looking_back, window
from pipeline.tables.by_cell import by_cell
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from pipeline.tables.runs import RUNS
from pipeline.tables.verdicts import VERDICTS
from resources.result_store import RAW, ResultStore
from resources.verdict_store import VERDICT
from resources.warehouse import Warehouse, read_files

CHECK = "no_regression"
CHECK_SPEC = dg.AssetCheckSpec(
    CHECK, asset="frontier", description="No curve is worse than the one before it, beyond the noise of the repeats."
)
SHOWN = ("series_key", "target_tok_s_user", "against_throughput_tok_s_gpu", "throughput_tok_s_gpu", "ratio")


def write_verdicts(frontier: str, cells: Sequence[GpuRun], store: ResultStore, warehouse: Warehouse) -> pa.Table:
    """Judge the curves of the cells, whose curves are stored in the stage ``frontier``; returns their VERDICTS.

    Cells of later days that look back on them are judged again as well.
    """
    found = [_of_gpu(frontier, gpu, cells, store, warehouse) for gpu in sorted({cell.gpu for cell in cells})]
    judged = pa.concat_tables([VERDICTS.empty(), *found])
    wanted = set(cells)
    mine = [table for cell, table in by_cell(judged).items() if cell in wanted]
    return pa.concat_tables([VERDICTS.empty(), *mine])


def _of_gpu(frontier: str, gpu: str, cells: Iterable[GpuRun], store: ResultStore, warehouse: Warehouse) -> pa.Table:
    days = [dt.date.fromisoformat(path.parent.name) for path in store.paths(frontier, gpu, READINGS)]
    wanted = looking_back(days, [cell.run_date for cell in cells if cell.gpu == gpu])
    past = [GpuRun(gpu, day) for day in sorted({d for day in wanted for d in window(days, day)})]
    with warehouse.connect() as connection:
        curves = Curves(
            knots=read_files(connection, KNOTS, store.existing(frontier, past, KNOTS)),
            readings=read_files(connection, READINGS, store.existing(frontier, past, READINGS)),
            points=read_files(connection, POINTS, store.existing(RAW, past, POINTS)),
            runs=read_files(connection, RUNS, store.existing(RAW, past, RUNS)),
        )
        judged = verdict_table(connection, curves, days, wanted)
    by_day = by_cell(judged)
    for day in wanted:
        cell = GpuRun(gpu, day)
        store.write(VERDICT, cell, VERDICTS, by_day.get(cell, VERDICTS.empty()))
    return judged


def regression_check(verdicts: pa.Table) -> dg.AssetCheckResult:
    """Fails with a warning where a curve is suspected of, or confirmed as, a regression; stops nothing."""
    judged = curve_verdicts(verdicts)
    found = [verdict for verdict in judged if verdict.is_regression]
    rows = [
        {name: row[name] for name in SHOWN} | {"verdict": f"{verdict.state} regression"}
        for verdict in found
        for row in verdict.counted
    ]
    words = [regression_words(verdict) for verdict in found]
    return dg.AssetCheckResult(
        check_name=CHECK,
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "promise": "no curve is worse than the one before it of its series and recipe (Welch, Holm, 95 %)",
            "n_curves": len(judged),
            "n_regressions": len(found),
            "readings": markdown_table(rows),
            "regressions": dg.MetadataValue.json(words[:N_SHOWN]),
        },
        description=words[0] if words else None,
    )
