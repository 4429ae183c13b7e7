"""site: the published folder, from the stored pages of all GPUs and the stored rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import dagster as dg
import pyarrow as pa

from assets.cost_tables import COST
from assets.evidence import blocking, promise
from assets.frontier import FRONTIER
from pipeline.automation import FOLLOW_INPUTS
from pipeline.cost.price_book import price_table
from pipeline.errors import StoreError
from pipeline.pages.changes import LastStates, Publication, appended
from pipeline.pages.checks import dead_links, page_links
from pipeline.pages.data_page import render_data_page
from pipeline.pages.feed import cells_behind
from pipeline.pages.inputs import SiteFacts, site_address
from pipeline.pages.paths import DATA_PATH
from pipeline.pages.policy import policy_breaches
from pipeline.pages.site_files import SiteContents, data_texts, news_files, site_files
from pipeline.registry.renamed import with_todays_slugs
from pipeline.registry.shipped import refuse_edited, shipped_registry, shipped_renamed
from pipeline.tables.changes import CHANGES
from pipeline.tables.columns import Table
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.prices import PRICES
from pipeline.tables.readings import READINGS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.runs import RUNS
from pipeline.tables.verdicts import VERDICTS
from resources.change_log import ChangeLog
from resources.clock import Clock
from resources.compact_store import CompactStore
from resources.downloads import write_downloads
from resources.drawings import Drawings, read_drawings
from resources.page_renderer import PageRenderer, RenderedPair
from resources.page_store import PageStore
from resources.price_book import PriceBook
from resources.progress import Progress
from resources.published_files import remember_files, undrawn
from resources.result_store import RAW, ResultStore
from resources.site import Site, SiteFolder
from resources.verdict_store import VERDICT

STORED = {
    **dict.fromkeys((POINTS, REPEATS, RUNS), RAW),
    **dict.fromkeys((KNOTS, READINGS), FRONTIER),
    COSTS: COST,
    VERDICTS: VERDICT,
}
"""Where the rows of each published table are, but for prices and changes."""


@dataclass(frozen=True)
class Sources:
    """What the site is made of, beside the pages: rows, prices and the log of changes."""

    store: ResultStore
    compact: CompactStore
    prices: PriceBook
    log: pa.Table

    def rows(self, table: Table) -> pa.Table:
        """All rows of one published table."""
        if table is CHANGES:
            return self.log
        if table is PRICES:
            return price_table(self.prices.prices())
        stage = STORED[table]
        tables = [self.compact.read(stage, gpu, table) for gpu in self.store.gpus(stage)]
        return pa.concat_tables([table.empty(), *tables]).combine_chunks()

    def verdicts(self) -> pa.Table:
        """Verdicts on the curves behind the newest changes; the others are not read."""
        tables = [self.store.read(VERDICT, cell, VERDICTS) for cell in cells_behind(self.log)]
        return pa.concat_tables([VERDICTS.empty(), *tables])


@dg.asset(
    deps=["page_data"],
    automation_condition=FOLLOW_INPUTS,
    group_name="published",
    kinds={"html", "duckdb"},
    check_specs=blocking("site", "no_dead_link", "policy_kept"),
    description="The static site: pages, feed, downloads. Swapped in whole; a failed build leaves the old one.",
)
def site(
    page_store: PageStore,
    page_renderer: PageRenderer,
    result_store: ResultStore,
    compact_store: CompactStore,
    prices: PriceBook,
    change_log: ChangeLog,
    clock: Clock,
    publisher: Site,
    progress: Progress,
) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
    """One materialization is one folder, complete, whose links all lead somewhere, and its changes in the log."""
    refuse_edited()
    registry = shipped_registry()
    retired = frozenset(registry.gpus) - registry.swept_gpus
    facts = SiteFacts(base_url=site_address(publisher.base_url), retired_gpus=retired)
    with publisher.build() as folder:
        before = change_log.read()
        publication = Publication(LastStates(with_todays_slugs(before, shipped_renamed())))
        files = page_store.files()
        with page_renderer.drawer(folder, facts, len(files)) as drawer:
            drawn = _drawn(progress.along(drawer.pairs(files), len(files), "rendering pages"), publication)
            drawn.compared += [path for model in drawer.comparisons(files) for path in model.drawing.files]
        log = appended(before, publication.finished(), clock.today())
        del publication  # it holds the states before, and the rest takes the most memory
        _write_rest(folder, drawn, Sources(result_store, compact_store, prices, log), facts)
        with read_drawings(folder.live) as drawings:
            yield from _kept_promises(folder, drawings, facts)
            change_log.write(log)
            remember_files(folder, drawings)
    shown = {"n_pages": len(drawn.contents.live), "n_pairs": len(files), "n_changes": log.num_rows - before.num_rows}
    written = {"n_files_written": folder.n_written, "n_files_kept": folder.n_kept, "n_pairs_drawn": drawn.n_drawn}
    yield dg.MaterializeResult(metadata={**shown, **written, "path": str(publisher.live)})


@dataclass
class Drawn:
    """What is kept of the pairs and comparisons that are in place; ``compared`` are the paths of the latter."""

    contents: SiteContents = field(default_factory=SiteContents)
    compared: list[str] = field(default_factory=list)
    n_drawn: int = 0


def _drawn(pairs: Iterable[RenderedPair], publication: Publication) -> Drawn:
    """Read every pair once: no page is held after the next one has come."""
    found = Drawn()
    for pair in pairs:
        found.contents.add(pair.sections)
        publication.add(pair.sections)
        found.n_drawn += pair.drawn
    return found


def _write_rest(folder: SiteFolder, drawn: Drawn, sources: Sources, facts: SiteFacts) -> None:
    contents = drawn.contents
    for name, parts in site_files(contents, drawn.compared, facts):
        folder.write_parts(name, parts)
    folder.write_all(news_files(sources.log, sources.verdicts(), contents, facts))
    data = write_downloads(folder, sources.rows, data_texts(contents, facts))
    folder.write(f"{DATA_PATH}index.html", render_data_page(data, contents.as_of, facts))


def _kept_promises(folder: SiteFolder, drawings: Drawings, facts: SiteFacts) -> Iterator[dg.AssetCheckResult]:
    """Two checks; the first broken one raises, and the folder is not swapped in. Drawn pairs say what is on them."""
    files = folder.files()
    dead: list[str] = []
    breaches: list[str] = []
    for drawing in drawings:
        dead += dead_links(drawing.links, files)
        breaches += drawing.breaches
    for path, text in folder.pages(undrawn(files, drawings)):
        dead += dead_links([page_links(path, text)], files)
        breaches += policy_breaches(path, text, facts.base_url)
    broken = {"no_dead_link": dead, "policy_kept": breaches}
    bounds = {
        "no_dead_link": "every link inside the site leads to a file of the site",
        "policy_kept": "no page holds what its own Content-Security-Policy blocks",
    }
    for name, found in broken.items():
        yield promise(name, found, bounds[name])
    for found in broken.values():
        if found:
            raise StoreError(found[0], where="site", next_step="The old site stays; this is a defect of the templates.")
