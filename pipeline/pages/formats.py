"""Numbers and dates for people, each format written once. Sentences are wording.py's, conversions are units.py's."""

from __future__ import annotations

import datetime as dt
import math

_NOISE = 1e-9
"""Relative size below which a difference is floating-point noise and must not move a bound by a digit."""


def throughput(value_tok_s: float) -> str:
    """tok/s or tok/s/GPU: an integer with thousands separators from 100 on, else 1 decimal. 11385.2 -> 11,385."""
    return f"{value_tok_s:,.0f}" if value_tok_s >= 100 else f"{value_tok_s:.1f}"


def throughput_at_least(value_tok_s: float) -> str:
    """As throughput, but rounded down, so that "at least" stays true. 11385.9 -> 11,385."""
    step = 1.0 if value_tok_s >= 100 else 0.1
    return throughput(math.floor(value_tok_s * (1 + _NOISE) / step) * step)


def speed(value_tok_s_user: float) -> str:
    """tok/s/user: 1 decimal below 100 unless it is zero, else an integer. 75.0 -> 75, 48.34 -> 48.3."""
    text = throughput(value_tok_s_user)
    return text.removesuffix(".0")


def usd_mtok(value: float) -> str:
    """USD per million tokens with at least 3 significant digits: $0.00252, $0.0285, $0.163, $1.06."""
    return f"${value:,.{_usd_decimals(value)}f}"


def usd_mtok_at_most(value: float) -> str:
    """As usd_mtok, but rounded up, so that "at most" stays true. 0.028547 -> $0.0286."""
    scale = 10 ** _usd_decimals(value)
    return usd_mtok(math.ceil(value * (1 - _NOISE) * scale) / scale)


def _usd_decimals(value: float) -> int:
    if value >= 1 or value <= 0:
        return 2
    return 2 - math.floor(math.log10(value))


def usd_mtok_reference(value: float) -> str:
    """USD per million tokens as the reference pages print it: 2 decimals from 0.1 on, else 3. 0.0285 -> $0.029."""
    return f"${value:.2f}" if value >= 0.1 else f"${value:.3f}"


def usd_gpu_hour(value: float) -> str:
    """USD per GPU-hour, 2 decimals."""
    return f"${value:,.2f}"


def exact_rate(value: float) -> str:
    """USD per GPU-hour as it was written down, without a sign: 2 decimals, or as many as it takes. 0.0005 -> 0.0005."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.10g}"


def latency(value_s: float) -> str:
    """A latency with 3 significant digits in the unit that fits: 0.312 -> 312 ms, 0.0049 -> 4.90 ms."""
    value, unit = (value_s, "s") if value_s >= 0.9995 else (value_s * 1_000, "ms")
    if value <= 0:
        return f"0 {unit}"
    decimals = min(3, max(0, 2 - math.floor(math.log10(float(f"{value:.3g}")))))
    return f"{value:,.{decimals}f} {unit}"


def percent(share: float) -> str:
    """A share of 1 as per cent: 2 decimals below 1 %, else 1, and no trailing .0. 0.0072 -> 0.72%, 0.95 -> 95%."""
    value = share * 100
    text = f"{value:.2f}" if 0 < value < 1 else f"{value:.1f}".removesuffix(".0")
    return f"{text}%"


def ratio(value: float) -> str:
    """A ratio with 3 significant digits, and no decimals from 100 on. 28.85 -> 28.8, 0.0667 -> 0.0667."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def capitalized(text: str) -> str:
    """The text with a capital first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def day_range(first: dt.date, last: dt.date) -> str:
    """Two ISO dates with "to" between them; one date where they are equal."""
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def counted(n: int, noun: str) -> str:
    """A count with its noun: 1 point, 18 points. Nouns that end in "series" stay as they are."""
    plural = noun if n == 1 or noun.endswith("series") else f"{noun}s"
    return f"{n:,} {plural}"


def listed(words: tuple[str, ...] | list[str]) -> str:
    """Words as a list in a sentence: a; a and b; a, b and c. Empty for none."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)
