"""The axes that the charts of a page share: titles with units, scales, and how ticks are written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from pipeline.pages import formats
from pipeline.pages.chart import Axis
from pipeline.pages.chart_scale import day_scale, doubling_scale, linear_scale, value_scale

SECONDS_FROM_S = 2.0
"""Latencies are drawn in s from this largest value on, in ms below."""


def speed_axis(values: Sequence[float]) -> Axis:
    """Interactivity in tok/s/user, from 0."""
    return Axis("Tokens/s per user", linear_scale(values), formats.speed)


def throughput_axis(values: Sequence[float], what: str = "Tokens/s per GPU") -> Axis:
    """Throughput in tok/s/GPU, from 0."""
    return Axis(what, linear_scale(values), short_number)


def cost_axis(values: Sequence[float]) -> Axis:
    """USD per million total tokens; logarithmic where the values span much."""
    return Axis("$ per million total tokens", value_scale(values), short_usd)


def latency_axis(values_s: Sequence[float], what: str) -> Axis:
    """A latency in s or ms, whichever reads better; logarithmic where the values span much."""
    scale = value_scale(values_s)
    in_seconds = scale.hi >= SECONDS_FROM_S
    factor, unit = (1.0, "s") if in_seconds else (1000.0, "ms")
    return Axis(f"{what}, {unit}", scale, lambda value_s: f"{round(value_s * factor, 6):g}")


def concurrency_axis(values: Sequence[float]) -> Axis:
    """Requests in flight, by doublings."""
    return Axis("Requests in flight", doubling_scale(values), short_number)


def day_axis(days: Sequence[int]) -> Axis:
    """Run dates, given as ordinals."""
    return Axis("Run date (UTC)", day_scale(days), lambda ordinal: dt.date.fromordinal(round(ordinal)).isoformat())


def short_number(value: float) -> str:
    """A tick of counted things: 0, 500, 2.5k, 300k, 1.2M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{round(value / size, 3):g}{letter}"
    return f"{round(value, 6):g}"


def short_usd(value: float) -> str:
    """A tick of dollars without needless zeros: $0, $0.025, $1.5."""
    return f"${round(value, 9):.10f}".rstrip("0").rstrip(".")
