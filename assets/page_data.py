"""page_data: the published JSON of every model on one GPU, from all its cells."""

import datetime as dt

import dagster as dg
from pydantic import Field

from assets.cost_tables import COST
from assets.evidence import blocking, data_version, markdown_table, promise
from assets.frontier import FRONTIER
from assets.raw_results import RAW
from pipeline.automation import FOLLOW_COSTS
from pipeline.cell import GpuRun
from pipeline.cost.price_book import costs_of_book, prices_as_of
from pipeline.cost.price_readings import costs_as_of
from pipeline.frontier.across import combined_frontier, newest_curves, page_points, read_across
from pipeline.pages.build import build_sections
from pipeline.pages.checks import schema_violations
from pipeline.pages.inputs import GpuInput
from pipeline.pages.page import Page
from pipeline.pages.pairs import pairs
from pipeline.partitions import cell_to_gpu, gpu_partitions
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.clock import Clock
from resources.page_store import PageStore
from resources.price_book import PriceBook
from resources.result_store import ResultStore
from resources.warehouse import Warehouse, read_files


class PageRequest(dg.Config):
    """How pages are built."""

    as_of: str = Field(default="", description="day at which prices are read, YYYY-MM-DD; empty: today (UTC)")


@dg.asset(
    partitions_def=gpu_partitions,
    deps=[
        dg.AssetDep("raw_results", partition_mapping=cell_to_gpu),
        dg.AssetDep("frontier", partition_mapping=cell_to_gpu),
        dg.AssetDep("cost_tables", partition_mapping=cell_to_gpu),
    ],
    backfill_policy=dg.BackfillPolicy.single_run(),
    automation_condition=FOLLOW_COSTS,
    group_name="published",
    kinds={"duckdb", "json"},
    check_specs=blocking("page_data", "page_schema"),
    description="For every model on the GPU: newest curve of each series, readings across series, costs, as data.json.",
)
def page_data(
    context: dg.AssetExecutionContext,
    config: PageRequest,
    result_store: ResultStore,
    page_store: PageStore,
    warehouse: Warehouse,
    prices: PriceBook,
    clock: Clock,
) -> dg.MaterializeResult:
    """One file is one model on the GPU: a list of sections, one per workload and provenance, the page's own first."""
    as_of = dt.date.fromisoformat(config.as_of) if config.as_of else clock.today()
    written, violations = [], []
    for gpu in context.partition_keys:
        inputs = _inputs(gpu, as_of, result_store, warehouse, prices)
        pages = {pair.model: build_sections(pair) for pair in pairs(inputs)}
        stored = page_store.write(gpu, pages)
        written += stored
        violations += schema_violations(pages)
        context.add_asset_metadata({"n_pages": len(pages), "headlines": _headlines(pages)}, partition_key=gpu)
    return dg.MaterializeResult(
        metadata={"as_of": as_of.isoformat()},
        data_version=data_version(written),
        check_results=[promise("page_schema", violations, "every data.json follows schema/page.schema.json")],
    )


def _inputs(gpu: str, as_of: dt.date, store: ResultStore, warehouse: Warehouse, prices: PriceBook) -> GpuInput:
    with warehouse.connect() as connection:
        knots = newest_curves(connection, read_files(connection, KNOTS, store.paths(FRONTIER, gpu, KNOTS)))
        points = read_files(connection, POINTS, store.paths(RAW, gpu, POINTS))
        cells = [GpuRun(gpu, day) for day in sorted(set(knots["run_date"].to_pylist()))]
        readings = read_files(connection, READINGS, store.existing(FRONTIER, cells, READINGS))
        costs = read_files(connection, COSTS, store.existing(COST, cells, COSTS))
        book = prices_as_of(prices.tables([gpu])[gpu], as_of)
        return GpuInput(
            gpu=gpu,
            points=page_points(connection, points, knots, shipped_registry().agentic_workloads),
            knots=knots,
            frontier=combined_frontier(connection, knots),
            across=read_across(connection, knots, readings),
            costs=costs_of_book(costs_as_of(connection, costs, as_of), book),
            prices=book,
            registry=shipped_registry(),
            as_of=as_of,
        )


def _headlines(pages: dict[str, tuple[Page, ...]]) -> dg.MarkdownMetadataValue:
    return markdown_table(
        {"model": model, "workload": page.workload.name, "provenance": page.provenance, "answer": page.quick_answer}
        for model, sections in pages.items()
        for page in sections
    )
