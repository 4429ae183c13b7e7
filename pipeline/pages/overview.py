"""index.json: every section of every run page side by side; and the small files. The HTML is overview_page.py's.

Every number here is a reading of a run page's section; nothing is computed anew.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from pipeline.frontier.targets import PRIMARY_TARGET_TOK_S_USER
from pipeline.pages.chart_theme import chart_style
from pipeline.pages.curve_record import Basis
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import PROVENANCE_RANK, SCHEMA_VERSION, LadderRow, ModelRef, Page, Provenance, dumped
from pipeline.pages.paths import run_path, section_folder
from pipeline.pages.templates_engine import environment, template_text

NOT_MEASURED = "No point of this model on this GPU under this workload and provenance."


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0072b2"/>'
    '<path d="M3 4c5 0 8 3 10 9" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>\n'
)


@dataclass(frozen=True)
class OverviewGpu:
    """One column of the overview."""

    slug: str
    name: str
    vendor: str


@dataclass(frozen=True)
class OverviewWorkload:
    """The workload of a row, with the percentile of its speeds."""

    slug: str
    name: str
    percentile: int
    rank: int


@dataclass(frozen=True)
class OverviewReading:
    """The at_least reading of one GPU at one target, with its cost by tier; ``reason`` where it has no throughput."""

    target_tok_s_user: float
    throughput_tok_s_gpu: float | None
    basis: Basis
    engine: str | None
    precision: str | None
    cost_usd_mtok: dict[str, float] | None
    reason: str | None


@dataclass(frozen=True)
class OverviewCell:
    """The at_least reading of one GPU at the primary target; ``reason`` where it has no throughput.

    ``path`` leads to the section, relative to the site's root, null where there is none. ``price_tier`` is the tier's
    name; the counts and ``last_run_date`` say what the cell stands on; ``due_on``: when it is measured again, null for
    what is not; ``overdue``: at ``as_of``. ``ladder`` has every target.
    """

    gpu: str
    path: str | None
    throughput_tok_s_gpu: float | None
    delivered_tok_s_user: float | None
    basis: Basis | None
    cost_usd_mtok: float | None
    price_tier: str | None
    engine: str | None
    precision: str | None
    n_points: int
    n_invalid_points: int
    last_run_date: dt.date | None
    reason: str | None
    cost_reason: str | None
    due_on: dt.date | None
    overdue: bool
    ladder: tuple[OverviewReading, ...]


@dataclass(frozen=True)
class OverviewTier:
    """One price tier that some cell has a cost at."""

    slug: str
    name: str


@dataclass(frozen=True)
class OverviewRow:
    """One model under one workload and provenance: one cell a GPU, in the order of the columns.

    ``packed`` are its cells by GPU, pickled: a fifth of their size, and an overview holds those of every page.
    """

    model: ModelRef
    workload: OverviewWorkload
    provenance: Provenance
    packed: Mapping[str, bytes]

    def cell(self, gpu: str) -> OverviewCell:
        """The cell of one GPU, by slug."""
        found: OverviewCell = pickle.loads(self.packed[gpu])
        return found

    @property
    def cells(self) -> tuple[OverviewCell, ...]:
        """All of them, made at every call."""
        return tuple(map(self.cell, self.packed))


@dataclass(frozen=True)
class Overview:
    """index.json: the readings of every page at the primary target. ``as_of`` is null without a page."""

    schema_version: str
    as_of: dt.date | None
    target_tok_s_user: float
    tiers: tuple[OverviewTier, ...]
    gpus: tuple[OverviewGpu, ...]
    rows: tuple[OverviewRow, ...]


def overview(pairs: Iterable[Sequence[Page]]) -> Overview:
    """All sections of all run pages side by side. Rows: model name, workload rank, provenance; columns: GPU name."""
    cells = OverviewCells()
    for sections in pairs:
        cells.add(sections)
    return cells.finished()


class OverviewCells:
    """The cells of an overview, added pair by pair: no page is kept."""

    def __init__(self) -> None:
        self.as_of: dt.date | None = None
        self._gpus: set[OverviewGpu] = set()
        self._tiers: dict[OverviewTier, None] = {}
        self._lines: dict[tuple[ModelRef, OverviewWorkload, Provenance], dict[str, bytes]] = {}

    def add(self, sections: Sequence[Page]) -> None:
        """The sections of one pair."""
        for page in sections:
            self.as_of = max(page.as_of, self.as_of or page.as_of)
            self._gpus.add(OverviewGpu(page.gpu.slug, page.gpu.name, page.gpu.vendor))
            self._tiers |= {OverviewTier(cost.tier, cost.name): None for cost in page.costs}
            line = self._lines.setdefault((page.model, _workload(page), page.provenance), {})
            line[page.gpu.slug] = pickle.dumps(_cell(page, sections[0]))

    def finished(self) -> Overview:
        """All rows and columns in order, with a cell that says why where there is no page."""
        columns = tuple(sorted(self._gpus, key=lambda gpu: (gpu.vendor, gpu.name, gpu.slug)))
        none = {gpu.slug: pickle.dumps(_no_cell(gpu.slug)) for gpu in columns}
        rows = (OverviewRow(*key, {gpu: line.get(gpu, none[gpu]) for gpu in none}) for key, line in self._lines.items())
        return Overview(
            schema_version=SCHEMA_VERSION,
            as_of=self.as_of,
            target_tok_s_user=float(PRIMARY_TARGET_TOK_S_USER),
            tiers=tuple(self._tiers),
            gpus=columns,
            rows=tuple(sorted(rows, key=_row_order)),
        )


def _workload(page: Page) -> OverviewWorkload:
    return OverviewWorkload(page.workload.slug, page.workload.name, page.workload.percentile, page.workload.rank)


def _row_order(row: OverviewRow) -> tuple[object, ...]:
    return (row.model.name.lower(), row.workload.rank, row.workload.slug, PROVENANCE_RANK[row.provenance])


def _no_cell(gpu: str) -> OverviewCell:
    names = [field.name for field in dataclasses.fields(OverviewCell)]
    values: dict[str, Any] = {name: None for name in names}
    values |= {"gpu": gpu, "n_points": 0, "n_invalid_points": 0, "overdue": False, "ladder": ()}
    return OverviewCell(**values | {"reason": NOT_MEASURED, "cost_reason": NOT_MEASURED})


def _cell(page: Page, own: Page) -> OverviewCell:
    head = page.headline
    tiers = {cost.tier: cost.name for cost in page.costs}
    return OverviewCell(
        gpu=page.gpu.slug,
        path=f"{run_path(page.model.slug, page.gpu.slug)}{section_folder(page, of=own)}",
        throughput_tok_s_gpu=head.throughput_tok_s_gpu,
        delivered_tok_s_user=head.delivered_tok_s_user,
        basis=head.basis,
        cost_usd_mtok=head.cost_usd_mtok,
        price_tier=tiers.get(head.price_tier or ""),
        engine=_engine(page, head.engine),
        precision=head.precision,
        n_points=page.counts.n_points,
        n_invalid_points=page.counts.n_invalid_points,
        last_run_date=page.run_dates.last,
        reason=head.reason,
        cost_reason=head.cost_reason,
        due_on=page.freshness.due_on,
        overdue=page.freshness.overdue,
        ladder=tuple(_reading(page, row) for row in page.ladder),
    )


def _reading(page: Page, row: LadderRow) -> OverviewReading:
    least = row.at_least
    names = ("throughput_tok_s_gpu", "basis", "precision", "cost_usd_mtok", "reason")
    return OverviewReading(
        target_tok_s_user=row.target_tok_s_user,
        engine=_engine(page, least.engine),
        **{name: getattr(least, name) for name in names},
    )


def _engine(page: Page, slug: str | None) -> str | None:
    return next((engine.name for engine in page.engines if engine.slug == slug), None)


def overview_json(found: Overview) -> Iterator[str]:
    """The overview as index.json, row by row: its fields, and of every row its own and its cells."""
    yield dumped({**vars(found), "rows": []}).removesuffix("]\n}\n")
    for n, row in enumerate(found.rows):
        shown = {"model": row.model, "workload": row.workload, "provenance": row.provenance, "cells": row.cells}
        yield f"{',' if n else ''}\n{dumped(shown)}".rstrip().replace("\n", "\n  ")
    yield "\n ]\n}\n" if found.rows else "]\n}\n"


def render_not_found(site: SiteFacts) -> str:
    """404.html. A file server shows it at any depth, so its links start at the site's address, or else at its host."""
    return environment().get_template("not_found.html").render(site=site, root=site.base_url or "/")


def static_files() -> dict[str, str]:
    """The files that every page links to and that hold no data, by path."""
    return {
        "style.css": f"{template_text('style.css')}{chart_style()}\n",
        "page.js": template_text("page.js"),
        "overview.js": template_text("overview.js"),
        "calculator.js": template_text("calculator.js"),
        "favicon.svg": FAVICON,
    }


def robots_txt(site: SiteFacts) -> str:
    """Everything may be read; the sitemap is named where the site knows its address."""
    text = "User-agent: *\nAllow: /\n"
    return f"{text}Sitemap: {site.base_url}sitemap.xml\n" if site.base_url else text


def sitemap_xml(paths: Iterable[str], site: SiteFacts) -> Iterator[str]:
    """The pages by path, sorted, each once, in parts.

    None where the site does not know its address: a sitemap has no others.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    for path in sorted(set(paths)) if site.base_url else ():
        yield f"<url><loc>{escape((site.base_url or '') + path)}</loc></url>\n"
    yield "</urlset>\n"
