"""The frontier chart as one declarative specification, built once; every page brings its own data.

Colours, shapes, dashes and pixel positions of the legend travel in the data, so the specification never changes:
Altair validates it and Vega-Lite compiles it a single time. What goes into the data is charts.py's.
"""

from __future__ import annotations

import functools
from typing import Any

import altair as alt
import vl_convert

from pipeline.pages.chart_theme import GRID, INK, LEGEND_FONT_PX, QUIET

DATASETS = ("guides", "lines", "marks", "faint", "legend", "note")
WIDTH_PX = 600
HEIGHT_PX = 330
PADDING_PX = {"left": 78, "top": 62, "right": 22, "bottom": 62}
LEGEND_ROW_PX = 30
LEGEND_TOP_PX = HEIGHT_PX + 80


@functools.cache
def _template() -> dict[str, Any]:
    layers = (_guides(), _guide_labels(), _lines(), _faint_marks(), _marks(), *_legend(), _note())
    chart = (
        alt.layer(*layers)
        .properties(width=WIDTH_PX, height=HEIGHT_PX)
        .configure(autosize=alt.AutoSizeParams(type="none"), background="transparent", font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=QUIET,
            titleColor=INK,
            labelFontSize=14,
            titleFontSize=14,
            titleFontWeight="normal",
            gridColor=GRID,
            domainColor=QUIET,
            tickColor=QUIET,
            labelFlush=False,
            labelPadding=7,
        )
    )
    spec = chart.to_dict() | {"datasets": {name: [] for name in DATASETS}}
    compiled: dict[str, Any] = vl_convert.vegalite_to_vega(spec)
    return compiled


def chart_spec(datasets: dict[str, list[dict[str, Any]]], n_series: int) -> dict[str, Any]:
    """The Vega specification with a page's data, by name of DATASETS; the legend takes one row a series."""
    template = _template()
    sources = [{**d, "values": datasets[d["name"]]} if d["name"] in datasets else d for d in template["data"]]
    bottom = PADDING_PX["bottom"] + LEGEND_ROW_PX * n_series + 8
    return {**template, "data": sources, "padding": {**PADDING_PX, "bottom": bottom}}


def _base(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name))


def _x() -> alt.X:
    axis = alt.Axis(title="Tokens/s per user", tickCount=6, grid=False, titlePadding=10, labelOverlap=True)
    return alt.X("x:Q", axis=axis, scale=alt.Scale(zero=True, nice=True))


def _y() -> alt.Y:
    title = alt.Axis(
        title="Tokens/s per GPU",
        titleAngle=0,
        titleAlign="left",
        titleAnchor="start",
        titleX=-70,
        titleY=-30,
        titleBaseline="bottom",
        tickCount=5,
        format="~s",
        domain=False,
    )
    return alt.Y("y:Q", axis=title, scale=alt.Scale(zero=True, nice=True))


def _guides() -> alt.Chart:
    return (
        _base("guides").mark_rule(color=QUIET, strokeWidth=1, strokeDash=[2, 4], opacity=0.7, aria=False).encode(x=_x())
    )


def _guide_labels() -> alt.Chart:
    mark = _base("guides").mark_text(color=QUIET, fontSize=13, baseline="bottom", dy=-4, aria=False)
    return mark.encode(x=_x(), y=alt.value(0), text="label:N")


def _lines() -> alt.Chart:
    mark = _base("lines").mark_line(strokeWidth=2.5, strokeJoin="round", aria=False)
    return mark.encode(x=_x(), y=_y(), detail="series:N", order="order:Q", **_stroke())


def _marks() -> alt.Chart:
    mark = _base("marks").mark_point(size=90, filled=True, opacity=1, strokeWidth=0)
    return mark.encode(x=_x(), y=_y(), description="words:N", **_look())


def _faint_marks() -> alt.Chart:
    mark = _base("faint").mark_point(size=40, filled=True, opacity=0.45, strokeWidth=0)
    return mark.encode(x=_x(), y=_y(), description="words:N", **_look())


def _look() -> dict[str, Any]:
    return {"fill": alt.Fill("colour:N", scale=None), "shape": alt.Shape("shape:N", scale=None)}


def _stroke() -> dict[str, Any]:
    return {"stroke": alt.Stroke("colour:N", scale=None), "strokeDash": alt.StrokeDash("dash:N", scale=None)}


def _legend() -> tuple[alt.Chart, ...]:
    y = alt.Y("y_px:Q", scale=None, axis=None)
    base = _base("legend")
    rule = base.mark_rule(strokeWidth=2.5, aria=False)
    mark = base.mark_point(size=90, filled=True, opacity=1, strokeWidth=0, aria=False)
    text = base.mark_text(align="left", baseline="middle", fontSize=LEGEND_FONT_PX, color=INK, aria=False)
    return (
        rule.encode(x=alt.value(-56), x2=alt.value(-16), y=y, **_stroke()),
        mark.encode(x=alt.value(-36), y=y, **_look()),
        text.encode(x=alt.value(-4), y=y, text="label:N"),
    )


def _note() -> alt.Chart:
    mark = _base("note").mark_text(
        align="right", baseline="bottom", fontSize=14, color=INK, fontWeight="bold", aria=False
    )
    return mark.encode(x=alt.value(WIDTH_PX), y=alt.value(-30), text="label:N")
