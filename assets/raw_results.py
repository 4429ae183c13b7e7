"""raw_results: everything that was measured, simulated or imported for one GPU on one run date, in one schema."""

from collections.abc import Callable

import dagster as dg
import pyarrow as pa

from assets.evidence import blocking, column_schema, data_version, promise
from pipeline.automation import FOLLOW_SWEEPS
from pipeline.cell import GpuRun, parse_cell
from pipeline.measure import checks, validity
from pipeline.measure.attempts import number_attempts
from pipeline.partitions import cell_partitions
from pipeline.registry.renamed import with_todays_slugs
from pipeline.registry.shipped import shipped_renamed
from pipeline.tables.columns import Table
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES
from resources.import_store import ImportStore
from resources.result_store import RAW, ResultStore, Stored
from resources.sweep_store import SweepStore

MEASURED_ONLY = (REPEATS, SAMPLES, RUNS)
"""Tables of sweeps: a cell of imported results has none of them."""

CHECKS: dict[str, tuple[str, Callable[[pa.Table], list[str]]]] = {
    "schema": ("columns, types and nulls as in pipeline/tables/points.py", lambda p: checks.schema_kept(POINTS, p)),
    "identity_unique": ("no two rows share identity and attempt", checks.identity_unique),
    "outcomes_add_up": ("requested = successful + failed + cancelled", checks.outcomes_add_up),
    "units_plausible": (
        f"TTFT within {validity.TTFT_BOUNDS_S} s, TPOT within {validity.TPOT_BOUNDS_S} s, "
        f"throughput up to {validity.MAX_THROUGHPUT_TOK_S_GPU:,.0f} tok/s/GPU",
        checks.units_plausible,
    ),
}


@dg.asset(
    partitions_def=cell_partitions,
    deps=["imported_results", "sweep"],
    backfill_policy=dg.BackfillPolicy.single_run(),
    automation_condition=FOLLOW_SWEEPS,
    group_name="raw",
    kinds={"python", "parquet"},
    metadata=column_schema(POINTS, REQUESTS, *MEASURED_ONLY),
    check_specs=blocking("raw_results", *CHECKS),
    description="Everything raw of one GPU on one run date, one Parquet file per table, with a manifest.",
)
def raw_results(
    context: dg.AssetExecutionContext, import_store: ImportStore, sweep_store: SweepStore, result_store: ResultStore
) -> dg.MaterializeResult:
    """One row of ``points`` is one operating point, valid or not; one row of ``requests`` is one request."""
    written: list[Stored] = []
    violations: dict[str, list[str]] = {name: [] for name in CHECKS}
    totals = {"n_points": 0, "n_invalid_points": 0}
    for key in context.partition_keys:
        cell = parse_cell(key)
        found = _stored(cell, import_store, sweep_store)
        points, requests = number_attempts(found[POINTS]), found[REQUESTS]
        files = [result_store.write(RAW, cell, POINTS, points), result_store.write(RAW, cell, REQUESTS, requests)]
        files += result_store.write_some(RAW, cell, {table: found[table] for table in MEASURED_ONLY})
        sources = _sources(points)
        result_store.write_manifest(RAW, cell, files, sources)
        counts = _counts(points) | {"n_requests": requests.num_rows, "n_files": len(sources)}
        context.add_asset_metadata({**counts, "path": str(files[0].path)}, partition_key=key)
        written += files
        for name, (_, violated) in CHECKS.items():
            violations[name] += violated(points)
        totals = {name: totals[name] + counts[name] for name in totals}
    return dg.MaterializeResult(
        metadata={f"total_{name}": n for name, n in totals.items()},
        data_version=data_version(f.sha256 for f in written),
        check_results=[promise(name, violations[name], CHECKS[name][0]) for name in CHECKS],
    )


def _stored(cell: GpuRun, import_store: ImportStore, sweep_store: SweepStore) -> dict[Table, pa.Table]:
    """Every row of a cell by table, in today's slugs, wherever a GPU, model or engine was renamed since."""
    renamed = shipped_renamed()
    cells = [cell, *(GpuRun(gpu, cell.run_date) for gpu in renamed.former_gpus(cell.gpu))]
    for one in cells:
        sweep_store.pull(one)
    imported = [import_store.read(one) for one in cells]
    swept = {t: [sweep_store.read(one, t) for one in cells] for t in (POINTS, REQUESTS, *MEASURED_ONLY)}
    swept[POINTS] += [one.points for one in imported]
    swept[REQUESTS] += [one.requests for one in imported]
    return {table: with_todays_slugs(pa.concat_tables(parts), renamed) for table, parts in swept.items()}


def _sources(points: pa.Table) -> dict[str, str]:
    return dict(zip(points["source_sha256"].to_pylist(), points["source_file"].to_pylist(), strict=True))


def _counts(points: pa.Table) -> dict[str, int]:
    n_valid = sum(points["valid"].to_pylist())
    return {"n_points": points.num_rows, "n_invalid_points": points.num_rows - n_valid}
