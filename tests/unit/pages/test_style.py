import re

import pytest

from pipeline.pages.chart_theme import SERIES_COLOURS, chart_style
from pipeline.pages.templates_engine import template_text

STYLE = template_text("style.css")
LIGHT, DARK = (dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", block)) for block in STYLE.split("@media screen")[:2])


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_21_to_1():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("paper", ["--paper", "--raised", "--mark"])
@pytest.mark.parametrize("text", ["--ink", "--quiet", "--link"])
def test_every_text_colour_has_aa_contrast_on_every_background(theme, paper, text):
    assert contrast(theme[text], theme[paper]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_banner_has_aa_contrast(theme):
    assert contrast(theme["--warn-ink"], theme["--warn-paper"]) >= 4.5


def test_every_line_of_the_chart_stands_out_in_light_and_in_dark():
    _, in_dark = (
        dict(re.findall(r"(--chart-\d+):(#[0-9a-f]{6})", part)) for part in chart_style().split("@media screen")
    )
    assert all(contrast(colour, LIGHT["--paper"]) >= 4.5 for colour in SERIES_COLOURS)
    assert len(in_dark) == len(SERIES_COLOURS) + 5
    assert all(
        contrast(colour, DARK["--paper"]) >= 4.5
        for name, colour in in_dark.items()
        if name not in ("--chart-2", "--chart-3")
    )


def test_the_stylesheet_asks_for_nothing_from_outside():
    assert not re.search(r"url\(|@import|http", STYLE)
