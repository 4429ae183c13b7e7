"""What surrounds the data of a chart: grid, floor, guides, ticks, titles and the note that names its provenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pipeline.pages.chart import Chart
from pipeline.pages.chart_spec import WIDTH_PX
from pipeline.pages.chart_theme import GRID, INK, QUIET, WARN

Row = dict[str, Any]
Anchor = Literal["start", "middle", "end"]
FONT_PX = 13


def frame_rules(chart: Chart) -> list[Row]:
    """A horizontal rule a tick, the floor, and a dotted vertical rule a guide."""
    x, y = chart.x.scale, chart.y.scale
    plain = {"dash": [1, 0], "width_px": 1, "opacity": 1}
    rules = [{"x": x.lo, "x2": x.hi, "y": tick, "y2": tick, "colour": GRID, **plain} for tick in y.ticks]
    rules.append({"x": x.lo, "x2": x.hi, "y": y.lo, "y2": y.lo, "colour": QUIET, **plain})
    dotted = {"colour": QUIET, "dash": [2, 4], "width_px": 1, "opacity": 0.7}
    return rules + [
        {"x": at, "x2": at, "y": y.lo, "y2": y.hi, **dotted} for at, _ in chart.guides if x.lo <= at <= x.hi
    ]


@dataclass(frozen=True)
class Word:
    """One text: its place in the units of the axes, the step from there in px, and how it is written."""

    x: float
    y: float
    text: str
    dx_px: float = 0
    dy_px: float = 0
    anchor: Anchor = "start"
    colour: str = QUIET
    size_px: int = FONT_PX
    bold: bool = False


def frame_words(chart: Chart, banner: str | None) -> list[Word]:
    """Ticks, guides and titles in words; the first word of the banner in the upper right corner."""
    x, y = chart.x.scale, chart.y.scale
    words = [Word(tick, y.lo, chart.x.label(tick), dy_px=18, anchor="middle") for tick in x.ticks]
    words += [Word(x.lo, tick, chart.y.label(tick), dx_px=-8, dy_px=4, anchor="end") for tick in y.ticks]
    words += [Word(at, y.hi, label, dy_px=-6, anchor="middle") for at, label in chart.guides if label and at <= x.hi]
    words.append(Word(x.lo, y.hi, chart.y.title, dx_px=-64, dy_px=-32, colour=INK))
    words.append(Word(x.lo, y.lo, chart.x.title, dx_px=WIDTH_PX / 2, dy_px=44, anchor="middle", colour=INK))
    if banner is not None:
        note = banner.split(":")[0].upper()
        words.append(Word(x.hi, y.hi, note, 0, -31, "end", colour=WARN, size_px=FONT_PX + 2, bold=True))
    return words
