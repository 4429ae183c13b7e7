"""Sentences about the prices of a page: what was corrected, and what is left out. Costs are wording.py's."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.cost.price_book import PriceCorrection
from pipeline.pages import formats
from pipeline.pages.page import Page, TierCost


def price_notes(page: Page) -> list[str]:
    """One sentence a correction of a price of the page, and which corrections the page leaves out; empty: none."""
    notes = [note for cost in page.costs for note in _corrections(page, cost)]
    if page.corrections_until is None:
        return notes
    return [
        f"Corrections of prices made after {page.corrections_until} are left out of the costs of this page.",
        *notes,
    ]


def _corrections(page: Page, cost: TierCost) -> Iterator[str]:
    for made in cost.corrections:
        left_out = page.corrections_until is not None and made.corrected_on > page.corrections_until
        verb = "was corrected later, on" if left_out else "was corrected on"
        yield f"The price of the tier “{cost.name}” {verb} {made.corrected_on}: {_change(made)}. Reason: {made.reason}"


def _change(made: PriceCorrection) -> str:
    became, was = _rate(made.became_usd_per_gpu_hour), _rate(made.was_usd_per_gpu_hour)
    days = list(_days(made))
    if became != was:
        return ", ".join([f"{became} per GPU-hour, was {was}", *days])
    return f"{', '.join(days) or 'its source'}; {became} per GPU-hour stays"


def _days(made: PriceCorrection) -> Iterator[str]:
    if made.became_valid_from != made.was_valid_from:
        yield f"from {made.became_valid_from}, was from {made.was_valid_from}"
    if made.became_valid_to != made.was_valid_to:
        became, was = (str(day) if day else "the next price" for day in (made.became_valid_to, made.was_valid_to))
        yield f"until {became}, was until {was}"


def _rate(usd_per_gpu_hour: float) -> str:
    """Two decimals as in the table, or as many as it takes where a correction is smaller than a cent."""
    shown = formats.usd_gpu_hour(usd_per_gpu_hour)
    return shown if float(shown[1:].replace(",", "")) == usd_per_gpu_hour else f"${usd_per_gpu_hour:.10g}"
