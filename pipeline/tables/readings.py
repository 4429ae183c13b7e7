"""READINGS: every curve read at every speed target, by both readings."""

from pipeline.tables.columns import Table, number, text, texts
from pipeline.tables.knots import CURVE

READINGS = Table(
    name="readings",
    grain="one curve at one speed target under one reading",
    columns=(
        *CURVE,
        text(
            "reading",
            "at_least (the target is a minimum) or at_target (the reading of the reference pages)",
            nullable=False,
        ),
        number("target_tok_s_user", "tok/s/user", "the speed target", nullable=False),
        number("throughput_tok_s_gpu", "tok/s/GPU", "total throughput at the reading; null where there is none"),
        number("delivered_tok_s_user", "tok/s/user", "speed that the reading delivers; null where there is none"),
        text("basis", "measured, interpolated, faster_config or unreachable", nullable=False),
        text("reason", "why there is no value; null where there is one"),
        number("output_throughput_tok_s_gpu", "tok/s/GPU", "output tokens; linear between the bracketing knots"),
        number(
            "computed_input_throughput_tok_s_gpu", "tok/s/GPU", "computed input; linear between the bracketing knots"
        ),
        number("cache_hit_share", "1", "cached input / input; linear between the bracketing knots"),
        texts("point_ids", "the raw rows that bracket the reading"),
    ),
    order=("curve_id", "reading", "target_tok_s_user"),
)
