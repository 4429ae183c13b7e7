"""A point's statistics recomputed from its requests, compared with those that the file states, and filled in.

Belongs here: one point. Not here: the statistics themselves (measure/summary.py) and the rules (measure/client.py).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import duckdb

from pipeline.imports.draft import Draft
from pipeline.measure.client import client_bound, is_bimodal
from pipeline.measure.requests import spans_of, tpots_s
from pipeline.measure.summary import summarize
from pipeline.measure.window import Span, Window, achieved_concurrency, steady_state, throughput_tok_s, whole_run
from pipeline.tables.points import LATENCIES, STATISTICS
from pipeline.tables.requests import REQUESTS

TOLERANCE = 0.01
SMALLEST_COMPARED_S = 1e-5
"""Below 10 µs a statistic is the client's own time, and float sums differ by more than it is worth."""

FILLED = (
    *("n_requested", "n_successful", "n_failed", "n_cancelled", "n_warmup"),
    *("input_tok", "output_tok", "cached_input_tok", "window_s"),
)


def compare_and_fill(draft: Draft, totals: Collection[str] = ()) -> None:
    """Reason summary_mismatch where a stated statistic differs by over 1 %; what is not stated is filled in.

    ``totals`` are those of the filled columns that the file states too, and that must agree with its requests.
    """
    if not draft.requests:
        return
    computed = _summary(draft.requests)
    for column in (f"{latency}_{statistic}_s" for latency in LATENCIES for statistic in STATISTICS):
        stated, ours = draft.columns.get(column), computed[column]
        if stated is None and ours is not None:
            draft.columns[column] = ours
        elif stated is not None and ours is not None and differ(stated, ours):
            _tell(draft, column)
    for column in FILLED:
        stated, ours = draft.columns.get(column), computed[column]
        if stated is None and ours is not None:
            draft.columns[column] = ours
        elif column in totals and stated is not None and differ(stated, ours or 0):
            _tell(draft, column)
    _judge_client(draft)
    _fill_windows(draft)


def differ(stated_s: float, computed_s: float) -> bool:
    """Whether two values of one statistic differ by more than 1 % of the larger one."""
    larger = max(abs(stated_s), abs(computed_s))
    return larger > SMALLEST_COMPARED_S and abs(stated_s - computed_s) > TOLERANCE * larger


def _tell(draft: Draft, column: str) -> None:
    draft.reasons.add("summary_mismatch")
    draft.notes.add(f"summary_differs={column}")


def _summary(requests: list[dict[str, Any]]) -> dict[str, Any]:
    table = REQUESTS.from_rows([{**request, "point_id": "one"} for request in requests])
    with duckdb.connect(":memory:") as connection:
        connection.register("requests", table)
        summary: dict[str, Any] = summarize(connection, "requests").to_pylist()[0]
    return summary


def _judge_client(draft: Draft) -> None:
    tpots = tpots_s(draft.requests)
    if client_bound(tpots):
        draft.reasons.add("client_bound")
    if is_bimodal(tpots):
        draft.notes.add("bimodal_tpot")


def _fill_windows(draft: Draft) -> None:
    """Achieved concurrency over the whole run, and length of the steady state, where requests have starts."""
    spans = spans_of(draft.requests)
    everything = whole_run(spans)
    if everything is None:
        return
    draft.columns.setdefault("achieved_concurrency", achieved_concurrency(spans, everything))
    concurrency = draft.columns.get("concurrency")
    steady = steady_state(spans, concurrency) if concurrency else None
    if steady is not None:
        _fill_steady(draft, spans, steady)


def _fill_steady(draft: Draft, spans: list[Span], steady: Window) -> None:
    draft.columns["steady_window_s"] = steady.length_s
    draft.steady_tok_s = throughput_tok_s(spans, steady)
