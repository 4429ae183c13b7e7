"""Charts to SVG: a chart's data through the specification, compacted. What a chart holds is chart_data.py's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import vl_convert

from pipeline.pages.chart import Chart, Line, Mark
from pipeline.pages.chart_data import charts_of, frontier_chart
from pipeline.pages.chart_frame import frame_rules, frame_words
from pipeline.pages.chart_shapes import definitions, swatch
from pipeline.pages.chart_spec import chart_spec
from pipeline.pages.chart_svg import Labels, Picture, picture
from pipeline.pages.chart_theme import DASHES, PAPER, SERIES_COLOURS, SHAPES
from pipeline.pages.page import Page

MERGE_FROM = 60
"""From this number on faint marks are drawn as one path of dots a series, and in charts after the first all marks."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """One chart, its SVG for a page, which has the style of the charts in its stylesheet, and the drawing as it is."""

    chart: Chart
    svg: str
    picture: Picture


@dataclass(frozen=True)
class LegendEntry:
    """One series of the page's charts: its label and a small drawing of its line and mark."""

    label: str
    swatch: str


def drawn_charts(page: Page) -> tuple[Drawn, ...]:
    """Every chart of the page, the frontier first; empty without a frontier. The same page gives the same bytes."""
    pictures = ((chart, _picture(chart, page)) for chart in charts_of(page))
    return tuple(Drawn(chart, drawing.inline(), drawing) for chart, drawing in pictures)


def frontier_svg(page: Page) -> str:
    """The frontier as a file complete in itself, with its style and its legend; "" where the page has none."""
    return _picture(frontier_chart(page), page).file(legend(page)) if page.frontier else ""


def legend(page: Page) -> tuple[LegendEntry, ...]:
    """The series in the order of their looks."""
    return tuple(LegendEntry(series.label, swatch(_look(page, n))) for n, series in enumerate(page.series))


def shapes(page: Page) -> str:
    """The definitions that the marks of the page's charts refer to, for once in the page."""
    return f'<svg class="shapes" width="0" height="0" aria-hidden="true">{definitions(_shapes(page))}</svg>'


def _shapes(page: Page) -> list[str]:
    return [_look(page, n)["shape"] for n in range(len(page.series))]


def _picture(chart: Chart, page: Page) -> Picture:
    svg: str = vl_convert.vega_to_svg(chart_spec(_datasets(chart, page), chart.x.scale, chart.y.scale))
    return picture(svg, _labels(chart, page))


def _labels(chart: Chart, page: Page) -> Labels:
    marks = _ordered(chart)
    return Labels(
        title=chart.title,
        description=chart.alternative,
        n_frame_rules=len(frame_rules(chart)),
        bars=tuple(mark.series for mark in marks for _ in _bar(mark)),
        lines=tuple(line.series for line in _drawable(chart)),
        marks=tuple((mark.series, mark.point, mark.words) for mark in marks),
        shapes=_shapes(page),
        words=frame_words(chart, page.banner),
        n_merged=_n_merged(chart, marks),
    )


def _n_merged(chart: Chart, marks: list[Mark]) -> int:
    n_faint = sum(mark.faint for mark in marks)
    if chart.kind != "frontier" and len(marks) - n_faint >= MERGE_FROM:
        return len(marks)
    return n_faint if n_faint >= MERGE_FROM else 0


def _ordered(chart: Chart) -> list[Mark]:
    """Faint marks first, so that they lie behind; then by series."""
    return sorted(chart.marks, key=lambda mark: (not mark.faint, mark.series, mark.x, mark.y))


def _drawable(chart: Chart) -> list[Line]:
    return [line for line in chart.lines if len(line.xy) > 1]


def _datasets(chart: Chart, page: Page) -> dict[str, list[Row]]:
    looks = [_look(page, n) for n in range(len(page.series))]
    marks = _ordered(chart)
    bars = [{**row, "colour": looks[mark.series]["colour"]} for mark in marks for row in _bar(mark)]
    return {
        "rules": frame_rules(chart) + bars,
        "lines": _lines(chart, looks),
        "marks": [_mark(mark, looks[mark.series]) for mark in marks],
        "words": [{"x": word.x, "y": word.y} for word in frame_words(chart, page.banner)],
    }


def _look(page: Page, n: int) -> Row:
    engines = [engine.slug for engine in page.engines]
    colour = SERIES_COLOURS[n % len(SERIES_COLOURS)]
    return {
        "colour": colour,
        "fill": colour if page.provenance == "measured" else PAPER,
        "dash": list(DASHES[n % len(DASHES)]),
        "shape": SHAPES[engines.index(page.series[n].engine) % len(SHAPES)],
    }


def _mark(mark: Mark, look: Row) -> Row:
    size = (
        {"size_px2": 34, "width_px": 1, "opacity": 0.5} if mark.faint else {"size_px2": 80, "width_px": 2, "opacity": 1}
    )
    return {"x": mark.x, "y": mark.y, **size, **{name: look[name] for name in ("colour", "fill", "shape")}}


def _lines(chart: Chart, looks: list[Row]) -> list[Row]:
    return [
        {
            "x": x,
            "y": y,
            "line": n,
            "order": k,
            "colour": looks[line.series]["colour"],
            "dash": looks[line.series]["dash"],
        }
        for n, line in enumerate(_drawable(chart))
        for k, (x, y) in enumerate(line.xy)
    ]


def _bar(mark: Mark) -> Iterable[Row]:
    """One standard deviation to both sides, on each axis that has one."""
    plain = {"dash": [1, 0], "width_px": 1.5, "opacity": 1}
    if mark.y_std:
        yield {"x": mark.x, "x2": mark.x, "y": mark.y - mark.y_std, "y2": mark.y + mark.y_std, **plain}
    if mark.x_std:
        yield {"x": mark.x - mark.x_std, "x2": mark.x + mark.x_std, "y": mark.y, "y2": mark.y, **plain}
