"""REQUESTS rows of one point or repeat, as the spans and the times per token that windows and rules are computed from.

Belongs here: which requests take part, and with what. Not here: the statistics (summary.py) and the rules (client.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.measure.latency import tpot_s
from pipeline.measure.window import Span

Request = Mapping[str, Any]


def spans_of(requests: Iterable[Request]) -> list[Span]:
    """Every profiling request whose start and end are known; only a successful one moved tokens."""
    return [
        Span(request["start_ns"], request["start_ns"] + request["e2el_ns"], _tokens(request))
        for request in requests
        if request["phase"] == "profiling"
        and request.get("start_ns") is not None
        and request.get("e2el_ns") is not None
    ]


def tpots_s(requests: Iterable[Request]) -> list[float]:
    """TPOT [s] of every successful profiling request that has one."""
    found = []
    for request in successful(requests):
        ttft_ns, e2el_ns, output_tok = (request.get(key) for key in ("ttft_ns", "e2el_ns", "output_tok"))
        if ttft_ns is not None and e2el_ns is not None and output_tok is not None:
            value = tpot_s(ttft_ns, e2el_ns, output_tok, request.get("first_chunk_tok") or 1)
            found += [value] if value is not None else []
    return found


def successful(requests: Iterable[Request]) -> list[Request]:
    """The profiling requests that ended with a finish."""
    return [request for request in requests if request["phase"] == "profiling" and request["outcome"] == "ok"]


def _tokens(request: Request) -> int:
    if request["outcome"] != "ok":
        return 0
    return int(request.get("input_tok") or 0) + int(request.get("output_tok") or 0)
