"""POINTS: one row per measured operating point, valid or not. Latency is in seconds, throughput per GPU held.

Belongs here: every column of a raw point. Derived tables are knots.py, readings.py and costs.py.
"""

from pipeline.tables.columns import Column, Table, count, day, flag, instant, number, text, texts
from pipeline.tables.series import SERIES

PERCENTILES = (50, 75, 90, 95, 99)
LATENCIES = {
    "ttft": "time to the first token of any channel, minus request start",
    "tpot": "(end − first token) / (output tokens − tokens in the first chunk)",
    "itl": "gap between consecutive token-carrying chunks; a chunk can hold several tokens",
    "e2el": "request end − request start",
}
STATISTICS = ("mean", "std", *(f"p{p}" for p in PERCENTILES))


def _latency_columns() -> tuple[Column, ...]:
    return tuple(
        number(f"{name}_{statistic}_s", "s", f"{statistic} over successful requests of: {meaning}")
        for name, meaning in LATENCIES.items()
        for statistic in STATISTICS
    )


def _pool_columns(prefix: str, whose: str) -> tuple[Column, ...]:
    return (
        count(f"{prefix}tp", f"tensor-parallel size of one {whose} worker"),
        count(f"{prefix}pp", f"pipeline-parallel size of one {whose} worker"),
        count(f"{prefix}pcp", f"prefill-context-parallel size of one {whose} worker"),
        count(f"{prefix}dcp", f"decode-context-parallel size of one {whose} worker; reuses tp GPUs"),
        count(f"{prefix}ep", f"expert-parallel size of one {whose} worker; reuses tp GPUs"),
        flag(f"{prefix}dp_attention", f"data-parallel attention in a {whose} worker; reuses tp GPUs"),
        count(f"{prefix}n_workers", f"number of {whose} workers"),
    )


IDENTITY: tuple[str, ...] = (
    *(c.name for c in SERIES),
    "engine_build",
    "input_len_tok",
    "output_len_tok",
    "topology",
    "concurrency",
    "request_rate_req_s",
    "run_date",
)
"""With ``attempt``, the identity of a point. Null equals null."""

POINTS = Table(
    name="points",
    grain="one operating point: one configuration at one concurrency, one attempt",
    columns=(
        text("point_id", "hash of the identity and of the source row", nullable=False),
        *SERIES,
        text("engine_family", "vllm, sglang, trtllm, …: the engine under a wrapper", nullable=False),
        text("engine_build", "image digest, image tag or version of the engine; null where not said"),
        count("input_len_tok", "nominal input length of a fixed-length workload", unit="tok"),
        count("output_len_tok", "nominal output length of a fixed-length workload", unit="tok"),
        text("topology", "canonical spelling of workers and parallel sizes, e.g. tp8 ep8 dpa", nullable=False),
        *_pool_columns("", "serving (decode, if disaggregated)"),
        *_pool_columns("prefill_", "prefill"),
        count("n_gpus", "GPUs held: workers × tp × pp × pcp over all pools; null where not derivable"),
        count("n_gpus_prefill", "GPUs held by the prefill pool, if disaggregated"),
        count("n_gpus_decode", "GPUs held by the decode pool, if disaggregated"),
        count("concurrency", "requests (fixed length) or trajectory lanes (agentic) kept in flight"),
        number("request_rate_req_s", "req/s", "offered request rate, where the load was a rate"),
        number("achieved_concurrency", "count", "mean requests in flight over the window"),
        text("run_id", "the run that the point came from; one curve is one run", nullable=False),
        day("run_date", "UTC day of the run", nullable=False),
        instant("run_started_at", "start of the run; null where not said"),
        count("attempt", "1 for the first row of this identity on this day, then 2, 3, …", nullable=False),
        flag("valid", "true when no reason speaks against the point", nullable=False),
        texts("reasons", "reason codes of an invalid point (pipeline/measure/validity.py)"),
        texts("notes", "what a reader should know and that does not invalidate the point"),
        count("n_requested", "requests sent in the measured phase = successful + failed + cancelled"),
        count("n_successful", "requests that ended with a finish"),
        count("n_failed", "requests that ended in an error, or without a finish"),
        count("n_cancelled", "requests that the client cancelled"),
        count("n_warmup", "warm-up requests, excluded from every number here"),
        text("window", "whole_run or steady_state: the window of every number here"),
        number("window_s", "s", "length of the measured window; of a point with repeats, the sum of their windows"),
        count("input_tok", "input tokens of successful requests in the window, cached ones included", unit="tok"),
        count("output_tok", "output tokens of successful requests in the window", unit="tok"),
        count("cached_input_tok", "input tokens served from the prefix cache", unit="tok"),
        number("throughput_tok_s_gpu", "tok/s/GPU", "total tokens (input incl. cached + output) / s / GPUs held"),
        number("input_throughput_tok_s_gpu", "tok/s/GPU", "input tokens, cached ones included / s / GPUs held"),
        number("output_throughput_tok_s_gpu", "tok/s/GPU", "output tokens / s / GPUs held"),
        number("computed_input_throughput_tok_s_gpu", "tok/s/GPU", "input − cached input tokens / s / GPUs held"),
        number("cache_hit_share", "1", "cached input / input tokens"),
        number("steady_throughput_tok_s_gpu", "tok/s/GPU", "total throughput of the steady-state window"),
        number("steady_window_s", "s", "length of the steady-state window; with repeats, their sum"),
        count("percentile", "default percentile of the workload: 50 or 90", unit="percentile", nullable=False),
        number("interactivity_tok_s_user", "tok/s/user", "1 / TPOT at the default percentile"),
        text("interactivity_source", "the column or field that the interactivity was computed from"),
        *_latency_columns(),
        number("spec_accept_len_tok", "tok", "mean tokens accepted per step with speculation, target token included"),
        count("n_repeats", "repeats that the numbers are a mean of; null where not said"),
        number("throughput_std_tok_s_gpu", "tok/s/GPU", "sample standard deviation of the throughput over repeats"),
        number("interactivity_std_tok_s_user", "tok/s/user", "sample standard deviation of the speed over repeats"),
        number("power_w_gpu", "W", "mean power of one GPU over the window"),
        number("energy_j_output_tok", "J/tok", "energy of all GPUs held / output tokens"),
        number(
            "client_error_share", "1", "what the load client itself added to TPOT, as a share; null if not measured"
        ),
        number("client_cpu_cores", "count", "CPU seconds of the load client / seconds that it ran"),
        count("server_input_tok", "input tokens that the engine's own counters rose by, warm-up included", unit="tok"),
        count(
            "server_output_tok", "output tokens that the engine's own counters rose by, warm-up included", unit="tok"
        ),
        count("server_cached_input_tok", "cached input tokens by the engine's own counters", unit="tok"),
        count("n_preemptions", "requests that the engine preempted for want of KV cache"),
        number("clock_mhz", "MHz", "mean clock of the device over the windows"),
        number("temperature_max_c", "°C", "highest temperature of the device in the windows"),
        text("device_name", "the device's own name; null where not recorded"),
        texts("declared", "columns whose value was declared by a person, not recorded in the file"),
        text("source_format", "the importer, or sweep", nullable=False),
        text("source_file", "name of the file that the row came from", nullable=False),
        text("source_sha256", "hash of that file's bytes", nullable=False),
        count("source_row", "0-based row in that file", nullable=False),
        text("run_url", "link to the run; null where not said"),
    ),
    order=("model", "workload", "engine", "precision", "topology", "concurrency", "point_id"),
)
