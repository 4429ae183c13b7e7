"""page_data: the published JSON of every model on one GPU, from all its cells."""

import dataclasses
import datetime as dt
from dataclasses import dataclass

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.cost_tables import COST
from assets.evidence import blocking, data_version, markdown_table, promise
from assets.frontier import FRONTIER
from assets.page_inputs import inputs_now, price_version
from pipeline.automation import FOLLOW_COSTS
from pipeline.cell import GpuRun
from pipeline.cost.price_book import ALL_CORRECTIONS, corrections_of, costs_of_book, prices_as_of
from pipeline.cost.price_readings import costs_as_of
from pipeline.errors import FrontierError
from pipeline.frontier.across import (
    combined_frontier,
    curve_history,
    newest_curves,
    page_points,
    read_across,
    runs_behind,
)
from pipeline.pages.build import build_sections
from pipeline.pages.checks import schema_violations
from pipeline.pages.inputs import GpuInput
from pipeline.pages.page import Page
from pipeline.pages.pairs import pairs
from pipeline.partitions import FIRST_RUN_DATE, cell_to_gpu, gpu_partitions
from pipeline.registry.renamed import refuse_orphans
from pipeline.registry.shipped import REGISTRY_VERSION, refuse_edited, shipped_registry
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from pipeline.tables.runs import RUNS
from resources.clock import Clock
from resources.compact_store import CompactStore
from resources.page_store import PageStore
from resources.price_book import PriceBook
from resources.result_store import RAW, ResultStore
from resources.warehouse import Warehouse, read_files


class PageRequest(dg.Config):
    """How pages are built."""

    as_of: str = Field(
        default="", description="day at which prices are read, YYYY-MM-DD, no later than today (UTC); empty: today"
    )
    corrections_until: str = Field(
        default="", description="corrections of prices made after this day, YYYY-MM-DD, are left out; empty: none is"
    )


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
    compact_store: CompactStore,
    page_store: PageStore,
    warehouse: Warehouse,
    prices: PriceBook,
    clock: Clock,
) -> dg.MaterializeResult:
    """One file is one model on the GPU: a list of sections, one per workload and provenance, the page's own first."""
    refuse_edited()
    when = _when(config, clock.today())
    written, violations = [], []
    for gpu in context.partition_keys:
        version = price_version(prices, gpu, when.as_of, when.known_on)
        made_from = inputs_now(gpu, when.as_of, version, result_store, page_store)
        inputs = _inputs(gpu, when, Stored(result_store, compact_store), warehouse, prices)
        pages = {pair.model: build_sections(pair) for pair in pairs(inputs)}
        written += page_store.write(gpu, pages)
        page_store.write_inputs(dataclasses.replace(made_from, pages=page_store.hashes(gpu)))
        violations += schema_violations(pages)
        context.add_asset_metadata({"n_pages": len(pages), "headlines": _headlines(pages)}, partition_key=gpu)
    return dg.MaterializeResult(
        metadata={"as_of": when.as_of.isoformat(), "registry_version": REGISTRY_VERSION},
        data_version=data_version(written),
        check_results=[promise("page_schema", violations, "every data.json follows schema/page.schema.json")],
    )


@dataclass(frozen=True)
class When:
    """The day at which prices are read, and the last day whose corrections count (None: all do)."""

    as_of: dt.date
    corrections_until: dt.date | None

    @property
    def known_on(self) -> dt.date:
        """The same as a day."""
        return self.corrections_until or ALL_CORRECTIONS


def _when(config: PageRequest, today: dt.date) -> When:
    until = config.corrections_until
    return When(_day(config.as_of, today), _day(until, today) if until else None)


def _day(text: str, today: dt.date) -> dt.date:
    """A day with runs, no later than today; today for an empty text.

    A price of a coming day is no fact yet, and pages as of a day before every run would have no cost at all.
    """
    try:
        day = dt.date.fromisoformat(text) if text else today
    except ValueError:
        day = dt.date.max
    if not FIRST_RUN_DATE <= day <= today:
        raise FrontierError(
            "pages are not made as of that day",
            where=f"as of {text}",
            expected=f"YYYY-MM-DD, {FIRST_RUN_DATE} to {today} (today, UTC)",
            next_step="Correct the day, or leave it out for today.",
        )
    return day


@dataclass(frozen=True)
class Stored:
    """The rows of all cells: one by one, and compacted."""

    cells: ResultStore
    compact: CompactStore


def _inputs(gpu: str, when: When, stored: Stored, warehouse: Warehouse, prices: PriceBook) -> GpuInput:
    with warehouse.connect() as connection:
        knots = newest_curves(connection, stored.compact.read(FRONTIER, gpu, KNOTS))
        all_points = stored.compact.read(RAW, gpu, POINTS)
        readings = stored.compact.read(FRONTIER, gpu, READINGS)
        _refuse_orphans(all_points)
        cells = [GpuRun(gpu, day) for day in sorted(set(knots["run_date"].to_pylist()))]
        costs = read_files(connection, COSTS, stored.cells.existing(COST, cells, COSTS))
        book = prices.tables([gpu])[gpu]
        held = prices_as_of(book, when.as_of, when.known_on)
        points = page_points(connection, all_points, knots, shipped_registry().agentic_workloads)
        return GpuInput(
            gpu=gpu,
            points=points,
            knots=knots,
            frontier=combined_frontier(connection, knots),
            across=read_across(connection, knots, readings),
            history=curve_history(connection, knots, readings, all_points),
            costs=costs_of_book(costs_as_of(connection, costs, when.as_of, when.known_on), held),
            prices=held,
            registry=shipped_registry(),
            as_of=when.as_of,
            corrections_until=when.corrections_until,
            corrections=corrections_of(book),
            computed=prices.computed_rate(gpu, when.as_of),
            runs=runs_behind(stored.compact.read(RAW, gpu, RUNS), points),
        )


def _refuse_orphans(points: pa.Table) -> None:
    registry = shipped_registry()
    refuse_orphans("model", points["model"].unique().to_pylist(), registry.models, "models.toml")
    refuse_orphans("engine", points["engine"].unique().to_pylist(), registry.engines, "engines.toml")


def _headlines(pages: dict[str, tuple[Page, ...]]) -> dg.MarkdownMetadataValue:
    return markdown_table(
        {"model": model, "workload": page.workload.name, "provenance": page.provenance, "answer": page.quick_answer}
        for model, sections in pages.items()
        for page in sections
    )
