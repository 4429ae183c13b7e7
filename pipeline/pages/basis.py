"""How one reading is worded: where it comes from, and what its number and its price may be called."""

from __future__ import annotations

from collections.abc import Collection

from pipeline.pages import formats
from pipeline.pages.page import AtLeast, Headline, Page

PUBLISHED = "published reading"

_POINT = {"measured": "measured point", "imported": "imported point", "simulated": "simulated point"}
_SERVED_BY = {
    "measured point": "served by a configuration measured",
    "imported point": "served by an imported configuration",
    "simulated point": "served by a simulated configuration",
    PUBLISHED: "given by a published reading",
}


def point_noun(page: Page, point_ids: Collection[str]) -> str:
    """What the points are: measured, imported or simulated points, or published readings if one of them is that."""
    published = any(point.published_reading for point in page.points if point.point_id in point_ids)
    return PUBLISHED if published else _POINT[page.provenance]


def basis_words(reading: AtLeast | Headline, page: Page) -> str:
    """Where a reading comes from, in words fit for a table cell."""
    noun = point_noun(page, reading.point_ids)
    if reading.basis == "measured":
        return "measured" if noun == _POINT["measured"] else noun
    if reading.basis == "interpolated":
        return f"interpolated between two {noun}s (an estimate)"
    if reading.basis == "faster_config":
        who = "a faster configuration serves it" if noun != PUBLISHED else "a published reading of a faster speed"
        return f"{who}, {_delivers(reading)}"
    return f"unreachable: {reading.reason}"


def basis_clause(page: Page) -> str:
    """Where the headline comes from, in words fit for brackets in a sentence."""
    head = page.headline
    noun = point_noun(page, head.point_ids)
    if head.basis == "faster_config":
        return f"{_SERVED_BY[noun]} {_delivers(head)}"
    if head.basis == "interpolated":
        return f"interpolated between two {noun}s"
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _delivers(reading: AtLeast | Headline) -> str:
    if reading.delivered_tok_s_user is None:
        return "at an unknown speed"
    return f"at {target(reading.delivered_tok_s_user)}"


def target(target_tok_s_user: float) -> str:
    """A speed in words: 50 tokens/s per user."""
    return f"{formats.speed(target_tok_s_user)} tokens/s per user"


def amount(reading: AtLeast | Headline) -> str:
    """A throughput in tok/s/GPU with the word that its basis needs: a bound is rounded down."""
    value = reading.throughput_tok_s_gpu or 0.0
    if reading.basis == "faster_config":
        return f"at least {formats.throughput_at_least(value)}"
    return f"an estimated {formats.throughput(value)}" if reading.basis == "interpolated" else formats.throughput(value)


def price(reading: AtLeast | Headline, cost_usd_mtok: float) -> str:
    """A cost with the word that the reading's basis needs: a bound is rounded up."""
    if reading.basis == "faster_config":
        return f"at most {formats.usd_mtok_at_most(cost_usd_mtok)}"
    about = "an estimated " if reading.basis == "interpolated" else ""
    return f"{about}{formats.usd_mtok(cost_usd_mtok)}"
