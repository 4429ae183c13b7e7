"""One section of a run page with everything that its template needs and its Page does not hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from pipeline.pages.charts import Drawn, drawn_charts, legend, shapes
from pipeline.pages.faq import counts, run_dates
from pipeline.pages.method import Fact, method_facts, used_points
from pipeline.pages.page import LadderRow, Page
from pipeline.pages.paths import section_files, section_id
from pipeline.pages.point_record import PointRecord
from pipeline.pages.points_table import PointsTable, points_table, short_points_table
from pipeline.pages.recompute import ladder_command
from pipeline.pages.templates_engine import safe_link
from pipeline.pages.wording import section_title


@dataclass(frozen=True)
class ChartView:
    """One chart of the page and its drawing."""

    kind: str
    title: str
    caption: str
    alternative: str
    svg: Markup


@dataclass(frozen=True)
class LegendView:
    """One series of the charts."""

    label: str
    swatch: Markup


@dataclass(frozen=True)
class RungView:
    """One row of the ladder with the points that it was read from."""

    row: LadderRow
    points: tuple[PointRecord, ...]


@dataclass(frozen=True)
class SectionView:
    """The section; ``frontier_file`` is its chart as a file of its own, ``files`` its downloads by kind.

    ``runs`` are the raw runs that have a link.
    """

    page: Page
    id: str
    title: str
    charts: tuple[ChartView, ...]
    legend: tuple[LegendView, ...]
    shapes: Markup
    frontier_file: str
    rungs: tuple[RungView, ...]
    command: str
    points: PointsTable
    files: dict[str, str]
    facts: tuple[Fact, ...]
    method: tuple[Fact, ...]
    runs: tuple[tuple[str, str], ...]


def section_view(page: Page, own: Page, base_url: str | None) -> SectionView:
    """The view of ``page`` on the run page whose own section is ``own``."""
    by_id = {point.point_id: point for point in page.points}
    drawn, entries = drawn_charts(page), legend(page)
    return SectionView(
        page=page,
        id=section_id(page),
        title=section_title(page),
        charts=tuple(map(_chart, drawn)),
        legend=tuple(LegendView(entry.label, Markup(entry.swatch)) for entry in entries),
        shapes=Markup(shapes(page)),
        frontier_file=drawn[0].picture.file(entries) if drawn else "",
        rungs=tuple(RungView(row, tuple(by_id[i] for i in row.at_least.point_ids)) for row in page.ladder),
        command=ladder_command(page, base_url),
        points=short_points_table(page.points, _best(page), _cited(page)),
        files=section_files(page, of=own),
        facts=_facts(page),
        method=method_facts(page),
        runs=_runs(used_points(page)),
    )


def all_points(page: Page) -> PointsTable:
    """The table of the page that shows every point."""
    return points_table(page.points)


def _chart(drawn: Drawn) -> ChartView:
    chart = drawn.chart
    return ChartView(chart.kind, chart.title, chart.caption, chart.alternative, Markup(drawn.svg))


def _best(page: Page) -> list[str]:
    """The frontier over all series first, then what else is on the frontier of its own."""
    return [knot.point_id for knot in sorted(page.frontier, key=lambda knot: not knot.combined)]


def _cited(page: Page) -> list[str]:
    """Points that a sentence or a ladder row of the page links to."""
    named = [page.peak.point_id, page.fastest.point_id]
    return [i for row in page.ladder for i in row.at_least.point_ids] + [i for i in named if i is not None]


def _facts(page: Page) -> tuple[Fact, ...]:
    return (
        Fact("Series and points", counts(page)),
        Fact("Serving engines", ", ".join(engine.name for engine in page.engines)),
        Fact("Checkpoint formats", ", ".join(page.precisions) or "not said"),
        Fact("Run dates", run_dates(page)),
    )


def _runs(points: Iterable[PointRecord]) -> tuple[tuple[str, str], ...]:
    """(run id, link) of the runs that have one, each once."""
    return tuple(sorted({(point.run_id, url) for point in points if (url := safe_link(point.run_url))}))
