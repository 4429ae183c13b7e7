"""The picture that a link to a page shows elsewhere: title, headline and frontier on paper, as PNG."""

from __future__ import annotations

import re

import vl_convert

from pipeline.pages.basis import amount, price, target
from pipeline.pages.chart_theme import INK, QUIET
from pipeline.pages.page import Page
from pipeline.pages.templates_engine import escaped
from pipeline.pages.wording import section_title

WIDTH_PX = 1_200
HEIGHT_PX = 630
SCALE = 2 / 3
"""Of the drawing: 800 × 420 pixels on disk, at two thirds of the time and weight."""

_MARGIN_PX = 60
_HEAD_PX = 170

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_ROOT = re.compile(r'<svg ([^>]*?) width="[\d.]+" height="[\d.]+"')


def share_png(page: Page, chart: str) -> bytes:
    """800 × 420 pixels around the page's frontier chart, an SVG file complete in itself.

    The chart's own light colours stand in its attributes; its stylesheet, which switches them, is left out.
    """
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PX}" height="{HEIGHT_PX}">'
        f'<rect width="{WIDTH_PX}" height="{HEIGHT_PX}" fill="#ffffff"/>'
        f"{_text(page.title, 70, 46, INK, 'bold')}{_text(section_title(page), 108, 26, QUIET)}"
        f"{_text(headline_words(page), 148, 28, INK)}{_placed(_STYLE.sub('', chart))}</svg>"
    )
    png: bytes = vl_convert.svg_to_png(svg, scale=SCALE)
    return png


def headline_words(page: Page) -> str:
    """The headline in half a line."""
    head = page.headline
    if head.throughput_tok_s_gpu is None:
        return f"{target(head.target_tok_s_user)} are not reached"
    usd = f", {price(head, head.cost_usd_mtok)} per 1M tokens" if head.cost_usd_mtok is not None else ""
    return f"{amount(head)} tokens/s per GPU at {target(head.target_tok_s_user)}{usd}"


def _text(words: str, y_px: int, size_px: int, colour: str, weight: str = "normal") -> str:
    """One line; a long one is set smaller so that it ends on the picture."""
    fitting_px = min(size_px, int((WIDTH_PX - 2 * _MARGIN_PX) / (0.56 * max(1, len(words)))))
    return (
        f'<text x="{_MARGIN_PX}" y="{y_px}" font-family="sans-serif" font-size="{fitting_px}" '
        f'font-weight="{weight}" fill="{colour}">{escaped(words)}</text>'
    )


def _placed(chart: str) -> str:
    width, height = WIDTH_PX - 2 * _MARGIN_PX, HEIGHT_PX - _HEAD_PX - 20
    where = f'x="{_MARGIN_PX}" y="{_HEAD_PX}" width="{width}" height="{height}" preserveAspectRatio="xMidYMid meet"'
    return _ROOT.sub(rf"<svg \1 {where}", chart, count=1)
