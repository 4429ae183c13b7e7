"""One chart as data: axes, lines and marks in the page's units. chart_data.py builds it, charts.py draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.pages.chart_scale import Scale


@dataclass(frozen=True)
class Axis:
    """One axis: its title with the unit, its scale, and how a tick is written."""

    title: str
    scale: Scale
    label: Callable[[float], str]


@dataclass(frozen=True)
class Line:
    """One line of a series: positions in order. ``series`` is the place of the series on the page."""

    series: int
    xy: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Mark:
    """One point of a series. ``point`` is its place among the page's points, None where it is not one of them.

    ``x_std`` and ``y_std`` are standard deviations over repeats, None where there is none; ``words`` say the point.
    """

    series: int
    x: float
    y: float
    point: int | None = None
    faint: bool = False
    x_std: float | None = None
    y_std: float | None = None
    words: str = ""


@dataclass(frozen=True)
class Chart:
    """One drawing. ``kind`` names it in addresses; ``alternative`` says in words what it shows.

    ``guides`` are vertical rules with their labels.
    """

    kind: str
    title: str
    caption: str
    alternative: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    guides: tuple[tuple[float, str], ...] = ()
