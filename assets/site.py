"""site: the published folder, from the stored pages of all GPUs and the stored rows."""

from collections.abc import Iterator

import dagster as dg
import pyarrow as pa

from assets.cost_tables import COST
from assets.evidence import blocking, promise
from assets.frontier import FRONTIER
from assets.raw_results import RAW
from pipeline.automation import FOLLOW_INPUTS
from pipeline.errors import StoreError
from pipeline.pages.checks import dead_links
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.site_files import pair_files, site_files
from pipeline.tables.columns import Table
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.downloads import write_downloads
from resources.page_store import PageStore
from resources.progress import Progress
from resources.result_store import ResultStore
from resources.site import Site, files_in, html_in, write_files
from resources.warehouse import Warehouse

DOWNLOADS = {
    POINTS: (RAW, "points"),
    KNOTS: (FRONTIER, "frontier"),
    READINGS: (FRONTIER, "readings"),
    COSTS: (COST, "costs"),
}


@dg.asset(
    deps=["page_data"],
    automation_condition=FOLLOW_INPUTS,
    group_name="published",
    kinds={"html", "duckdb"},
    check_specs=blocking("site", "no_dead_link"),
    description="The static site: run pages, overview, downloads. Swapped in whole; a failed build leaves the old one.",
)
def site(
    page_store: PageStore, result_store: ResultStore, warehouse: Warehouse, publisher: Site, progress: Progress
) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
    """One materialization is one folder, complete, whose links all lead somewhere."""
    facts = SiteFacts(base_url=f"{publisher.base_url.rstrip('/')}/" if publisher.base_url else None)
    pages = list(page_store.pairs())
    with publisher.build() as folder:
        for sections in progress.over(pages, "rendering pages"):
            write_files(folder, pair_files(sections, facts))
        write_files(folder, site_files(pages, facts))
        write_downloads(folder / "data", _downloads(result_store, warehouse))
        dead = dead_links(html_in(folder), files_in(folder))
        yield promise("no_dead_link", dead, "every link inside the site leads to a file of the site")
        if dead:
            raise StoreError(dead[0], where="site", next_step="The old site stays; this is a defect of the templates.")
    n_sections = sum(len(sections) for sections in pages)
    yield dg.MaterializeResult(
        metadata={"n_pages": n_sections, "n_pairs": len(pages), "path": str(publisher.live)},
    )


def _downloads(store: ResultStore, warehouse: Warehouse) -> dict[Table, tuple[str, pa.Table]]:
    return {
        table: (file, warehouse.read(table, store.all_paths(stage, table)))
        for table, (stage, file) in DOWNLOADS.items()
    }
