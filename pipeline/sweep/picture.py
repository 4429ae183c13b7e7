"""The frontier so far as a small picture: what a person who watches a sweep sees after every point.

Not a published chart (pipeline/pages/charts.py): one mark a valid point, joined in the order of concurrency.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt
import vl_convert

from pipeline.pages.chart_theme import SERIES_COLOURS, SHAPES

WIDTH_PX, HEIGHT_PX = 420, 240


def picture_markdown(points: Iterable[Mapping[str, Any]]) -> str:
    """An image as Markdown, its bytes inside, of POINTS rows; a sentence where no point is valid yet."""
    rows = [
        {
            "x": row["interactivity_tok_s_user"],
            "y": row["throughput_tok_s_gpu"],
            "curve": f"{row['engine']} {row['workload']} {row['topology']} ({row['provenance']})",
            "concurrency": row["concurrency"],
        }
        for row in points
        if row["valid"]
    ]
    if not rows:
        return "No valid point yet."
    png: bytes = vl_convert.vegalite_to_png(_chart(rows).to_dict(), scale=1.5)
    return f"![the frontier so far](data:image/png;base64,{base64.b64encode(png).decode()})"


def _chart(rows: list[dict[str, Any]]) -> alt.LayerChart:
    curve = alt.Color("curve:N", scale=alt.Scale(range=list(SERIES_COLOURS)), legend=alt.Legend(orient="bottom"))
    curve = curve.title(None)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title="Tokens/s per user"), y=alt.Y("y:Q", title="Tokens/s per GPU"), color=curve
    )
    line = base.mark_line(opacity=0.6).encode(order="concurrency:Q")
    mark = base.mark_point(filled=True, size=70).encode(
        shape=alt.Shape("curve:N", scale=alt.Scale(range=list(SHAPES)), legend=None)
    )
    label = base.mark_text(dx=8, dy=-8, fontSize=10).encode(text="concurrency:Q")
    return alt.layer(line, mark, label).properties(width=WIDTH_PX, height=HEIGHT_PX)
