"""The frontier of a page read at any speed, and backwards: the highest speed at which it still serves a throughput.

Belongs here: arithmetic on knots that somebody else derived. At the ladder's targets it gives what ladder.sql and
across.sql give (at_least). Dollars are what_if.py's. The page's calculator computes the same in the browser
(pipeline/pages/templates/calculator.js); a test holds the two together.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

N_HALVINGS = 60
"""Of an interval between two knots: below the spacing of doubles."""


@dataclass(frozen=True)
class Knot:
    """One frontier point. ``slope`` is in tok/s/GPU per tok/s/user, None for a single knot.

    The shares are of total tokens, None where the source does not say; ``n_gpus`` are the GPUs that one deployment
    holds, ``power_w_gpu`` is measured power.
    """

    speed_tok_s_user: float
    throughput_tok_s_gpu: float
    slope: float | None
    output_share: float | None
    computed_input_share: float | None
    n_gpus: int | None
    power_w_gpu: float | None


@dataclass(frozen=True)
class FrontierCurve:
    """One series: knots from the slowest to the fastest, throughput falling."""

    label: str
    knots: tuple[Knot, ...]


@dataclass(frozen=True)
class FrontierReading:
    """What the best series serves at a speed. ``basis``: measured, interpolated or faster_config.

    Output and computed input are in tok/s/GPU, None where a bracketing knot does not say. ``n_gpus`` and
    ``power_w_gpu`` are those of the bracketing knots where they agree, else None.
    """

    series: str
    basis: str
    speed_tok_s_user: float
    delivered_tok_s_user: float
    throughput_tok_s_gpu: float
    output_tok_s_gpu: float | None
    computed_input_tok_s_gpu: float | None
    n_gpus: int | None
    power_w_gpu: float | None


def read_at(curves: Sequence[FrontierCurve], speed_tok_s_user: float) -> FrontierReading | None:
    """F(t): the largest throughput that any series keeps at the speed or faster; the first curve of equal ones.

    None where no series is that fast.
    """
    found = [reading for curve in curves if (reading := _read(curve, speed_tok_s_user))]
    return max(found, key=lambda reading: reading.throughput_tok_s_gpu, default=None)


def fastest_at(curves: Sequence[FrontierCurve], throughput_tok_s_gpu: float) -> FrontierReading | None:
    """The reading at the highest speed at which the frontier is not below the throughput; None where it never is."""
    speeds = [_last_speed(curve.knots, throughput_tok_s_gpu) for curve in curves]
    known = [speed for speed in speeds if speed is not None]
    return read_at(curves, max(known)) if known else None


def _read(curve: FrontierCurve, t: float) -> FrontierReading | None:
    first, last = curve.knots[0], curve.knots[-1]
    if t > last.speed_tok_s_user:
        return None
    if t < first.speed_tok_s_user:
        return _at_knot(curve.label, first, "faster_config", t)
    for knot in curve.knots:
        if knot.speed_tok_s_user == t:
            return _at_knot(curve.label, knot, "measured", t)
    left, right = next(pair for pair in itertools.pairwise(curve.knots) if t < pair[1].speed_tok_s_user)
    y = _between(left, right, t)
    u = (t - left.speed_tok_s_user) / (right.speed_tok_s_user - left.speed_tok_s_user)
    return FrontierReading(
        series=curve.label,
        basis="interpolated",
        speed_tok_s_user=t,
        delivered_tok_s_user=t,
        throughput_tok_s_gpu=y,
        output_tok_s_gpu=_part(y, left.output_share, right.output_share, u),
        computed_input_tok_s_gpu=_part(y, left.computed_input_share, right.computed_input_share, u),
        n_gpus=left.n_gpus if left.n_gpus == right.n_gpus else None,
        power_w_gpu=left.power_w_gpu if left.power_w_gpu == right.power_w_gpu else None,
    )


def _at_knot(label: str, knot: Knot, basis: str, t: float) -> FrontierReading:
    y = knot.throughput_tok_s_gpu
    return FrontierReading(
        series=label,
        basis=basis,
        speed_tok_s_user=t,
        delivered_tok_s_user=knot.speed_tok_s_user,
        throughput_tok_s_gpu=y,
        output_tok_s_gpu=_part(y, knot.output_share, knot.output_share, 0.0),
        computed_input_tok_s_gpu=_part(y, knot.computed_input_share, knot.computed_input_share, 0.0),
        n_gpus=knot.n_gpus,
        power_w_gpu=knot.power_w_gpu,
    )


def _part(y: float, share: float | None, next_share: float | None, u: float) -> float | None:
    return None if share is None or next_share is None else y * (share + u * (next_share - share))


def _between(left: Knot, right: Knot, t: float) -> float:
    """Steffen's cubic, clamped to the two knots."""
    y0, y1 = left.throughput_tok_s_gpu, right.throughput_tok_s_gpu
    h = right.speed_tok_s_user - left.speed_tok_s_user
    u = (t - left.speed_tok_s_user) / h
    m0, m1 = left.slope or 0.0, right.slope or 0.0
    y = (
        (1 + 2 * u) * (1 - u) * (1 - u) * y0
        + u * (1 - u) * (1 - u) * h * m0
        + u * u * (3 - 2 * u) * y1
        - u * u * (1 - u) * h * m1
    )
    return max(y1, min(y0, y))


def _last_speed(knots: Sequence[Knot], y: float) -> float | None:
    """The highest speed at which one curve serves y; None where its slowest knot does not."""
    if knots[0].throughput_tok_s_gpu < y:
        return None
    for left, right in itertools.pairwise(knots):
        if right.throughput_tok_s_gpu < y:
            return _bisected(left, right, y)
    return knots[-1].speed_tok_s_user


def _bisected(left: Knot, right: Knot, y: float) -> float:
    low, high = left.speed_tok_s_user, right.speed_tok_s_user
    for _ in range(N_HALVINGS):
        middle = low + (high - low) / 2
        if _between(left, right, middle) >= y:
            low = middle
        else:
            high = middle
    return low
