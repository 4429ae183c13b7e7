"""Repeats by hand: equal requests, one after the other in every lane, and everything else by default."""

import datetime as dt
from dataclasses import dataclass, field

from pipeline.registry.entries import Workload

MS = 1_000_000
NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
FIXED = Workload(
    name="100 in / 11 out", kind="fixed_length", percentile=50, input_len_tok=100, output_len_tok=11, rank=9,
    description="single requests",
)  # fmt: skip
AGENTIC = Workload(name="agentic", kind="agentic", percentile=90, rank=1, description="sessions")


@dataclass(frozen=True)
class Repeat:
    """One repeat as a load client answers it."""

    requests: list = field(default_factory=list)
    seed: int = 1
    started_at: dt.datetime | None = NOON


def request(start_ms=0, **changes):
    """100 tokens in, 11 out: first token after 100 ms, then one every 10 ms."""
    row = {
        "request_index": 0,
        "phase": "profiling",
        "outcome": "ok",
        "start_ns": start_ms * MS,
        "ttft_ns": 100 * MS,
        "e2el_ns": 200 * MS,
        "input_tok": 100,
        "output_tok": 11,
        "cached_input_tok": 0,
        "first_chunk_tok": 1,
        "itl_ns": [10 * MS] * 10,
    }
    return row | changes


def lanes(n_lanes=2, n_each=5, **changes):
    """Requests of lanes that are always busy."""
    length_ms = changes.get("e2el_ns", 200 * MS) // MS
    return [request(i * length_ms, **changes) for i in range(n_each) for _ in range(n_lanes)]


def slower(factor, **changes):
    """Lanes whose tokens come a factor later, the first one included."""
    return lanes(ttft_ns=100 * factor * MS, e2el_ns=200 * factor * MS, itl_ns=[10 * factor * MS] * 10, **changes)
