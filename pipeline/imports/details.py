"""Per-request arrays of vLLM's and SGLang's detailed files: requests, and the point's statistics recomputed from them.

Belongs here: arrays in seconds to REQUESTS rows, comparison with the file's own statistics, filling what the file does
not state. Not here: AIPerf's records, which are one object a request (aiperf_records.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.imports.draft import Draft
from pipeline.imports.fields import MAX_NS, duration_ns, items, request_tokens, text
from pipeline.imports.recompute import compare_and_fill


@dataclass(frozen=True)
class Arrays:
    """The keys of the arrays, one item a request, in seconds. A key that the file lacks is an empty array."""

    ttfts_s: str
    itls_s: str
    latencies_s: str
    starts_s: str
    input_lens: str = "input_lens"
    output_lens: str = "output_lens"
    errors: str = "errors"


def fill_requests(draft: Draft, row: Mapping[str, Any], arrays: Arrays) -> None:
    """REQUESTS rows from the arrays; then statistics from those, compared with the file's and filled in."""
    columns = {name: items(row.get(getattr(arrays, name))) for name in Arrays.__dataclass_fields__}
    n_requests = max((len(values) for values in columns.values()), default=0)
    draft.requests = [_request(index, {k: _item(v, index) for k, v in columns.items()}) for index in range(n_requests)]
    _start_at_zero(draft.requests)
    compare_and_fill(draft)


def _request(index: int, said: Mapping[str, Any]) -> dict[str, Any]:
    """One request. A request with an error text, or without output, failed.

    Without a recorded latency its end is the first token plus all gaps.
    """
    error, output_tok = text(said["errors"]), request_tokens(said["output_lens"])
    ttft_ns, itl_ns = duration_ns(said["ttfts_s"]), _gaps(said["itls_s"])
    failed = error is not None or output_tok == 0
    latency_ns = duration_ns(said["latencies_s"])
    if latency_ns is None and ttft_ns is not None and itl_ns is not None:
        latency_ns = min(ttft_ns + sum(itl_ns), MAX_NS)
    return {
        "request_index": index,
        "phase": "profiling",
        "outcome": "failed" if failed else "ok",
        "error": (error or "no output") if failed else None,
        "start_ns": duration_ns(said["starts_s"]),
        "ttft_ns": ttft_ns,
        "e2el_ns": latency_ns,
        "input_tok": request_tokens(said["input_lens"]),
        "output_tok": output_tok,
        "first_chunk_tok": 1,
        "itl_ns": itl_ns,
    }


def _start_at_zero(requests: list[dict[str, Any]]) -> None:
    """Starts relative to the earliest; the clients write readings of a monotonic clock."""
    starts = [request["start_ns"] for request in requests if request["start_ns"] is not None]
    for request in requests:
        if request["start_ns"] is not None:
            request["start_ns"] -= min(starts)


def _item(values: list[Any], index: int) -> object:
    return values[index] if index < len(values) else None


def _gaps(values: object) -> list[int] | None:
    if not isinstance(values, list):
        return None
    return [gap for gap in map(duration_ns, values) if gap is not None]
