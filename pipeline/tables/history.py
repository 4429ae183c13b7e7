"""HISTORY: the newest runs of every series at the speed targets, with the spread and the builds behind each reading."""

from pipeline.tables.columns import Table, count, flag, number, text, texts
from pipeline.tables.knots import CURVE

HISTORY = Table(
    name="history",
    grain="one curve at one speed target, the target taken as a minimum",
    columns=(
        *CURVE,
        number("target_tok_s_user", "tok/s/user", "the speed target", nullable=False),
        number("throughput_tok_s_gpu", "tok/s/GPU", "total throughput at the reading; null where there is none"),
        number("delivered_tok_s_user", "tok/s/user", "speed that the reading delivers; null where there is none"),
        text("basis", "measured, interpolated, faster_config or unreachable", nullable=False),
        text("reason", "why there is no value; null where there is one"),
        texts("point_ids", "the raw rows that bracket the reading"),
        flag("in_use", "the curve is the newest of its series", nullable=False),
        texts("engine_builds", "builds of those raw rows, each once; one that was not said is not among them"),
        texts("topologies", "topologies of those raw rows, each once"),
        count("n_repeats", "fewest repeats of those raw rows; null where one does not say"),
        number(
            "throughput_std_tok_s_gpu",
            "tok/s/GPU",
            "largest relative standard deviation of those raw rows times the reading; null where one has none",
        ),
    ),
    order=("curve_id", "target_tok_s_user"),
)
