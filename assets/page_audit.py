"""Two daily checks of the pages: are they made from what is stored now, and was every GPU measured in time.

They read and compare, and repair nothing. What the UI shows as stale or fresh plays no part in them.
"""

import datetime as dt
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from assets.evidence import N_SHOWN, markdown_table
from assets.file_audit import altered_files, damaged_sources
from assets.finding import MEND, PUBLISH, Finding
from assets.frontier import FRONTIER
from assets.page_inputs import inputs_now, price_version
from assets.underived import underived
from pipeline.automation import ONCE_A_DAY
from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from pipeline.frontier.derive import derive_curves
from pipeline.pages.freshness import due_after
from pipeline.pages.page import Page, to_json
from pipeline.pages.page_inputs import changed_inputs
from pipeline.pages.paths import run_path, section_files, section_path
from pipeline.pages.printed_ladder import misprints
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.by_cell import by_cell
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.clock import Clock
from resources.page_store import PageStore, read_sections
from resources.price_book import PriceBook
from resources.result_store import RAW, ResultStore, cell_of
from resources.site import Site
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse


@dataclass(frozen=True)
class Audited:
    """What is compared: the stores, the price book, the site, and the day."""

    result_store: ResultStore
    sweep_store: SweepStore
    page_store: PageStore
    prices: PriceBook
    publisher: Site
    warehouse: Warehouse
    today: dt.date


def findings(audited: Audited) -> Iterator[Finding]:
    """Everything stale, from the cells to the site. Empty where every page is made from what is stored now."""
    yield from damaged_sources(audited.sweep_store)
    broken = underived(audited.result_store, audited.sweep_store)
    yield from (Finding(cell.key, what, MEND, cell.key) for cell, what in broken.items())
    for gpu in shipped_registry().gpus:
        yield from _stale_curves(audited, gpu, broken)
    for gpu in sorted({*audited.page_store.gpus(), *_gpus_with_points(audited.result_store)}):
        yield from _stale_pages(audited, gpu)
    shown = list(_strangers_of_site(audited))
    yield from shown
    yield from altered_files(audited.publisher, {finding.where.removeprefix("site/") for finding in shown})


def _gpus_with_points(store: ResultStore) -> list[str]:
    return [gpu for gpu in store.gpus(RAW) if store.paths(RAW, gpu, POINTS)]


def _stale_curves(audited: Audited, gpu: str, broken: Container[GpuRun]) -> Iterator[Finding]:
    """Cells whose stored curves are not those that their raw results give, but for those that are to be derived."""
    store = audited.result_store
    stored = (cell_of(path.parent) for path in store.paths(RAW, gpu, POINTS))
    cells = [cell for cell in stored if cell not in broken]
    if not cells:
        return
    with audited.warehouse.over(POINTS, store.existing(RAW, cells, POINTS)) as connection:
        curves = derive_curves(connection, shipped_registry().agentic_workloads)
    for table, derived in ((KNOTS, by_cell(curves.knots)), (READINGS, by_cell(curves.readings))):
        curves_of = by_cell(audited.warehouse.read(table, store.existing(FRONTIER, cells, table)))
        for cell in cells:
            now, then = derived.get(cell, table.empty()), curves_of.get(cell, table.empty())
            if not now.equals(then):
                yield Finding(cell.key, f"its {table.name} are not those of its raw results", MEND, cell.key)


def _sections(path: Path) -> tuple[Page, ...]:
    """The sections of a stored file; none of a damaged or older one, which its input versions tell of."""
    try:
        return read_sections(path)
    except StoreError:
        return ()


def _stale_pages(audited: Audited, gpu: str) -> Iterator[Finding]:
    made = audited.page_store.read_inputs(gpu)
    if made is None:
        yield Finding(f"pages of {gpu}", "what they were made from is not known", PUBLISH)
        return
    version = price_version(audited.prices, gpu, audited.today)
    now = inputs_now(gpu, audited.today, version, audited.result_store, audited.page_store)
    for what in changed_inputs(made, now):
        yield Finding(f"pages of {gpu}", what, PUBLISH)


def _strangers_of_site(audited: Audited) -> Iterator[Finding]:
    """Published pages that are not the stored ones, and published pairs that have no stored page."""
    live, known = audited.publisher.live, set()
    for path in audited.page_store.files():
        known.add(run_path(path.stem, path.parent.name))
        for page in (sections := _sections(path)):
            name = f"{run_path(page.model.slug, page.gpu.slug)}{section_files(page, of=sections[0])['data']}"
            if not (live / name).is_file():
                yield Finding(f"site/{name}", "is not published", PUBLISH)
            elif (live / name).read_bytes() != to_json(page).encode():
                yield Finding(f"site/{name}", "is not the stored page", PUBLISH)
            else:
                yield from _misprinted(live, page, sections[0])
    for path in sorted(live.glob("run/*/data.json")):
        folder = f"{path.parent.relative_to(live).as_posix()}/"
        if folder not in known:
            yield Finding(f"site/{folder}", "is published and has no stored page", PUBLISH)


def _misprinted(live: Path, page: Page, own: Page) -> Iterator[Finding]:
    """A page that prints other numbers in its ladder than its data holds; one that is gone is told of as a file."""
    name = section_path(page, of=own) + "index.html"
    wrong = misprints((live / name).read_text(encoding="utf-8"), page) if (live / name).is_file() else []
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        yield Finding(f"site/{name}", f"{wrong[0]}{more}", PUBLISH)


@dg.asset_check(
    asset="page_data",
    name="pages_are_current",
    automation_condition=ONCE_A_DAY,
    description="Every page is made from what is stored now, and is the one on the site: see `frontier check`.",
)
def pages_are_current(
    result_store: ResultStore,
    sweep_store: SweepStore,
    page_store: PageStore,
    prices: PriceBook,
    publisher: Site,
    warehouse: Warehouse,
    clock: Clock,
) -> dg.AssetCheckResult:
    """A warning that names each stale page, what is not as it was, and the command that mends it."""
    audited = Audited(result_store, sweep_store, page_store, prices, publisher, warehouse, clock.today())
    found = [str(finding) for finding in findings(audited)]
    return dg.AssetCheckResult(
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"n_findings": len(found), "first_findings": dg.MetadataValue.json(found[: 4 * N_SHOWN])},
        description=found[0] if found else None,
    )


@dataclass(frozen=True)
class MeasuredGpu:
    """When one GPU was measured last, and until when it is due again."""

    gpu: str
    last_run_date: dt.date
    due_on: dt.date

    def overdue_on(self, today: dt.date) -> bool:
        """Whether it is to be measured again by now."""
        return today > self.due_on


def measured_gpus(pages: PageStore) -> list[MeasuredGpu]:
    """Every GPU that has a page of valid measured points and is not retired, by slug."""
    last: dict[str, dt.date] = {}
    for page in (page for path in pages.files() for page in _sections(path)):
        fresh = page.freshness
        if fresh.last_run_date and fresh.due_on:
            last[page.gpu.slug] = max(fresh.last_run_date, last.get(page.gpu.slug, fresh.last_run_date))
    gpus = shipped_registry().gpus
    due = {slug: due_after(day, gpus[slug]) for slug, day in last.items() if not gpus[slug].retired}
    return [MeasuredGpu(slug, last[slug], day) for slug, day in sorted(due.items())]


@dg.asset_check(
    asset="page_data",
    name="measured_in_time",
    automation_condition=ONCE_A_DAY,
    description="Every measured GPU was measured within its stale_after_days (pipeline/registry/gpus.toml).",
)
def measured_in_time(page_store: PageStore, clock: Clock) -> dg.AssetCheckResult:
    """A warning that names each overdue GPU. Dagster's freshness policies see no partitions: they would hide it."""
    today = clock.today()
    found = measured_gpus(page_store)
    late = [entry for entry in found if entry.overdue_on(today)]
    rows = [
        {"gpu": e.gpu, "measured": e.last_run_date, "due by": e.due_on, "overdue": e.overdue_on(today)} for e in found
    ]
    words = [f"{entry.gpu} was measured on {entry.last_run_date} and was due by {entry.due_on}" for entry in late]
    return dg.AssetCheckResult(
        passed=not late,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"n_gpus": len(found), "n_overdue": len(late), "gpus": markdown_table(rows)},
        description="; ".join(words) or None,
    )
