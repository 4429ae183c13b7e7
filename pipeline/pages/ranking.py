"""Which GPU of an overview row is best, and the order of all of them. Comparing two in detail is compare.py's.

A reading that is a bound ranks by the value that it guarantees: at least so much throughput, at most so much cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar


class Ranked(Protocol):
    """What is ranked: tok/s/GPU and USD per million total tokens, each None where there is none."""

    @property
    def throughput_tok_s_gpu(self) -> float | None:
        """More is better."""

    @property
    def cost_usd_mtok(self) -> float | None:
        """Less is better."""


R = TypeVar("R", bound=Ranked)


def fastest_first(cells: Sequence[R]) -> list[R]:
    """Those with a throughput, the highest first; equal ones keep their order."""
    return _ordered(cells, lambda cell: cell.throughput_tok_s_gpu, -1)


def cheapest_first(cells: Sequence[R]) -> list[R]:
    """Those with a cost, the lowest first; equal ones keep their order."""
    return _ordered(cells, lambda cell: cell.cost_usd_mtok, 1)


def _ordered(cells: Sequence[R], value: Callable[[R], float | None], sign: int) -> list[R]:
    known = [(found, cell) for cell in cells if (found := value(cell)) is not None]
    return [cell for _, cell in sorted(known, key=lambda pair: sign * pair[0])]


def why_best(cell: Ranked, cells: Sequence[Ranked]) -> str | None:
    """Why a cell is bold: "highest of 3", "cheapest of 3" or both; None where it is neither, or stands alone."""
    by_throughput, by_cost = fastest_first(cells), cheapest_first(cells)
    words = []
    if len(by_throughput) > 1 and cell.throughput_tok_s_gpu == by_throughput[0].throughput_tok_s_gpu:
        words.append(f"highest of {len(by_throughput)}")
    if len(by_cost) > 1 and cell.cost_usd_mtok == by_cost[0].cost_usd_mtok:
        words.append(f"cheapest of {len(by_cost)}")
    return " and ".join(words) or None
