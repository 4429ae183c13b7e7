"""COSTS: every reading at every price row that was valid on or after its run date."""

from pipeline.tables.columns import Table, day, number, text
from pipeline.tables.knots import CURVE

COSTS = Table(
    name="costs",
    grain="one reading of one curve priced by one price row",
    columns=(
        *CURVE,
        text("reading", "at_least or at_target", nullable=False),
        number("target_tok_s_user", "tok/s/user", "the speed target", nullable=False),
        number("throughput_tok_s_gpu", "tok/s/GPU", "the reading's total throughput", nullable=False),
        text("price_id", "the price row used: gpu/tier/valid_from", nullable=False),
        text("tier", "price tier slug", nullable=False),
        number("usd_per_gpu_hour", "USD/GPU/h", "the rate", nullable=False),
        day("valid_from", "first day of the price row", nullable=False),
        day("valid_to", "first day on which the row no longer holds; null while it holds"),
        text("source", "where the price comes from", nullable=False),
        day("recorded_on", "day since which the price row is in the book, as a correction; null: from the beginning"),
        day("corrected_on", "day on which the price row was corrected; null: it counts"),
        number("usd_mtok_total", "USD/Mtok", "per million total tokens, cached input included", nullable=False),
        number("usd_mtok_computed_input", "USD/Mtok", "all dollars over computed input tokens only"),
        number("usd_mtok_output", "USD/Mtok", "all dollars over output tokens only"),
        number("cache_hit_share", "1", "cached input / input tokens, to be read beside the total"),
    ),
    order=("curve_id", "reading", "target_tok_s_user", "tier", "valid_from", "corrected_on"),
    added_later=("recorded_on", "corrected_on"),
)
