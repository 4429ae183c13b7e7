"""Promises about costs: pure predicates that return violations, empty where kept."""

from __future__ import annotations

import datetime as dt
import math

import pyarrow as pa

from pipeline.cost.price_book import IDENTITY, rows_of
from pipeline.units import usd_per_mtok


def costs_name_prices(costs: pa.Table, prices: pa.Table) -> list[str]:
    """Every cost names a price row of the book, and carries its rate."""
    unknown = set(rows_of(costs, *IDENTITY)) - set(rows_of(prices, *IDENTITY))
    return [f"{price} at {rate:g} USD/GPU/h is not in the price book" for price, _, rate in sorted(unknown, key=str)]


def costs_are_current(costs: pa.Table, readings: pa.Table, prices: pa.Table, run_date: dt.date) -> bool:
    """Whether the costs of one cell name exactly the price rows that hold on or after its run date, as they are now."""
    ends = ("valid_to", "corrected_on")
    wanted = {
        row
        for row in rows_of(prices, *ends, *IDENTITY)
        if all(end is None or end > run_date for end in row[: len(ends)])
    }
    if readings["throughput_tok_s_gpu"].null_count == readings.num_rows:
        wanted = set()
    return wanted == set(rows_of(costs, *ends, *IDENTITY))


def costs_recompute(costs: pa.Table) -> list[str]:
    """Every total cost is rate × 1e6 / (throughput × 3600)."""
    names = ("curve_id", "target_tok_s_user", "usd_per_gpu_hour", "throughput_tok_s_gpu", "usd_mtok_total")
    return [
        f"{curve} at {target:g}: {cost!r} is not {usd_per_mtok(rate, throughput)!r}"
        for curve, target, rate, throughput, cost in zip(*(costs[n].to_pylist() for n in names), strict=True)
        if not math.isclose(cost, usd_per_mtok(rate, throughput) or math.nan, rel_tol=1e-12)
    ]
