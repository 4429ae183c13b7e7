"""KNOTS: the Pareto frontier of every curve (one series of one run)."""

from pipeline.tables.columns import Column, Table, count, day, flag, instant, number, text
from pipeline.tables.series import SERIES

CURVE: tuple[Column, ...] = (
    text("curve_id", "series key and run id: names one curve", nullable=False),
    text("series_key", "the series columns joined by |; spec_method only for fixed-length workloads", nullable=False),
    *SERIES,
    text("engine_family", "vllm, sglang, trtllm, …", nullable=False),
    flag("speculative", "some knot of the curve used a speculative method", nullable=False),
    text("run_id", "the run of the curve", nullable=False),
    day("run_date", "UTC day of the run", nullable=False),
    instant("run_started_at", "start of the run; null where not said"),
)

KNOTS = Table(
    name="knots",
    grain="one frontier point of one curve",
    columns=(
        *CURVE,
        count("n_points", "valid points of the curve, on the frontier or not", nullable=False),
        count("knot_index", "0-based, from the slowest to the fastest", nullable=False),
        number("interactivity_tok_s_user", "tok/s/user", "x: rises along the frontier", nullable=False),
        number("throughput_tok_s_gpu", "tok/s/GPU", "y: falls along the frontier", nullable=False),
        number("slope", "tok/s/GPU per tok/s/user", "Steffen slope at the knot; null for a single knot"),
        number("output_throughput_tok_s_gpu", "tok/s/GPU", "output tokens at the knot"),
        number("computed_input_throughput_tok_s_gpu", "tok/s/GPU", "computed input tokens at the knot"),
        number("cache_hit_share", "1", "cached input / input tokens at the knot"),
        text("point_id", "the raw row of the knot", nullable=False),
    ),
    order=("curve_id", "knot_index"),
)
