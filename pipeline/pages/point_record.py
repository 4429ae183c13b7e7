"""One operating point as it is published in data.json. The page around it is page.py."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

Role = Literal["frontier", "off_frontier", "superseded", "invalid"]
"""frontier: a knot of its series' newest curve. off_frontier: valid, of that curve, and dominated.
superseded: replaced by a later attempt of its run, or by a newer run. invalid: never used, with its reasons."""


@dataclass(frozen=True)
class Latency:
    """Statistics of one latency over the successful requests of a point, in s. A null was not recorded."""

    mean_s: float | None
    std_s: float | None
    p50_s: float | None
    p75_s: float | None
    p90_s: float | None
    p95_s: float | None
    p99_s: float | None


@dataclass(frozen=True)
class Latencies:
    """The four latencies of a point: to first token, per output token, between chunks, end to end."""

    ttft: Latency
    tpot: Latency
    itl: Latency
    e2el: Latency


@dataclass(frozen=True)
class PointRecord:
    """One point: names, meanings and units are those of the points table; ``reason`` says why a null is null.

    ``series`` is the label of the point's series. ``published_reading`` marks a value read off a published
    ladder: not a raw point, so it has no concurrency and no topology.
    """

    point_id: str
    role: Role
    series: str
    engine: str
    engine_name: str
    engine_build: str | None
    precision: str | None
    spec_method: str | None
    spec_accept_len_tok: float | None
    disaggregated: bool | None
    multinode: bool | None
    kv_offload: str | None
    input_len_tok: int | None
    output_len_tok: int | None
    topology: str | None
    n_gpus: int | None
    n_gpus_prefill: int | None
    n_gpus_decode: int | None
    concurrency: int | None
    request_rate_req_s: float | None
    achieved_concurrency: float | None
    run_id: str
    run_date: dt.date
    run_started_at: dt.datetime | None
    run_url: str | None
    attempt: int
    valid: bool
    reasons: tuple[str, ...]
    reason_sentences: tuple[str, ...]
    notes: tuple[str, ...]
    note_sentences: tuple[str, ...]
    published_reading: bool
    n_requested: int | None
    n_successful: int | None
    n_failed: int | None
    n_cancelled: int | None
    n_warmup: int | None
    window: str | None
    window_s: float | None
    input_tok: int | None
    output_tok: int | None
    cached_input_tok: int | None
    throughput_tok_s_gpu: float | None
    input_throughput_tok_s_gpu: float | None
    output_throughput_tok_s_gpu: float | None
    computed_input_throughput_tok_s_gpu: float | None
    cache_hit_share: float | None
    steady_throughput_tok_s_gpu: float | None
    steady_window_s: float | None
    percentile: int
    interactivity_tok_s_user: float | None
    interactivity_source: str | None
    latency: Latencies
    n_repeats: int | None
    throughput_std_tok_s_gpu: float | None
    interactivity_std_tok_s_user: float | None
    power_w_gpu: float | None
    energy_j_output_tok: float | None
    client_error_share: float | None
    client_cpu_cores: float | None
    server_input_tok: int | None
    server_output_tok: int | None
    server_cached_input_tok: int | None
    n_preemptions: int | None
    clock_mhz: float | None
    temperature_max_c: float | None
    device_name: str | None
    declared: tuple[str, ...]
    source_format: str
    source_file: str
    source_sha256: str
    source_row: int
    reason: str | None
