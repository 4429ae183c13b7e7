"""PRICES: the dated price book as a table."""

from pipeline.tables.columns import Table, day, number, text

PRICES = Table(
    name="prices",
    grain="one rate of one GPU and tier over one interval",
    columns=(
        text("price_id", "gpu/tier/valid_from", nullable=False),
        text("gpu", "GPU slug of the registry", nullable=False),
        text("tier", "price tier slug of the registry", nullable=False),
        number("usd_per_gpu_hour", "USD/GPU/h", "the rate", nullable=False),
        day("valid_from", "first day of the interval", nullable=False),
        day("valid_to", "first day after the interval; null while it holds"),
        text("source", "where the price comes from", nullable=False),
    ),
    order=("gpu", "tier", "valid_from"),
)
