"""ACROSS: the best series at every speed target, by both readings. What a page's ladder prints."""

from pipeline.tables.columns import Table, day, number, text, texts

ACROSS = Table(
    name="across",
    grain="one model, GPU, workload and provenance at one speed target under one reading",
    columns=(
        text("model", "model slug of the registry", nullable=False),
        text("gpu", "GPU slug of the registry", nullable=False),
        text("workload", "workload slug of the registry", nullable=False),
        text("provenance", "measured, imported or simulated; never mixed in one row", nullable=False),
        text(
            "reading",
            "at_least (the target is a minimum) or at_target (the reading of the reference pages)",
            nullable=False,
        ),
        number("target_tok_s_user", "tok/s/user", "the speed target", nullable=False),
        number("throughput_tok_s_gpu", "tok/s/GPU", "total throughput of the winning series; null where none serves"),
        number("delivered_tok_s_user", "tok/s/user", "speed that the reading delivers; null where there is none"),
        text("basis", "measured, interpolated, faster_config or unreachable", nullable=False),
        text("reason", "why there is no value; null where there is one"),
        text("engine", "engine slug of the winning series; null where there is no value"),
        text("engine_family", "the engine under a wrapper; null where there is no value"),
        text("precision", "number format of the winning series' checkpoint; null where there is no value"),
        text("spec_method", "speculative method of the winning curve; null where there is no value, or not one"),
        text("curve_id", "the winning curve; null where there is no value"),
        day("run_date", "UTC day of the winning curve's run; null where there is no value"),
        number("output_throughput_tok_s_gpu", "tok/s/GPU", "output tokens of the winning reading"),
        number("computed_input_throughput_tok_s_gpu", "tok/s/GPU", "computed input tokens of the winning reading"),
        number("cache_hit_share", "1", "cached input / input tokens of the winning reading"),
        texts("point_ids", "the raw rows that bracket the winning reading; empty where there is no value"),
    ),
    order=("model", "gpu", "workload", "provenance", "reading", "target_tok_s_user"),
)
