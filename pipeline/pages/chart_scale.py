"""Scales of a chart: from where to where an axis runs, and which ticks it has. Drawing them is chart_spec.py's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

N_TICKS = 5
LOG_FROM_RATIO = 40.0
"""From this ratio of the largest to the smallest value on, a linear axis would hide the small ones."""


@dataclass(frozen=True)
class Scale:
    """One axis from ``lo`` to ``hi`` in the unit of its values, with the ticks that get a label."""

    kind: Literal["linear", "log"]
    lo: float
    hi: float
    ticks: tuple[float, ...]


def linear_scale(values: Iterable[float]) -> Scale:
    """From 0 to the first round number that is not below any value. Without a positive value: 0 to 1."""
    top = max((v for v in values if v > 0), default=1.0)
    step = _round_up(top / N_TICKS)
    n = math.ceil(top / step - 1e-9)
    return Scale("linear", 0.0, step * n, tuple(step * k for k in range(n + 1)))


def _round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= value * (1 - 1e-9))


def value_scale(values: Sequence[float]) -> Scale:
    """Linear from 0, or logarithmic where the values span more than LOG_FROM_RATIO and are all positive."""
    low = min(values, default=1.0)
    return log_scale(values) if low > 0 and max(values) / low > LOG_FROM_RATIO else linear_scale(values)


def log_scale(values: Sequence[float]) -> Scale:
    """Ticks at 1, 2 and 5 times powers of ten around the values; powers alone beyond three decades. All positive."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1.0, 2.0, 5.0) if high / low <= 1_000 else (1.0,)
    return _log_between([factor * 10.0**power for power in powers for factor in factors], low, high)


def doubling_scale(values: Sequence[float]) -> Scale:
    """Logarithmic with ticks at powers of two, as concurrencies are swept, at most eight or so. All positive."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 2)
    scale = _log_between([2.0**power for power in powers], low, high)
    every = 1 + (len(scale.ticks) - 1) // 8
    return Scale("log", scale.lo, scale.hi, scale.ticks[::every])


def _log_between(candidates: Sequence[float], low: float, high: float) -> Scale:
    near = 1 + 1e-9
    lo = max((c for c in candidates if c <= low * near), default=candidates[0])
    hi = min((c for c in candidates if c * near >= high and c > lo), default=candidates[-1])
    if hi <= lo:
        hi = lo * 10
    return Scale("log", lo, hi, tuple(c for c in candidates if lo <= c <= hi))


def day_scale(days: Sequence[int]) -> Scale:
    """Ordinals of days with a margin on both sides; a tick at the first, the last and up to two days between."""
    known = sorted(set(days))
    margin = max(1.0, (known[-1] - known[0]) * 0.05)
    picked = {known[round(k * (len(known) - 1) / 3)] for k in range(4)}
    return Scale("linear", known[0] - margin, known[-1] + margin, tuple(float(day) for day in sorted(picked)))
