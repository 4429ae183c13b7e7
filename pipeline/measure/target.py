"""What a point was to be, and how far its load got there: requests in flight, steady state, off target or not.

Belongs here: the target and the load seen beside it. Not here: what a window is (window.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.measure.requests import Request, spans_of
from pipeline.measure.window import achieved_concurrency, held_share, steady_state, throughput_tok_s, whole_run
from pipeline.registry.entries import Workload

MIN_HELD_SHARE = 0.9


@dataclass(frozen=True)
class Target:
    """What a point was to be: its concurrency, its workload, and the GPUs that its deployment holds."""

    concurrency: int
    workload: Workload
    n_gpus: int

    @property
    def is_fixed_length(self) -> bool:
        """Whether single requests are kept in flight. An agentic lane is idle while its tool runs."""
        return self.workload.kind == "fixed_length"


def loads(requests: Iterable[Request], target: Target) -> dict[str, Any]:
    """Requests in flight over the run, and the throughput while all lanes were full, as POINTS columns.

    Agentic lanes are rarely all in flight: no steady state then.
    """
    spans = spans_of(requests)
    whole, steady = whole_run(spans), steady_state(spans, target.concurrency)
    found: dict[str, Any] = {"achieved_concurrency": achieved_concurrency(spans, whole) if whole else None}
    if steady and target.is_fixed_length:
        found["steady_throughput_tok_s_gpu"] = throughput_tok_s(spans, steady) / target.n_gpus
        found["steady_window_s"] = steady.length_s
    return found


def off_target(requests: Iterable[Mapping[str, Any]], target: Target) -> bool:
    """True where a fixed-length load kept fewer than 90 % of the target in flight: reason off_target_concurrency.

    False for agentic loads, whose lanes pause, and without requests, which is another reason.
    """
    share = held_share(spans_of(requests), target.concurrency)
    return target.is_fixed_length and share is not None and share < MIN_HELD_SHARE
