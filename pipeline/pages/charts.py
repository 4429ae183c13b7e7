"""The frontier chart of a page as SVG. The specification is chart_spec.py's, its sentences are wording.py's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import vl_convert

from pipeline.pages import formats, wording
from pipeline.pages.chart_spec import LEGEND_ROW_PX, LEGEND_TOP_PX, WIDTH_PX, chart_spec
from pipeline.pages.chart_theme import DASHES, SERIES_COLOURS, SHAPES, chart_style
from pipeline.pages.interpolant import sampled_line
from pipeline.pages.page import Page
from pipeline.pages.point_record import PointRecord
from pipeline.pages.templates_engine import escaped

GUIDE_MARGIN = 1.1
"""Targets up to this many times the fastest point get a guide; farther ones would squeeze the data."""

LABEL_GAP_PX = 36


def frontier_svg(page: Page) -> str:
    """Throughput per GPU against speed per user: one line a series, a mark a valid point, a rule a target.

    Invalid and superseded points are absent; valid points below their series' frontier are small and faint.
    The text is "" where the page has no frontier. The same page gives the same bytes.
    """
    if not page.frontier:
        return ""
    svg: str = vl_convert.vega_to_svg(chart_spec(_datasets(page), len(page.series)))
    return _finished(svg, page)


def _datasets(page: Page) -> dict[str, list[dict[str, Any]]]:
    looks = {series.label: _look(page, n) for n, series in enumerate(page.series)}
    return {
        "guides": _guides(page),
        "lines": _lines(page, looks),
        "marks": _marks([p for p in page.points if p.role == "frontier"], looks),
        "faint": _marks([p for p in page.points if p.role == "off_frontier"], looks),
        "legend": [
            {"label": label, "y_px": LEGEND_TOP_PX + LEGEND_ROW_PX * n, **look}
            for n, (label, look) in enumerate(looks.items())
        ],
        "note": [] if page.banner is None else [{"label": page.banner.split(":")[0]}],
    }


def _look(page: Page, n: int) -> dict[str, Any]:
    engines = [engine.slug for engine in page.engines]
    return {
        "colour": SERIES_COLOURS[n % len(SERIES_COLOURS)],
        "dash": list(DASHES[n % len(DASHES)]),
        "shape": SHAPES[engines.index(page.series[n].engine) % len(SHAPES)],
    }


def _guides(page: Page) -> list[dict[str, Any]]:
    fastest = max(knot.interactivity_tok_s_user for knot in page.frontier)
    targets = [row.target_tok_s_user for row in page.ladder if row.target_tok_s_user <= GUIDE_MARGIN * fastest]
    guides: list[dict[str, Any]] = []
    last_px = -LABEL_GAP_PX * 1.0
    for target in targets:
        x_px = target / max(fastest, *targets) * WIDTH_PX
        shown = x_px - last_px >= LABEL_GAP_PX
        last_px = x_px if shown else last_px
        guides.append({"x": target, "label": formats.speed(target) if shown else ""})
    return guides


def _lines(page: Page, looks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for label, look in looks.items():
        line = sampled_line([knot for knot in page.frontier if knot.series == label])
        rows += [{"x": x, "y": y, "series": label, "order": n, **look} for n, (x, y) in enumerate(line)]
    return rows


def _marks(points: Sequence[PointRecord], looks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "x": point.interactivity_tok_s_user,
            "y": point.throughput_tok_s_gpu,
            "words": wording.point_words(point),
            **looks[point.series],
        }
        for point in points
        if point.interactivity_tok_s_user is not None and point.throughput_tok_s_gpu is not None
    ]


_MARK = re.compile(r'<path aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="point"([^>]*)/>')
_CLUTTER = re.compile(r'<path class="(?:background|foreground)"[^>]*/>')
_ARIA = re.compile(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"')
_LONG_NUMBER = re.compile(r"(-?\d+\.\d{2})\d+")
_ROOT = re.compile(r'<svg [^>]*width="(\d+)" height="(\d+)"[^>]*>')


def _finished(svg: str, page: Page) -> str:
    """Vega's SVG with titles on its marks, one role for the whole picture, themed colours and short numbers."""
    head, body = _ROOT.match(svg), svg[svg.index(">") + 1 :]
    assert head is not None, "vl-convert no longer opens with an svg element of known size"
    width, height = head.groups()
    body = _CLUTTER.sub("", body)
    body = _MARK.sub(r"<path\2><title>\1</title></path>", body)
    parts = re.split(r"(<title>.*?</title>|<text.*?</text>)", body)
    parts[::2] = [_LONG_NUMBER.sub(r"\1", _ARIA.sub("", part)) for part in parts[::2]]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="frontier-chart" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escaped(wording.chart_title(page))}">'
        f"<style>{chart_style()}</style><desc>{escaped(wording.chart_alternative(page))}</desc>{''.join(parts)}"
    )
