"""PRICES: the dated price book as a table."""

from pipeline.tables.columns import Table, day, number, text

PRICES = Table(
    name="prices",
    grain="one rate of one GPU and tier over one interval",
    columns=(
        text("price_id", "gpu/tier/valid_from; a row and the rows that corrected it share it", nullable=False),
        text("gpu", "GPU slug of the registry", nullable=False),
        text("tier", "price tier slug of the registry", nullable=False),
        number("usd_per_gpu_hour", "USD/GPU/h", "the rate", nullable=False),
        day("valid_from", "first day of the interval", nullable=False),
        day("valid_to", "first day after the interval; null while it holds"),
        text("source", "where the price comes from; a computed one names its file", nullable=False),
        day("recorded_on", "day since which the book says so, as a correction; null: from the beginning"),
        day("corrected_on", "day since which another row says otherwise; null: this row counts"),
        text("correction_reason", "why it was corrected; null where it was not"),
    ),
    order=("gpu", "tier", "valid_from", "corrected_on"),
)
