"""Every text file of the site by path: what belongs to one pair, and what belongs to all. Writing is a resource's.

What belongs to all is made from SiteContents, which takes pairs one by one and keeps none of them.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Iterable, Iterator

import pyarrow as pa

from pipeline.pages.changes import SectionKey
from pipeline.pages.data_page import CITATION_FILE, citation_cff
from pipeline.pages.feed import N_ON_PAGE, entries, feed_xml, render_changes
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.overview import (
    OverviewCells,
    overview_json,
    render_not_found,
    robots_txt,
    sitemap_xml,
    static_files,
)
from pipeline.pages.overview_page import render_gpu_page, render_model_page, render_overview
from pipeline.pages.page import Page
from pipeline.pages.paths import (
    CHANGES_PATH,
    DATA_PATH,
    gpu_path,
    model_path,
    run_path,
    section_files,
    section_path,
    share_picture_file,
)
from pipeline.pages.published_tables import COLUMNS_FILE, columns_csv
from pipeline.pages.recompute_query import RECOMPUTE_FILE, recompute_sql
from pipeline.pages.redirects import old_addresses, redirect_files
from pipeline.pages.run_page import run_files
from pipeline.pages.schema import page_schema
from pipeline.pages.share_picture import share_png
from pipeline.registry.renamed import with_todays_slugs
from pipeline.registry.shipped import shipped_registry, shipped_renamed

Sections = tuple[Page, ...]


def pair_files(sections: Sections, site: SiteFacts) -> dict[str, str | bytes]:
    """The files of one model on one GPU, by path from the site's root."""
    folder = run_path(sections[0].model.slug, sections[0].gpu.slug)
    files: dict[str, str | bytes] = {**run_files(sections, site)}
    for page in (page for page in sections if page.frontier):
        chart = section_files(page, of=sections[0])["frontier"]
        files[share_picture_file(page, of=sections[0])] = share_png(page, str(files[chart]))
    return {f"{folder}{name}": content for name, content in files.items()}


def without_unread_points(sections: Sections) -> Sections:
    """The sections as the site's other pages need them: with the points of the ladder only."""
    return tuple(_lean(page) for page in sections)


def _lean(page: Page) -> Page:
    read = {point_id for row in page.ladder for point_id in row.at_least.point_ids}
    return dataclasses.replace(page, points=tuple(p for p in page.points if p.point_id in read), frontier=(), faq=())


class SiteContents:
    """What the pages of all pairs have in common and need of each other, added pair by pair.

    ``live`` is the folder of the page of every section.
    """

    def __init__(self, pairs: Iterable[Sections] = ()) -> None:
        self.cells = OverviewCells()
        self.live: dict[SectionKey, str] = {}
        self._corrections_until: set[dt.date | None] = set()
        for sections in pairs:
            self.add(sections)

    def add(self, sections: Sections) -> None:
        """The sections of one pair, of which a few values are kept."""
        self.cells.add(sections)
        for page in sections:
            names = (page.model.slug, page.gpu.slug, page.workload.slug, page.provenance)
            self.live[_interned(names)] = section_path(page, of=sections[0])
            self._corrections_until.add(page.corrections_until)

    @property
    def as_of(self) -> dt.date | None:
        """The latest day at which a page read prices; None without a page."""
        return self.cells.as_of

    @property
    def corrections_until(self) -> dt.date | None:
        """The latest day after which a page left corrections out; None where one page leaves out none."""
        days = [day for day in self._corrections_until if day is not None]
        return max(days, default=None) if len(days) == len(self._corrections_until) else None


def _interned(names: SectionKey) -> SectionKey:
    model, gpu, workload, provenance = map(sys.intern, names)
    return model, gpu, workload, provenance


def site_files(contents: SiteContents, compared: Iterable[str], site: SiteFacts) -> Iterator[tuple[str, Iterable[str]]]:
    """Overview, model and GPU pages, schema, sitemap and what every page links to: path, and the parts of its text.

    ``compared`` are the paths of the comparisons, which are made model by model (compare_page.py).
    """
    found = contents.cells.finished()
    models = sorted({row.model.slug for row in found.rows})
    gpus = [gpu.slug for gpu in found.gpus]
    paths = ["", CHANGES_PATH, DATA_PATH, *contents.live.values(), *map(model_path, models), *map(gpu_path, gpus)]
    paths += [path.removesuffix("index.html") for path in compared]
    yield "index.html", render_overview(found, site)
    yield "index.json", overview_json(found)
    yield from ((f"{model_path(slug)}index.html", render_model_page(found, slug, site)) for slug in models)
    yield from ((f"{gpu_path(slug)}index.html", render_gpu_page(found, slug, site)) for slug in gpus)
    yield "sitemap.xml", sitemap_xml(paths, site)
    texts = {
        "404.html": render_not_found(site),
        "robots.txt": robots_txt(site),
        "schema/page.schema.json": json.dumps(page_schema(), indent=1) + "\n",
        **redirect_files(old_addresses(paths, shipped_renamed().in_addresses), site),
        **static_files(),
    }
    yield from ((path, (text,)) for path, text in texts.items())


def news_files(log: pa.Table, verdicts: pa.Table, contents: SiteContents, site: SiteFacts) -> dict[str, str]:
    """The page and the feed of what changed, by path. ``log``: CHANGES, this publication's rows included.

    ``verdicts``: VERDICTS of the cells behind the newest changes.
    """
    found = entries(with_todays_slugs(log, shipped_renamed()), contents.live, N_ON_PAGE, verdicts)
    return {
        f"{CHANGES_PATH}index.html": render_changes(found, log.num_rows, site),
        "feed.xml": feed_xml(found, site, contents.as_of),
    }


def data_texts(contents: SiteContents, site: SiteFacts) -> dict[str, str]:
    """The small files of the data folder, by name."""
    as_of, agentic = contents.as_of, shipped_registry().agentic_workloads
    return {
        RECOMPUTE_FILE: recompute_sql(as_of or dt.date.max, agentic, contents.corrections_until),
        COLUMNS_FILE: columns_csv(),
        CITATION_FILE: citation_cff(as_of, site),
    }
