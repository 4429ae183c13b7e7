"""What is above the run pages: index.json, the overview, the pages of one model and one GPU, and the small files.

Every number here is the headline of a run page's section; nothing is computed anew.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from pipeline.frontier.targets import PRIMARY_TARGET_TOK_S_USER
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import PROVENANCE_RANK, SCHEMA_VERSION, Basis, ModelRef, Page, Provenance, dumped
from pipeline.pages.paths import gpu_path, model_path, root_from, run_path, section_id
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
class OverviewCell:
    """The at_least reading of one GPU at the primary target; ``reason`` where it has no throughput.

    ``path`` leads to the section, relative to the site's root, null where there is none. ``price_tier`` is the tier's
    name; the counts and ``last_run_date`` say what the cell stands on.
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


@dataclass(frozen=True)
class OverviewRow:
    """One model under one workload and provenance: one cell a GPU, in the order of the columns."""

    model: ModelRef
    workload: OverviewWorkload
    provenance: Provenance
    cells: tuple[OverviewCell, ...]


@dataclass(frozen=True)
class Overview:
    """index.json: the readings of every page at the primary target. ``as_of`` is null without a page."""

    schema_version: str
    as_of: dt.date | None
    target_tok_s_user: float
    gpus: tuple[OverviewGpu, ...]
    rows: tuple[OverviewRow, ...]


def overview(pages: Iterable[Page]) -> Overview:
    """All sections of all run pages side by side. Rows: model name, workload rank, provenance; columns: GPU name."""
    found = list(pages)
    gpus = {OverviewGpu(page.gpu.slug, page.gpu.name, page.gpu.vendor) for page in found}
    columns = tuple(sorted(gpus, key=lambda gpu: (gpu.vendor, gpu.name, gpu.slug)))
    lines: dict[tuple[ModelRef, OverviewWorkload, Provenance], dict[str, Page]] = {}
    for page in found:
        workload = OverviewWorkload(
            page.workload.slug, page.workload.name, page.workload.percentile, page.workload.rank
        )
        lines.setdefault((page.model, workload, page.provenance), {})[page.gpu.slug] = page
    rows = [
        OverviewRow(model, workload, provenance, tuple(_cell(gpu.slug, by_gpu.get(gpu.slug)) for gpu in columns))
        for (model, workload, provenance), by_gpu in lines.items()
    ]
    return Overview(
        schema_version=SCHEMA_VERSION,
        as_of=max((page.as_of for page in found), default=None),
        target_tok_s_user=float(PRIMARY_TARGET_TOK_S_USER),
        gpus=columns,
        rows=tuple(sorted(rows, key=_row_order)),
    )


def _row_order(row: OverviewRow) -> tuple[object, ...]:
    return (row.model.name.lower(), row.workload.rank, row.workload.slug, PROVENANCE_RANK[row.provenance])


def _cell(gpu: str, page: Page | None) -> OverviewCell:
    if page is None:
        return OverviewCell(gpu, None, None, None, None, None, None, None, None, 0, 0, None, NOT_MEASURED, NOT_MEASURED)
    head = page.headline
    tiers = {cost.tier: cost.name for cost in page.costs}
    return OverviewCell(
        gpu=gpu,
        path=f"{run_path(page.model.slug, gpu)}#{section_id(page)}",
        throughput_tok_s_gpu=head.throughput_tok_s_gpu,
        delivered_tok_s_user=head.delivered_tok_s_user,
        basis=head.basis,
        cost_usd_mtok=head.cost_usd_mtok,
        price_tier=tiers.get(head.price_tier or ""),
        engine=next((engine.name for engine in page.engines if engine.slug == head.engine), None),
        precision=head.precision,
        n_points=page.counts.n_points,
        n_invalid_points=page.counts.n_invalid_points,
        last_run_date=page.run_dates.last,
        reason=head.reason,
        cost_reason=head.cost_reason,
    )


def overview_json(found: Overview) -> str:
    """The overview as index.json."""
    return dumped(found)


def render_overview(found: Overview, site: SiteFacts) -> str:
    """index.html of the site."""
    return _grid(_Grid("./", site.name, found.rows, found.gpus), found, site)


def render_model_page(found: Overview, model: str, site: SiteFacts) -> str:
    """The page of one model, by slug: its rows of the overview, and only the GPUs that it has a point on."""
    rows = [row for row in found.rows if row.model.slug == model]
    used = {cell.gpu for row in rows for cell in row.cells if cell.path}
    gpus = [gpu for gpu in found.gpus if gpu.slug in used]
    return _grid(_Grid(root_from(model_path(model)), rows[0].model.name, rows, gpus), found, site)


def render_gpu_page(found: Overview, gpu: str, site: SiteFacts) -> str:
    """The page of one GPU, by slug: every model, workload and provenance with a point on it."""
    column = next(entry for entry in found.gpus if entry.slug == gpu)
    rows = [row for row in found.rows for cell in row.cells if cell.gpu == gpu and cell.path]
    return _grid(_Grid(root_from(gpu_path(gpu)), column.name, rows, [column]), found, site)


@dataclass(frozen=True)
class _Grid:
    root: str
    title: str
    rows: Sequence[OverviewRow]
    gpus: Sequence[OverviewGpu]


def _grid(grid: _Grid, found: Overview, site: SiteFacts) -> str:
    lines = [(row, [{cell.gpu: cell for cell in row.cells}[gpu.slug] for gpu in grid.gpus]) for row in grid.rows]
    template = environment().get_template("overview.html")
    return template.render(site=site, root=grid.root, title=grid.title, overview=found, gpus=grid.gpus, lines=lines)


def render_not_found(site: SiteFacts) -> str:
    """404.html. A file server shows it at any depth, so its links are absolute where the site knows its address."""
    return environment().get_template("not_found.html").render(site=site, root=site.base_url or "./")


def static_files() -> dict[str, str]:
    """The files that every page links to and that hold no data, by path."""
    return {"style.css": template_text("style.css"), "favicon.svg": FAVICON}


def robots_txt(site: SiteFacts) -> str:
    """Everything may be read; the sitemap is named where the site knows its address."""
    text = "User-agent: *\nAllow: /\n"
    return f"{text}Sitemap: {site.base_url}sitemap.xml\n" if site.base_url else text


def sitemap_xml(paths: Iterable[str], site: SiteFacts) -> str:
    """The pages by path, sorted, each once; none where the site does not know its address: a sitemap has no others."""
    known = sorted(set(paths)) if site.base_url else []
    lines = [f"<url><loc>{escape((site.base_url or '') + path)}</loc></url>" for path in known]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return head + "".join(f"{line}\n" for line in lines) + "</urlset>\n"
