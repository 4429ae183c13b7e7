"""What the charts say: titles, captions and the texts that stand for a drawing. Formats are formats.py's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.pages import formats
from pipeline.pages.chart import Mark
from pipeline.pages.page import Page, TierCost

LATENCY = {"ttft": "time to first token", "e2el": "end-to-end latency", "tpot": "time per output token"}

NAME = {
    "frontier": "throughput against speed",
    "cost": "cost against speed",
    "prefill": "prefill against speed",
    "decode": "decode against speed",
    "ttft": "throughput against time to first token",
    "e2el": "throughput against end-to-end latency",
    "ttft-by-concurrency": "time to first token by requests in flight",
    "tpot-by-concurrency": "time per output token by requests in flight",
    "history": "by run date",
}
"""The charts of a page by kind, in their order."""

ONE_KIND = {"prefill": "computed input tokens", "decode": "output tokens"}
BY_CONCURRENCY = "Lines join the points of one configuration, which differ in the number of requests in flight only."


@dataclass(frozen=True)
class Words:
    """What the two axes are called and how their values are written."""

    x: str
    y: str
    x_format: Callable[[float], str]
    y_format: Callable[[float], str]


def title(page: Page, what: str) -> str:
    """A chart's title; imported and simulated data is named."""
    text = f"{what}: {page.model.name} on {page.gpu.name}, {page.workload.name}"
    return text if page.provenance == "measured" else f"{text} ({page.provenance})"


def cost_caption(tier: TierCost) -> str:
    """At which price the costs are."""
    return (
        f"At the price tier “{tier.name}”: {formats.usd_gpu_hour(tier.usd_per_gpu_hour)} per GPU-hour, valid from "
        f"{tier.valid_from.isoformat()}. Lower is better."
    )


def one_kind_caption(what: str) -> str:
    """What part of the total a chart shows."""
    return f"Only the {what}, a part of the total; straight lines join the frontier points of one series."


def against_latency_caption(what: str) -> str:
    """How to read a chart of throughput against a latency."""
    return f"Left and up is better. Lines join the points that no other of their series beats on {what} and throughput."


def alternative(page: Page, marks: Sequence[Mark], words: Words) -> str:
    """The chart in words: for every series its two ends along the horizontal axis."""
    lines = []
    for n, series in enumerate(page.series):
        mine = sorted((mark for mark in marks if mark.series == n), key=lambda mark: mark.x)
        if mine:
            lines.append(f"{series.label}: {_ends(mine, words)}")
    return f"{formats.counted(len(lines), 'series')}. {' '.join(lines)}"


def _ends(marks: Sequence[Mark], words: Words) -> str:
    first, last = marks[0], marks[-1]
    unit = words.x.replace("requests", "request", 1) if first.x == 1 else words.x
    text = f"{words.y_format(first.y)} {words.y} at {words.x_format(first.x)} {unit}"
    if len(marks) == 1:
        return f"{text} (one point)."
    return f"{text}, {words.y_format(last.y)} at {words.x_format(last.x)} ({len(marks)} points)."
