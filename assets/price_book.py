"""price_book: the dated prices, observed: its data version changes exactly when a GPU's rows do."""

import dagster as dg

from assets.evidence import column_schema
from pipeline.partitions import gpu_partitions
from pipeline.tables.prices import PRICES
from resources.price_book import PriceBook


@dg.observable_source_asset(
    partitions_def=gpu_partitions,
    group_name="prices",
    metadata=column_schema(PRICES),
    description="USD per GPU-hour by GPU, tier and date. Edited by people, or with `frontier prices add`.",
)
def price_book(prices: PriceBook) -> dg.DataVersionsByPartition:
    """One row is one rate of one GPU and tier over one interval; the version of a GPU is the hash of its rows."""
    return dg.DataVersionsByPartition(prices.versions(gpu_partitions.get_partition_keys()))
