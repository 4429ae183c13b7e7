"""Latencies of one request from its instants, in integer nanoseconds of one monotonic clock.

Belongs here: the four definitions, as pure functions. Not here: statistics over requests (summary.py), and which
requests count (window.py, validity.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pipeline.units import seconds_from_ns


def ttft_ns(start_ns: int, first_token_ns: int) -> int:
    """Time to first token [ns] = first token of any channel, reasoning included, minus request start."""
    return first_token_ns - start_ns


def e2el_ns(start_ns: int, end_ns: int) -> int:
    """End-to-end latency [ns] = request end minus request start."""
    return end_ns - start_ns


def tpot_s(first_token_ns: int, end_ns: int, output_tok: int, first_chunk_tok: int = 1) -> float | None:
    """Time per output token [s] = (end − first token) / (output tokens − tokens in the first chunk).

    None for fewer than two output tokens, and where the first chunk held them all: no token was timed.
    """
    n_timed = output_tok - first_chunk_tok
    if output_tok < 2 or n_timed < 1:
        return None
    return seconds_from_ns(end_ns - first_token_ns) / n_timed


def itl_ns(chunk_ns: Sequence[int]) -> list[int]:
    """Gaps [ns] between consecutive token-carrying chunks, in order. One chunk is not one token.

    Empty for fewer than two chunks.
    """
    return [later - earlier for earlier, later in itertools.pairwise(chunk_ns)]
