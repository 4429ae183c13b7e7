"""cost_tables: every ladder reading of one cell at every price that held on or after its run date."""

import dagster as dg
import pyarrow as pa

from assets.evidence import blocking, column_schema, data_version, promise
from assets.frontier import FRONTIER
from pipeline.automation import FOLLOW_INPUTS_THAT_EXIST
from pipeline.cell import parse_cell
from pipeline.cost.checks import costs_name_prices, costs_recompute
from pipeline.cost.price_book import version_of
from pipeline.cost.price_readings import price_readings
from pipeline.partitions import cell_partitions, cell_to_gpu
from pipeline.tables.by_cell import by_cell
from pipeline.tables.costs import COSTS
from pipeline.tables.readings import READINGS
from resources.price_book import PriceBook
from resources.result_store import ResultStore
from resources.warehouse import Warehouse

COST = "costs"


@dg.asset(
    partitions_def=cell_partitions,
    deps=["frontier", dg.AssetDep("price_book", partition_mapping=cell_to_gpu)],
    backfill_policy=dg.BackfillPolicy.single_run(),
    automation_condition=FOLLOW_INPUTS_THAT_EXIST,
    group_name="derived",
    kinds={"duckdb", "parquet"},
    metadata=column_schema(COSTS),
    check_specs=blocking("cost_tables", "costs_name_prices", "costs_recompute"),
    description="USD per million tokens of every reading at every price row; old prices stay, new ones add rows.",
)
def cost_tables(
    context: dg.AssetExecutionContext, result_store: ResultStore, warehouse: Warehouse, prices: PriceBook
) -> dg.MaterializeResult:
    """One row is one reading of one curve priced by one price row."""
    cells = [parse_cell(key) for key in context.partition_keys]
    books = prices.tables({cell.gpu for cell in cells})
    book = pa.concat_tables(books.values())
    readings = warehouse.read(READINGS, result_store.existing(FRONTIER, cells, READINGS))
    with warehouse.connect() as connection:
        costs = price_readings(connection, readings, book)
    priced = by_cell(costs)
    written = [result_store.write(COST, cell, COSTS, priced.get(cell, COSTS.empty())) for cell in cells]
    return dg.MaterializeResult(
        metadata={
            "n_costs_of_run": costs.num_rows,
            "price_versions": dg.MetadataValue.json({gpu: version_of(book) for gpu, book in books.items()}),
        },
        data_version=data_version(f.sha256 for f in written),
        check_results=[
            promise(
                "costs_name_prices",
                costs_name_prices(costs, book),
                "every cost names a row of the price book and carries its rate",
            ),
            promise("costs_recompute", costs_recompute(costs), "total = rate × 1e6 / (throughput × 3600)"),
        ],
    )
