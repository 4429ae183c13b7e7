"""Points that were broken off: the server or the load client ended before the point did, and what becomes of them.

Belongs here: which of them the next sitting measures again. Not here: the decision that a point was broken off
(measured.py), and which rung is next (stop_rule.py).

Such a point says nothing of the speed of the engine, so its row stays as an invalid attempt and a later sitting makes
another one. Within a sitting nothing is tried twice: what killed a server would kill the next one as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]

BROKEN_OFF = frozenset({"engine_ended", "load_ended"})
"""Reason codes of a point that did not come to its end."""

MAX_ATTEMPTS = 5
"""A point that was broken off so often is a finding: the server cannot serve it."""


def passed_over(rows: Iterable[Row]) -> frozenset[str]:
    """Ids of the rows that a new sitting does not count, because it is to measure their concurrency again.

    ``rows`` are the POINTS rows of one topology. All attempts at a concurrency are passed over where each of them was
    broken off and there are fewer than MAX_ATTEMPTS.
    """
    by_concurrency: dict[int, list[Row]] = {}
    for row in rows:
        by_concurrency.setdefault(row["concurrency"], []).append(row)
    again = [attempts for attempts in by_concurrency.values() if _is_due(attempts)]
    return frozenset(row["point_id"] for attempts in again for row in attempts)


def next_attempt(rows: Iterable[Row], concurrency: int) -> int:
    """The number of the next attempt at a concurrency of one topology; 1 where there is none yet."""
    return 1 + max((row["attempt"] for row in rows if row["concurrency"] == concurrency), default=0)


def _is_due(attempts: list[Row]) -> bool:
    return len(attempts) < MAX_ATTEMPTS and all(not BROKEN_OFF.isdisjoint(row["reasons"]) for row in attempts)
