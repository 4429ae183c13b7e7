"""The charts as one declarative specification, built once; every chart brings its own data.

Colours, shapes, dashes, ticks and words travel in the data and the two scales are set from outside, so the
specification never changes: Altair validates it and Vega-Lite compiles it a single time. It has four layers, no axes
of Vega's own and no text: together they took four fifths of the time of a small chart. The data is charts.py's.
"""

from __future__ import annotations

import functools
from typing import Any

import altair as alt
import vl_convert

from pipeline.pages.chart_scale import Scale

LAYERS = ("rules", "lines", "marks", "words")
"""The layers and their data sets, from the back to the front, as chart_svg.py finds them again in the SVG.

rules  x x2 y y2 colour dash width_px opacity      straight lines between two positions
lines  x y line order colour dash                  one curve a ``line``, joined in ``order``
marks  x y fill colour shape size_px2 width_px opacity
words  x y                                         the places of the words, which are written afterwards
"""
WIDTH_PX = 552
HEIGHT_PX = 300
PADDING_PX = {"left": 72, "top": 54, "right": 20, "bottom": 56}

Rows = list[dict[str, Any]]


def chart_spec(datasets: dict[str, Rows], x: Scale, y: Scale) -> dict[str, Any]:
    """The Vega specification with a chart's data, by name of LAYERS."""
    template = _template()
    sources = [{**d, "values": datasets[d["name"]]} if d["name"] in datasets else d for d in template["data"]]
    scales = [_scaled(scale, {"x": x, "y": y}[scale["name"]]) for scale in template["scales"]]
    return {**template, "data": sources, "scales": scales, "padding": PADDING_PX}


def _scaled(compiled: dict[str, Any], scale: Scale) -> dict[str, Any]:
    """The compiled scale with the chart's own kind and domain."""
    kept = {"name": compiled["name"], "range": compiled["range"], "type": scale.kind}
    # Vega stretches a linear domain to 0 unless it is told not to.
    return kept | {"domain": [scale.lo, scale.hi]} | ({"zero": False} if scale.kind == "linear" else {})


@functools.cache
def _template() -> dict[str, Any]:
    chart = (
        alt.layer(_rules(), _lines(), _marks(), _words())
        .properties(width=WIDTH_PX, height=HEIGHT_PX)
        .configure(autosize=alt.AutoSizeParams(type="none"), background="transparent", font="sans-serif")
        .configure_view(stroke=None)
    )
    spec = chart.to_dict() | {"datasets": {name: [] for name in LAYERS}}
    compiled: dict[str, Any] = vl_convert.vegalite_to_vega(spec)
    return compiled


def _of(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name))


def _place() -> dict[str, Any]:
    scale = alt.Scale(zero=False)
    return {"x": alt.X("x:Q", axis=None, scale=scale), "y": alt.Y("y:Q", axis=None, scale=scale)}


def _as_given(channel: type[Any], field: str) -> Any:
    return channel(field, scale=None)


def _rules() -> alt.Chart:
    return (
        _of("rules")
        .mark_rule(aria=False)
        .encode(
            **_place(),
            x2=alt.X2("x2:Q"),
            y2=alt.Y2("y2:Q"),
            stroke=_as_given(alt.Stroke, "colour:N"),
            strokeDash=_as_given(alt.StrokeDash, "dash:N"),
            strokeWidth=_as_given(alt.StrokeWidth, "width_px:Q"),
            opacity=_as_given(alt.Opacity, "opacity:Q"),
        )
    )


def _lines() -> alt.Chart:
    mark = _of("lines").mark_line(strokeWidth=2.5, strokeJoin="round", aria=False)
    return mark.encode(
        **_place(),
        detail="line:Q",
        order="order:Q",
        stroke=_as_given(alt.Stroke, "colour:N"),
        strokeDash=_as_given(alt.StrokeDash, "dash:N"),
    )


def _marks() -> alt.Chart:
    mark = _of("marks").mark_point(filled=True, aria=False)
    return mark.encode(
        **_place(),
        fill=_as_given(alt.Fill, "fill:N"),
        stroke=_as_given(alt.Stroke, "colour:N"),
        shape=_as_given(alt.Shape, "shape:N"),
        size=_as_given(alt.Size, "size_px2:Q"),
        strokeWidth=_as_given(alt.StrokeWidth, "width_px:Q"),
        opacity=_as_given(alt.Opacity, "opacity:Q"),
    )


def _words() -> alt.Chart:
    """Where words stand. chart_svg.py writes them: Vega would measure every one with a font, and nothing needs it."""
    return _of("words").mark_point(size=1, aria=False).encode(**_place())
