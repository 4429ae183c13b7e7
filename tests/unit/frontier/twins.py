"""The same laws as the SQL files, in a few lines of plain Python each. Slow, obvious, and compared with the SQL."""

import math

Pair = tuple[float, float]
Reading = tuple[float | None, str]


def pareto(points: list[Pair]) -> list[Pair]:
    """The pairs that no other, different pair matches in both coordinates, from the slowest to the fastest."""
    kept = {p for p in points if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in points)}
    return sorted(kept)


def steffen(knots: list[Pair]) -> list[float | None]:
    """Slopes at the knots; [None] for a single one."""
    if len(knots) == 1:
        return [None]
    h = [b[0] - a[0] for a, b in zip(knots, knots[1:], strict=False)]
    s = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(knots, knots[1:], strict=False)]
    if len(knots) == 2:
        return [s[0], s[0]]
    inner = []
    for i in range(1, len(s)):
        p = (s[i - 1] * h[i] + s[i] * h[i - 1]) / (h[i - 1] + h[i])
        signs = math.copysign(1, s[i - 1]) + math.copysign(1, s[i])
        inner.append(signs * min(abs(s[i - 1]), abs(s[i]), 0.5 * abs(p)))
    return [(3 * s[0] - inner[0]) / 2, *inner, (3 * s[-1] - inner[-1]) / 2]


def hermite(a: Pair, b: Pair, m: tuple[float, float], t: float) -> float:
    """The cubic through a and b with slopes m at t, clamped to the range of the two."""
    h = b[0] - a[0]
    u = (t - a[0]) / h
    y = (1 + 2 * u) * (1 - u) ** 2 * a[1] + u * (1 - u) ** 2 * h * m[0]
    y += u * u * (3 - 2 * u) * b[1] - u * u * (1 - u) * h * m[1]
    return max(b[1], min(a[1], y))


def _inside(knots: list[Pair], slopes: list[float | None], t: float) -> Reading:
    for i, (a, b) in enumerate(zip(knots, knots[1:], strict=False)):
        if a[0] < t < b[0]:
            return hermite(a, b, (slopes[i], slopes[i + 1]), t), "interpolated"
    return dict(knots)[t], "measured"


def at_least(knots: list[Pair], t: float) -> Reading:
    """The target is a minimum: the slowest knot serves anything slower, nothing serves anything faster than all."""
    if t > knots[-1][0]:
        return None, "unreachable"
    if t < knots[0][0]:
        return knots[0][1], "faster_config"
    return _inside(knots, steffen(knots), t)


def at_target(knots: list[Pair], t: float) -> Reading:
    """The reading of the reference pages: only within the measured range, and 3 decimals."""
    if not knots[0][0] <= t <= knots[-1][0]:
        return None, "unreachable"
    slopes = steffen(knots)
    if len(knots) == 2:
        slopes = [1.5 * slopes[0], 0.75 * slopes[0]]
    y, basis = _inside(knots, slopes, t)
    return math.floor(y * 1000 + 0.5) / 1000, basis


def measured_only(curves: list[list[Pair]], t: float) -> float | None:
    """M(t): the largest throughput of any knot that is at least as fast as t."""
    return max((y for knots in curves for x, y in knots if x >= t), default=None)


def across_at_least(curves: list[list[Pair]], t: float) -> float | None:
    """F(t): the largest at_least reading of any curve."""
    values = [at_least(knots, t)[0] for knots in curves]
    return max((y for y in values if y is not None), default=None)
