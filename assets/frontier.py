"""frontier: the Pareto knots and the ladder readings of every curve that ran on one GPU on one date."""

import dagster as dg

from assets.evidence import blocking, column_schema, data_version, ladder_preview, promise
from assets.verdicts import CHECK_SPEC, regression_check, write_verdicts
from pipeline.automation import FOLLOW_INPUTS_THAT_EXIST
from pipeline.cell import parse_cell
from pipeline.frontier.checks import frontier_falls, knots_are_rows
from pipeline.frontier.derive import derive_curves
from pipeline.partitions import cell_partitions
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.by_cell import by_cell
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.result_store import RAW, ResultStore
from resources.warehouse import Warehouse

FRONTIER = "frontier"


@dg.asset(
    partitions_def=cell_partitions,
    deps=["raw_results"],
    backfill_policy=dg.BackfillPolicy.single_run(),
    automation_condition=FOLLOW_INPUTS_THAT_EXIST,
    group_name="derived",
    kinds={"duckdb", "parquet"},
    metadata=column_schema(KNOTS, READINGS),
    check_specs=[*blocking("frontier", "frontier_falls", "knots_are_rows"), CHECK_SPEC],
    description="Pareto frontier and ladder of every curve of the cell, derived by SQL from its raw Parquet.",
)
def frontier(
    context: dg.AssetExecutionContext, result_store: ResultStore, warehouse: Warehouse
) -> dg.MaterializeResult:
    """One row of ``knots`` is one frontier point of one curve; one row of ``readings`` is one curve at one target."""
    cells = [parse_cell(key) for key in context.partition_keys]
    with warehouse.over(POINTS, result_store.existing(RAW, cells, POINTS)) as connection:
        curves = derive_curves(connection, shipped_registry().agentic_workloads)
        strangers = knots_are_rows(curves.knots, connection.table(POINTS.name).to_arrow_table())
    knots, readings, written = by_cell(curves.knots), by_cell(curves.readings), []
    for cell in cells:
        written += [
            result_store.write(FRONTIER, cell, KNOTS, knots.get(cell, KNOTS.empty())),
            result_store.write(FRONTIER, cell, READINGS, readings.get(cell, READINGS.empty())),
        ]
        shown = {"n_knots": written[-2].n_rows, "ladder": ladder_preview(readings.get(cell, READINGS.empty()))}
        context.add_asset_metadata(shown, partition_key=cell.key)
    verdicts = write_verdicts(FRONTIER, cells, result_store, warehouse)
    return dg.MaterializeResult(
        data_version=data_version(f.sha256 for f in written),
        check_results=[
            promise(
                "frontier_falls",
                frontier_falls(curves.knots),
                "speed rises and throughput falls strictly along every curve",
            ),
            promise("knots_are_rows", strangers, "every knot is a valid raw row, to the last digit"),
            regression_check(verdicts),
        ],
    )
