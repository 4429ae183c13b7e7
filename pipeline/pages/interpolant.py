"""The line between frontier points as the ladder reads it: Steffen's cubic, sampled for drawing.

Slopes arrive with the knots; the rule that made them, and reading at a target, are pipeline/frontier's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pipeline.pages.curve_record import FrontierPoint

N_SAMPLES = 8
"""Straight pieces per interval: below half a pixel from the cubic at the size of the chart."""

N_PIECES = 48
"""About as many pieces as a line gets: the more intervals, the shorter they are."""


def sampled_line(knots: Sequence[FrontierPoint]) -> list[tuple[float, float]]:
    """(tok/s/user, tok/s/GPU) along one series, from its slowest knot to its fastest.

    Cubic Hermite between two knots, clamped to their range. One knot gives that knot; none gives nothing.
    """
    line = [(knot.interactivity_tok_s_user, knot.throughput_tok_s_gpu) for knot in knots[:1]]
    n_samples = min(N_SAMPLES, max(2, N_PIECES // max(1, len(knots) - 1)))
    for left, right in itertools.pairwise(knots):
        line += [_between(left, right, step / n_samples) for step in range(1, n_samples + 1)]
    return line


def _between(left: FrontierPoint, right: FrontierPoint, u: float) -> tuple[float, float]:
    x0, x1 = left.interactivity_tok_s_user, right.interactivity_tok_s_user
    y0, y1 = left.throughput_tok_s_gpu, right.throughput_tok_s_gpu
    h = x1 - x0
    chord = (y1 - y0) / h
    m0 = chord if left.slope is None else left.slope
    m1 = chord if right.slope is None else right.slope
    y = (1 + 2 * u) * (1 - u) ** 2 * y0 + u * (1 - u) ** 2 * h * m0 + u**2 * (3 - 2 * u) * y1 - u**2 * (1 - u) * h * m1
    return x0 + u * h, min(max(y, min(y0, y1)), max(y0, y1))
