"""Promises about costs: pure predicates that return violations, empty where kept."""

from __future__ import annotations

import datetime as dt
import math

import pyarrow as pa

from pipeline.units import usd_per_mtok


def costs_name_prices(costs: pa.Table, prices: pa.Table) -> list[str]:
    """Every cost names a price row of the book, and carries its rate."""
    rates = dict(zip(prices["price_id"].to_pylist(), prices["usd_per_gpu_hour"].to_pylist(), strict=True))
    pairs = set(zip(costs["price_id"].to_pylist(), costs["usd_per_gpu_hour"].to_pylist(), strict=True))
    return [f"{price} at {rate:g} USD/GPU/h is not in the price book" for price, rate in sorted(pairs - rates.items())]


def costs_are_current(costs: pa.Table, readings: pa.Table, prices: pa.Table, run_date: dt.date) -> bool:
    """Whether the costs of one cell name exactly the price rows that hold on or after its run date, as they are now."""
    names = ("price_id", "usd_per_gpu_hour", "valid_to")
    book = zip(*(prices[name].to_pylist() for name in names), strict=True)
    wanted = {row for row in book if row[2] is None or row[2] > run_date}
    if readings["throughput_tok_s_gpu"].null_count == readings.num_rows:
        wanted = set()
    return wanted == set(zip(*(costs[name].to_pylist() for name in names), strict=True))


def costs_recompute(costs: pa.Table) -> list[str]:
    """Every total cost is rate × 1e6 / (throughput × 3600)."""
    names = ("curve_id", "target_tok_s_user", "usd_per_gpu_hour", "throughput_tok_s_gpu", "usd_mtok_total")
    return [
        f"{curve} at {target:g}: {cost!r} is not {usd_per_mtok(rate, throughput)!r}"
        for curve, target, rate, throughput, cost in zip(*(costs[n].to_pylist() for n in names), strict=True)
        if not math.isclose(cost, usd_per_mtok(rate, throughput) or math.nan, rel_tol=1e-12)
    ]
