"""The HTML above the run pages: the overview, the pages of one model and of one GPU. Their data is overview.py's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.overview import Overview, OverviewCell, OverviewGpu, OverviewReading, OverviewRow, OverviewTier
from pipeline.pages.paths import compare_path, gpu_path, model_path, root_from
from pipeline.pages.ranking import cheapest_first, fastest_first, why_best
from pipeline.pages.structured_data import script_text
from pipeline.pages.templates_engine import environment


@dataclass(frozen=True)
class CellView:
    """One cell with the reason why it is bold, None where it is not, and why it has no value, None where it has one."""

    cell: OverviewCell
    best: str | None
    gap: str | None


@dataclass(frozen=True)
class RowView:
    """One row, and its GPUs from the fastest and from the cheapest on."""

    row: OverviewRow
    cells: tuple[CellView, ...]
    fastest: tuple[OverviewCell, ...]
    cheapest: tuple[OverviewCell, ...]


@dataclass(frozen=True)
class _Grid:
    path: str
    title: str
    rows: Sequence[OverviewRow]
    gpus: Sequence[OverviewGpu]
    ranked: bool


def render_overview(found: Overview, site: SiteFacts) -> Iterator[str]:
    """index.html of the site, in parts: its length is that of all pages together."""
    return _rendered(_Grid("", site.name, found.rows, found.gpus, ranked=False), found, site)


def render_model_page(found: Overview, model: str, site: SiteFacts) -> Iterator[str]:
    """The page of one model, by slug: its rows of the overview, and only the GPUs that it has a point on. In parts."""
    rows = [row for row in found.rows if row.model.slug == model]
    used = {cell.gpu for row in rows for cell in row.cells if cell.path}
    gpus = [gpu for gpu in found.gpus if gpu.slug in used]
    return _rendered(_Grid(model_path(model), rows[0].model.name, rows, gpus, ranked=True), found, site)


def render_gpu_page(found: Overview, gpu: str, site: SiteFacts) -> Iterator[str]:
    """The page of one GPU, by slug: every model, workload and provenance with a point on it. In parts."""
    column = next(entry for entry in found.gpus if entry.slug == gpu)
    rows = [row for row in found.rows if row.cell(gpu).path]
    return _rendered(_Grid(gpu_path(gpu), column.name, rows, [column], ranked=False), found, site)


@dataclass(frozen=True)
class _Lines:
    """The rows of a grid, each viewed when it is asked for: of all rows at once they are large."""

    grid: _Grid

    def __len__(self) -> int:
        return len(self.grid.rows)

    def __iter__(self) -> Iterator[RowView]:
        return (_row_view(row, self.grid.gpus) for row in self.grid.rows)


def _rendered(grid: _Grid, found: Overview, site: SiteFacts) -> Iterator[str]:
    lines = _Lines(grid)
    return (
        environment()
        .get_template("overview.html")
        .generate(
            site=site,
            root=root_from(grid.path),
            path=grid.path,
            title=grid.title,
            overview=found,
            gpus=grid.gpus,
            gpu_names={gpu.slug: gpu.name for gpu in found.gpus},
            lines=lines,
            compared=compare_path(grid.rows[0].model.slug) if grid.ranked else None,
            ranked=grid.ranked,
            targets=_targets(lines),
            switches=_switches(lines, found.tiers),
        )
    )


def _row_view(row: OverviewRow, gpus: Sequence[OverviewGpu]) -> RowView:
    cells = [row.cell(gpu.slug) for gpu in gpus]
    views = tuple(CellView(cell, why_best(cell, cells), gap(cell)) for cell in cells)
    return RowView(row, views, tuple(fastest_first(cells)), tuple(cheapest_first(cells)))


def gap(cell: OverviewCell) -> str | None:
    """Why a cell has no throughput, in words; None where it has one."""
    if cell.path is None:
        return "not run"
    if cell.throughput_tok_s_gpu is not None:
        return None
    return "no valid point" if cell.n_points == cell.n_invalid_points else "not reached"


def _targets(lines: _Lines) -> list[float]:
    return sorted({r.target_tok_s_user for line in lines for view in line.cells for r in view.cell.ladder})


def _switches(lines: _Lines, tiers: Sequence[OverviewTier]) -> Iterator[Markup]:
    """What the script of the page reads: of every cell and target the throughput, basis, engine, costs and reason.

    JSON, line by line: a list of lines of cells of targets.
    """
    slugs = [tier.slug for tier in tiers]
    yield Markup("[")
    for n, line in enumerate(lines):
        cells = [[_switched(r, slugs) for r in view.cell.ladder] for view in line.cells]
        text = json.dumps(cells, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        yield script_text(f"{',' if n else ''}{text}")
    yield Markup("]")


def _switched(reading: OverviewReading, tiers: Sequence[str]) -> list[object]:
    if reading.throughput_tok_s_gpu is None:
        return [reading.reason]
    costs = reading.cost_usd_mtok or {}
    engine = " ".join(word or "–" for word in (reading.engine, reading.precision))
    exact = [None if costs.get(tier) is None else float(f"{costs[tier]:.7g}") for tier in tiers]
    return [float(f"{reading.throughput_tok_s_gpu:.9g}"), int(reading.basis == "faster_config"), engine, exact]
