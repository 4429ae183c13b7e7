"""Whether two means over repeats differ by more than their repeats do: Welch's test at 95 %.

Belongs here: the rule, for a change of one reading, for comparisons, and for several readings of one curve at once.
Standard deviations over repeats are the points' (throughput_std_tok_s_gpu, n_repeats).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

Verdict = Literal["outside", "within", "unknown"]
Key = TypeVar("Key", bound=Hashable)

ALPHA = 0.05
"""How often repeats alone make a difference that counts: 1 − 95 %."""

MAX_DEGREES = 30
"""More degrees of freedom are read as this many."""


@dataclass(frozen=True)
class Repeated:
    """A mean, the sample standard deviation of its repeats in the same unit, and their count; None where not known."""

    mean: float
    std: float | None
    n: int | None


def noise_verdict(old: Repeated, new: Repeated) -> Verdict:
    """``outside`` where |difference| > t × √(s₁²/n₁ + s₂²/n₂), t of Welch's degrees of freedom rounded down.

    ``unknown`` where either side has fewer than two repeats or no spread. Two spreads of zero: any difference counts.
    """
    p_value = welch_p_value(old, new)
    if p_value is None:
        return "unknown"
    return "outside" if p_value < ALPHA else "within"


def welch_p_value(old: Repeated, new: Repeated) -> float | None:
    """How likely repeats alone make a difference at least as large, two-sided; None where noise_verdict is unknown."""
    if old.std is None or new.std is None or not old.n or not new.n or min(old.n, new.n) < 2:
        return None
    old_part, new_part = old.std**2 / old.n, new.std**2 / new.n
    error = math.sqrt(old_part + new_part)
    if error == 0:
        return 1.0 if old.mean == new.mean else 0.0
    degrees = (old_part + new_part) ** 2 / (old_part**2 / (old.n - 1) + new_part**2 / (new.n - 1))
    return _outside_t(abs(new.mean - old.mean) / error, min(max(int(degrees + 1e-9), 1), MAX_DEGREES))


def holm(p_values: Mapping[Key, float]) -> frozenset[Key]:
    """The keys whose difference counts when all are looked at together: Holm's step-down at 5 % over the family.

    At most 5 % of families of pure noise have any; this holds for readings of shared points, which are not independent.
    """
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    kept: set[Key] = set()
    for n_before, (key, p_value) in enumerate(ordered):
        if p_value >= ALPHA / (len(ordered) - n_before):
            break
        kept.add(key)
    return frozenset(kept)


def _outside_t(t: float, degrees: int) -> float:
    """P(|T| > t) of Student's t, in closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for step in range(1 + odd, degrees, 2):
        total += term
        term *= math.cos(angle) ** 2 * step / (step + 1)
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return max(0.0, 1.0 - inside)
