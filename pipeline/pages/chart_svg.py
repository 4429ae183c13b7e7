"""Vega's SVG made small and telling: short numbers, shared attributes, series and points named on their elements.

Elements are matched by their order, which is that of the data. What is drawn is charts.py's and chart_spec.py's.
"""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.pages.chart_frame import Word
from pipeline.pages.chart_shapes import definitions, reference
from pipeline.pages.chart_spec import HEIGHT_PX, LAYERS, PADDING_PX, WIDTH_PX
from pipeline.pages.chart_theme import chart_style
from pipeline.pages.templates_engine import escaped

LEGEND_ROW_PX = 26
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
DOT_PX, FAINT_DOT_PX = 7, 5

_KEPT = ("transform", "d", "x2", "y2", "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity")
_OWN = ("", "text", "title", "transform", "d", "href", "x", "y", "x2", "y2", "data-p")
_PLAIN = {
    "opacity": "1",
    "stroke-dasharray": "1,0",
    "x2": "0",
    "y2": "0",
    "stroke-width": "1",
}
_NUMBER = re.compile(r"-?\d+\.\d+")
_CORNER = re.compile(r"(-?[\d.]+),(-?[\d.]+)")
_PLACE = re.compile(r"translate\(([^,]+),([^)]+)\)")

Element = dict[str, Any]
"""Attributes by name, with the tag under "", the content under "text" and a title under "title"."""

Named = tuple[int, int | None, str]
"""Series, place of the point on the page, and the words of the point."""


class Entry(Protocol):
    """One row of the legend."""

    @property
    def label(self) -> str:
        """The series."""

    @property
    def swatch(self) -> str:
        """Its line and mark."""


@dataclass(frozen=True)
class Labels:
    """What the elements of one drawing stand for, in their order.

    The first ``n_frame_rules`` rules are the frame's, the others error bars of the series ``bars``; the first
    ``n_merged`` marks become one path of dots a series. ``shapes`` are the marks' by series.
    """

    title: str
    description: str
    n_frame_rules: int
    bars: Sequence[int]
    lines: Sequence[int]
    marks: Sequence[Named]
    shapes: Sequence[str]
    words: Sequence[Word]
    n_merged: int


@dataclass(frozen=True)
class Picture:
    """One drawing as text, without its svg element."""

    labels: Labels
    body: str

    def inline(self) -> str:
        """For a page: without legend, style and shapes, which the page has once; its alternative stands beside it."""
        return f"{self._open(_height_px(0), '')}{self.body}</svg>"

    def file(self, legend: Sequence[Entry]) -> str:
        """Complete in itself, with style, description and legend."""
        about = f"<style>{chart_style()}</style><desc>{escaped(self.labels.description)}</desc>"
        about += definitions(self.labels.shapes)
        rows = "".join(_legend_row(entry, _height_px(n)) for n, entry in enumerate(legend))
        return f'{self._open(_height_px(len(legend)), _NAMESPACE)}{about}{self.body}<g class="legend">{rows}</g></svg>'

    def _open(self, height_px: int, namespace: str) -> str:
        width_px = WIDTH_PX + PADDING_PX["left"] + PADDING_PX["right"]
        return (
            f'<svg{namespace} class="chart" viewBox="0 0 {width_px} {height_px}" '
            f'width="{width_px}" height="{height_px}" role="img" aria-label="{escaped(self.labels.title)}">'
        )


def _height_px(n_rows: int) -> int:
    """Of the drawing with a legend of so many rows."""
    return HEIGHT_PX + PADDING_PX["top"] + PADDING_PX["bottom"] + n_rows * LEGEND_ROW_PX


def _legend_row(entry: Entry, y_px: int) -> str:
    words = f'<text x="46" y="13" font-size="14px" fill="#1b1f24">{escaped(entry.label)}</text>'
    return f'<g transform="translate(10,{y_px})">{entry.swatch}{words}</g>'


def picture(svg: str, labels: Labels) -> Picture:
    """Vega's SVG as layers of named elements."""
    root = ET.fromstring(svg)
    rules, lines, marks, words = (_elements(root, n) for n in range(len(LAYERS)))
    n, m = labels.n_frame_rules, labels.n_merged
    body = (
        _alike(rules[:n])
        + _by_series(rules[n:], [(series, None, "") for series in labels.bars])
        + _curves(lines, labels.lines, decimals=0 if m == len(labels.marks) > 0 else 1)
        + _merged(marks[:m], labels.marks[:m])
        + _by_series(_shaped(marks[m:], labels, labels.marks[m:]), labels.marks[m:])
        + _alike([_text(place, word) for place, word in zip(words, labels.words, strict=True)])
    )
    left, top = PADDING_PX["left"], PADDING_PX["top"]
    return Picture(labels, f'<g fill="none" transform="translate({left},{top})">{body}</g>')


def _elements(root: ET.Element, layer: int) -> list[Element]:
    groups = [g for g in root.iter() if f"layer_{layer}_marks" in g.get("class", "").split()]
    return [_attributes(element) for group in groups for element in group]


def _attributes(element: ET.Element) -> Element:
    """The attributes that matter, numbers with one decimal, without those that say what holds anyway."""
    found = {name: _short(value) for name, value in element.attrib.items() if name in _KEPT}
    return {"": element.tag.rpartition("}")[2]} | {n: v for n, v in found.items() if _PLAIN.get(n) != v}


def _short(value: str) -> str:
    return _NUMBER.sub(lambda number: f"{round(float(number[0]), 1):g}", value)


def _alike(elements: Sequence[Element]) -> str:
    """Neighbours that look the same share a group."""
    looks = itertools.groupby(elements, key=lambda element: {n: v for n, v in element.items() if n not in _OWN})
    return "".join(_group(list(members)) for _, members in looks)


def _by_series(elements: Sequence[Element], names: Sequence[Named]) -> str:
    """One group a series; its marks carry the place of their point and, where they have words, a title."""
    groups = []
    for series, members in itertools.groupby(zip(elements, names, strict=True), key=lambda pair: pair[1][0]):
        marked = [element | _point(point, words) for element, (_, point, words) in members]
        groups.append(_group(marked, f' data-s="{series}"'))
    return "".join(groups)


def _curves(elements: Sequence[Element], series: Sequence[int], *, decimals: int) -> str:
    """One path a series, with all its lines; a drawing of hundreds of points has no use for tenths of a pixel."""
    groups = []
    for place, members in itertools.groupby(zip(elements, series, strict=True), key=lambda pair: pair[1]):
        known = [element for element, _ in members]
        whole = known[0] | {"d": "".join(_polyline(element["d"], decimals) for element in known)}
        groups.append(_element({"": whole.pop(""), "data-s": str(place), **whole}))
    return "".join(groups)


def _polyline(path: str, decimals: int) -> str:
    """The same corners as steps from one to the next, which are shorter to write; roundings do not add up."""
    scale = 10**decimals
    corners = [(round(float(x) * scale), round(float(y) * scale)) for x, y in _CORNER.findall(path)]
    steps = [(x1 - x0, y1 - y0) for (x0, y0), (x1, y1) in itertools.pairwise(corners)]
    written = " ".join(f"{dx / scale:g},{dy / scale:g}" for dx, dy in steps)
    return f"M{corners[0][0] / scale:g},{corners[0][1] / scale:g}l{written}"


def _text(mark: Element, word: Word) -> Element:
    """One text at the place of a mark."""
    place = _PLACE.fullmatch(mark["transform"])
    assert place is not None, "Vega no longer places its marks by a translation"
    at = {"x": _short(f"{float(place[1]) + word.dx_px:.1f}"), "y": _short(f"{float(place[2]) + word.dy_px:.1f}")}
    look: Element = {"text-anchor": word.anchor} if word.anchor != "start" else {}
    look |= {"font-size": f"{word.size_px}px", "fill": word.colour} | ({"font-weight": "bold"} if word.bold else {})
    return {"": "text", **at, **look, "text": word.text}


def _shaped(marks: Sequence[Element], labels: Labels, names: Sequence[Named]) -> list[Element]:
    return [_use(mark, labels.shapes[series]) for mark, (series, _, _) in zip(marks, names, strict=True)]


def _use(mark: Element, shape: str) -> Element:
    """A mark as a reference to its shape, which stands once in the document."""
    place = _PLACE.fullmatch(mark["transform"])
    assert place is not None, "Vega no longer places its marks by a translation"
    look: Element = {name: mark[name] for name in ("fill", "stroke", "opacity") if name in mark}
    at = {"x": place[1], "y": place[2]}
    return {"": "use", "href": reference(shape, faint="opacity" in mark), **at, "stroke-width": "2", **look}


def _point(point: int | None, words: str) -> Element:
    place = {} if point is None else {"data-p": str(point)}
    return {**place, "title": words} if words else place


def _merged(elements: Sequence[Element], names: Sequence[Named]) -> str:
    """Faint or full marks of a series as one path of round dots: hundreds of points stay small."""
    groups = []
    pairs = zip(elements, names, strict=True)
    for (series, opacity), members in itertools.groupby(pairs, key=lambda pair: (pair[1][0], pair[0].get("opacity"))):
        known = [element for element, _ in members]
        places = [_PLACE.fullmatch(element["transform"]) for element in known]
        dots = "".join(f"M{float(place[1]):.0f},{float(place[2]):.0f}h0" for place in places if place)
        look = {"stroke": known[0]["stroke"], "stroke-width": FAINT_DOT_PX if opacity else DOT_PX}
        look |= {"stroke-linecap": "round"} | ({"opacity": opacity} if opacity else {})
        groups.append(f'<path data-s="{series}" d="{dots}"{_written(look.items())}/>')
    return "".join(groups)


def _group(elements: Sequence[Element], more: str = "") -> str:
    """A group whose elements leave to it what they all share."""
    first = elements[0]
    shared = {n: v for n, v in first.items() if n not in _OWN and all(e.get(n) == v for e in elements)}
    inside = "".join(_element({n: v for n, v in element.items() if n not in shared}) for element in elements)
    return f"<g{more}{_written(shared.items())}>{inside}</g>"


def _element(element: Element) -> str:
    tag, text, title = element[""], element.get("text", ""), element.get("title", "")
    content = f"<title>{escaped(title)}</title>" if title else escaped(text)
    attributes = _written((n, v) for n, v in element.items() if n not in ("", "text", "title"))
    return f"<{tag}{attributes}>{content}</{tag}>" if content else f"<{tag}{attributes}/>"


def _written(attributes: Iterable[tuple[str, Any]]) -> str:
    return "".join(f' {name}="{escaped(str(value))}"' for name, value in attributes)
