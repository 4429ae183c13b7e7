"""REPEATS: one row per repeat of a measured point. The point's own numbers are means over these rows."""

from pipeline.tables.columns import Table, count, instant, number, text
from pipeline.tables.points import LATENCIES, STATISTICS

REPEATS = Table(
    name="repeats",
    grain="one repeat of one measured point: one window at one concurrency",
    columns=(
        text("point_id", "the point", nullable=False),
        count("repeat_index", "0-based", nullable=False),
        count("seed", "seed of the load of this repeat: no two repeats send the same prompts", nullable=False),
        instant("started_at", "start of the first measured request", nullable=False),
        *(count(f"n_{what}", f"{what} requests of the window") for what in ("requested", "successful", "failed")),
        count("n_cancelled", "requests that the client cancelled"),
        count("n_warmup", "warm-up requests before the window, excluded from every number here"),
        count("input_tok", "input tokens of successful requests, cached ones included", unit="tok"),
        count("output_tok", "output tokens of successful requests", unit="tok"),
        count("cached_input_tok", "cached input tokens of successful requests", unit="tok"),
        number("window_s", "s", "whole run: latest end − earliest start of the measured requests"),
        number("steady_window_s", "s", "from the moment the target concurrency is first reached until it is last held"),
        number("achieved_concurrency", "count", "mean requests in flight over the window"),
        number("throughput_tok_s_gpu", "tok/s/GPU", "total tokens / window_s / GPUs held"),
        number("steady_throughput_tok_s_gpu", "tok/s/GPU", "total throughput of the steady-state window"),
        number("interactivity_tok_s_user", "tok/s/user", "1 / TPOT at the default percentile"),
        *(
            number(f"{latency}_{statistic}_s", "s", f"{statistic} of {latency} over successful requests")
            for latency in LATENCIES
            for statistic in STATISTICS
        ),
    ),
    order=("point_id", "repeat_index"),
)
