"""VERDICTS: every curve against the curve before it of the same series and recipe, target by target."""

from pipeline.tables.columns import Column, Table, count, day, number, text, texts
from pipeline.tables.knots import CURVE


def _side(prefix: str, whose: str) -> tuple[Column, ...]:
    return (
        number(f"{prefix}throughput_tok_s_gpu", "tok/s/GPU", f"at_least reading of {whose}; null where there is none"),
        number(f"{prefix}throughput_std_tok_s_gpu", "tok/s/GPU", f"spread over repeats of {whose}; null if not known"),
        count(f"{prefix}n_repeats", f"fewest repeats of the raw rows of {whose}; null where one does not say"),
        texts(f"{prefix}engine_builds", f"builds of the raw rows of {whose}"),
    )


VERDICTS = Table(
    name="verdicts",
    grain="one curve at one speed target, against an earlier curve of its series and recipe",
    columns=(
        *CURVE,
        text("recipe", "slug of the recipe that was swept; null for imports"),
        text("sweep_build", "build slug, version and hash that was swept with; null for imports"),
        count("repetition", "1 for the first run of its recipe and series on its day, then 2, 3, …", nullable=False),
        text("against_curve_id", "the earlier curve; null for the first one"),
        text("against_run_id", "its run"),
        day("against_run_date", "its UTC day"),
        text("verdict", "within, better, worse or unknown: the curve, all targets together", nullable=False),
        text("state", "suspected, confirmed, not_confirmed or recovered; null for none of these"),
        number("target_tok_s_user", "tok/s/user", "the speed target, taken as a minimum", nullable=False),
        text("target_verdict", "within, better, worse or unknown: this target", nullable=False),
        number("ratio", "1", "reading of the curve / reading of the earlier curve; null where one has none"),
        number("p_value", "1", "Welch's test, two-sided, before Holm's correction; null where a side was not repeated"),
        *_side("", "the curve"),
        *_side("against_", "the earlier curve"),
    ),
    order=("curve_id", "target_tok_s_user"),
)
