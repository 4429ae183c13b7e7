"""REQUESTS: one row per request of a point, where the source kept them. Times are integer nanoseconds."""

import pyarrow as pa

from pipeline.tables.columns import Column, Table, count, text

REQUESTS = Table(
    name="requests",
    grain="one request of one point, warm-up and failures included",
    columns=(
        text("point_id", "the point that the request belongs to", nullable=False),
        count("request_index", "0-based position in the source", nullable=False),
        count("repeat_index", "0-based repeat of the point; null where the source knows no repeats"),
        text("phase", "profiling or warmup", nullable=False),
        text("outcome", "ok, failed or cancelled", nullable=False),
        text("error", "the error's own words; null if ok"),
        text("session_id", "conversation or trajectory lane; null for single requests"),
        count("turn_index", "0-based turn within the session"),
        count(
            "start_ns",
            "request start, relative to the earliest start of the point (of its repeat); null if unknown",
            unit="ns",
        ),
        count("ttft_ns", "time to first token", unit="ns"),
        count("e2el_ns", "request end − request start", unit="ns"),
        count("input_tok", "input tokens, cached ones included", unit="tok"),
        count("output_tok", "output tokens, reasoning included", unit="tok"),
        count("cached_input_tok", "input tokens served from the prefix cache", unit="tok"),
        count("first_chunk_tok", "tokens in the first chunk; 1 where the source does not say", unit="tok"),
        Column("itl_ns", pa.list_(pa.int64()), "ns", "gaps between token-carrying chunks, in order", True),
    ),
    order=("point_id", "request_index"),
)
