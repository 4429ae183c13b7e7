"""Which concurrency of a topology is measured next, and why its ladder ends where it does. From stored rows alone.

The recipe's rungs come first, its end included; then rungs above the end until a valid point is as slow as the lowest
target, and rungs below the start until one is as fast as the highest, so that every target is bracketed. What was
measured decides, in whatever order it is handed in: a resumed sweep goes on as the interrupted one would have.
Belongs here: the decision and its codes. Not here: the rungs of a recipe (plan.py), and whether a point is valid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.registry.entries import Concurrency
from pipeline.registry.measured import Limits
from pipeline.sweep.plan import ladder

Row = Mapping[str, Any]

ABOVE: Mapping[str, str] = {
    "slowest_target_reached": "a valid point is as slow as the lowest speed target",
    "too_many_failed": "too many requests failed at the highest concurrency",
    "engine_ended": "the server ended at the highest concurrency",
    "kv_exhausted": "the KV cache was full: requests were preempted and the throughput fell",
    "queue_grows": "requests only waited longer for their first token, at an unchanged speed",
    "plateau": "the highest concurrency added almost no throughput",
    "max_concurrency": "the recipe allows no higher concurrency",
    "invalid_point": "the point at the highest concurrency is invalid",
    "ladder_ends": "the recipe's ladder ends there",
    "unfinished": "the sweep was interrupted and not yet run again",
}
"""Codes of RUNS.stopped_above, as the end of "Nothing at a higher concurrency was measured: …"."""

BELOW: Mapping[str, str] = {
    "fastest_target_reached": "a valid point is as fast as the highest speed target",
    "one_request": "one request at a time is the lowest concurrency",
    "invalid_point": "the point at the lowest concurrency is invalid",
    "ladder_ends": "the recipe's ladder starts there",
    "unfinished": "the sweep was interrupted and not yet run again",
}
"""Codes of RUNS.stopped_below, as the end of "Nothing at a lower concurrency was measured: …"."""

SAME_SPEED = 0.05
LONGER_WAIT = 1.5
MOSTLY_WAITING = 0.5


@dataclass(frozen=True)
class Rung:
    """The concurrency to measure next."""

    concurrency: int


@dataclass(frozen=True)
class Stopped:
    """Nothing is left to measure: why not at a lower and why not at a higher concurrency, as codes."""

    below: str
    above: str


FIXED_LADDER = Stopped(below="ladder_ends", above="ladder_ends")
"""The end of a recipe whose rungs are all there is: a simulated one."""

UNFINISHED = Stopped(below="unfinished", above="unfinished")
"""Of a run whose next rung is still to be measured."""


def next_rung(
    rows: Sequence[Row], concurrency: Concurrency, limits: Limits, targets_tok_s_user: Iterable[float]
) -> Rung | Stopped:
    """The next concurrency of one topology, or why there is none.

    ``rows`` are the POINTS rows of the topology so far, valid or not; of several at one concurrency a valid one counts
    before an invalid one, then the latest attempt. Inside the recipe's ladder only failing requests
    (limits.max_failed_share) and a server that ended cut it short; a plateau, a full KV cache, a growing queue and an
    invalid point end only what is added above it.
    """
    points = _by_concurrency(rows)
    planned = ladder(concurrency.start, concurrency.end, concurrency.factor)
    cut = _cut(points, concurrency.start, limits)
    missing = [rung for rung in planned if rung not in points and (cut is None or rung < cut)]
    if missing:
        return Rung(missing[0])
    targets = sorted(targets_tok_s_user)
    above = _above(points, concurrency, limits, targets[0], cut)
    if isinstance(above, Rung):
        return above
    below = _below(points, concurrency, targets[-1])
    return below if isinstance(below, Rung) else Stopped(below=below, above=above)


def _by_concurrency(rows: Iterable[Row]) -> dict[int, Row]:
    ranked = sorted(rows, key=lambda row: (row["valid"], row["attempt"], row["point_id"]))
    return {row["concurrency"]: row for row in ranked}


def _cut(points: Mapping[int, Row], start: int, limits: Limits) -> int | None:
    """The lowest rung from the start on above which nothing is to be measured; None where there is none."""
    return min((rung for rung, row in points.items() if rung >= start and _cuts(row, limits)), default=None)


def _cuts(row: Row, limits: Limits) -> str | None:
    if "engine_ended" in row["reasons"]:
        return "engine_ended"
    requested, failed = row["n_requested"] or 0, row["n_failed"] or 0
    return "too_many_failed" if failed > limits.max_failed_share * requested else None


def _above(
    points: Mapping[int, Row], concurrency: Concurrency, limits: Limits, lowest_target: float, cut: int | None
) -> Rung | str:
    if cut is not None:
        return str(_cuts(points[cut], limits))
    highest = max(points)
    if any(speed <= lowest_target for speed in _speeds(points)):
        return "slowest_target_reached"
    code = _end_above(points, highest, limits)
    if code:
        return code
    return Rung(min(max(highest + 1, math.floor(highest * concurrency.factor + 0.5)), limits.max_concurrency))


def _end_above(points: Mapping[int, Row], highest: int, limits: Limits) -> str | None:
    row = points[highest]
    lower = [point for rung, point in points.items() if rung < highest and point["valid"]]
    if not row["valid"]:
        return "invalid_point"
    if lower and row["n_preemptions"] and row["throughput_tok_s_gpu"] < _most(lower):
        return "kv_exhausted"
    if lower and _only_waits(row, max(lower, key=lambda point: point["concurrency"])):
        return "queue_grows"
    if lower and row["throughput_tok_s_gpu"] < _most(lower) * (1 + limits.plateau_share):
        return "plateau"
    return "max_concurrency" if highest >= limits.max_concurrency else None


def _most(points: Iterable[Row]) -> float:
    return max(float(point["throughput_tok_s_gpu"]) for point in points)


def _only_waits(row: Row, before: Row) -> bool:
    """Same speed, over half of the time spent before the first token, and that time 1.5 times what it was."""
    ttft_s, ttft_before_s, e2el_s = row["ttft_p50_s"], before["ttft_p50_s"], row["e2el_p50_s"]
    speed, speed_before = row["interactivity_tok_s_user"], before["interactivity_tok_s_user"]
    if None in (ttft_s, ttft_before_s, e2el_s):
        return False
    return bool(
        speed >= speed_before * (1 - SAME_SPEED)
        and ttft_s >= ttft_before_s * LONGER_WAIT
        and ttft_s > e2el_s * MOSTLY_WAITING
    )


def _below(points: Mapping[int, Row], concurrency: Concurrency, highest_target: float) -> Rung | str:
    lowest = min(points)
    if any(speed >= highest_target for speed in _speeds(points)):
        return "fastest_target_reached"
    if lowest == 1:
        return "one_request"
    if lowest < concurrency.start and not points[lowest]["valid"]:
        return "invalid_point"
    return Rung(max(1, min(lowest - 1, math.floor(lowest / concurrency.factor + 0.5))))


def _speeds(points: Mapping[int, Row]) -> list[float]:
    return [row["interactivity_tok_s_user"] for row in points.values() if row["valid"]]
