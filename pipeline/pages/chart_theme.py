"""Colours, dashes and shapes of the charts, in light and in dark, and the small stylesheet that switches them.

Vega writes the light colour into each element; the stylesheet overrides it by attribute, so the same SVG is right
inline, as a file of its own, on paper and in the dark.
"""

from __future__ import annotations

INK, QUIET, GRID, PAPER, WARN = "#1b1f24", "#57606a", "#d8dee4", "#ffffff", "#8a4b00"
_DARK = {INK: "#e6edf3", QUIET: "#9aa4af", GRID: "#2d333b", PAPER: "#0f1419", WARN: "#f5d98b"}

SERIES_COLOURS = ("#0072b2", "#c44e00", "#00795c", "#a03d85", "#8a6700", "#4a5568")
_SERIES_DARK = ("#56b4e9", "#ff8a4c", "#2fc99b", "#e08acb", "#e6c14c", "#aab4c3")
"""Contrast of at least 4.5 on the page's paper; neighbours stay apart for colour-blind readers."""

DASHES = ((1, 0), (9, 4), (3, 3), (9, 3, 3, 3))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

LEGEND_FONT_PX = 14
"""Also how the stylesheet finds the legend, whose long labels must grow less."""


def chart_style() -> str:
    """The rules of every chart. Text grows on narrow screens, where the drawing shrinks."""
    light_to_dark = {**_DARK, **dict(zip(SERIES_COLOURS, _SERIES_DARK, strict=True))}
    names = {colour: f"--chart-{n}" for n, colour in enumerate(light_to_dark)}
    light = "".join(f"{name}:{colour};" for colour, name in names.items())
    dark = "".join(f"{names[colour]}:{other};" for colour, other in light_to_dark.items())
    rules = "".join(
        f'.chart [{attribute}="{colour}"]{{{attribute}:var({name})}}'
        for colour, name in names.items()
        for attribute in ("fill", "stroke")
    )
    return (
        f".chart{{{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{.chart{{{dark}}}"
        f".chart:root{{background:{_DARK[PAPER]}}}}}"
        f"{rules}"
        ".chart text{font-family:system-ui,sans-serif}"
        "@media (max-width:560px){.chart text{font-size:20px}}"
        "@media (max-width:360px){.chart text{font-size:23px}}"
        f'@media (max-width:560px){{.chart text[font-size="{LEGEND_FONT_PX}px"],.chart .legend text{{font-size:18px}}}}'
    )
