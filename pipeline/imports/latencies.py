"""Latency statistics under foreign names to POINTS columns, in seconds. Shared by every importer with such keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.imports.fields import number, positive
from pipeline.tables.points import STATISTICS

SPELLINGS = {"mean": ("mean", "avg"), "std": ("std", "stddev"), "p50": ("median", "p50")}
"""Foreign spellings of our statistics, where they are not the same word; the first that is there counts."""


def latency_columns(row: Mapping[str, Any], names: Mapping[str, str], s_per_unit: float) -> dict[str, float]:
    """Columns such as ttft_p50_s from keys such as median_ttft_ms.

    ``names`` maps our latency to the foreign key with {} for the statistic; ``s_per_unit`` is the file's unit in
    seconds. A statistic that is absent, not a finite number, or 0 (all but std) is left out.
    """
    return collected(lambda latency, statistic: row.get(names[latency].format(statistic)), tuple(names), s_per_unit)


def nested_latency_columns(row: Mapping[str, Any], names: Mapping[str, str], s_per_unit: float) -> dict[str, float]:
    """As latency_columns, for one object per latency: ``{"ttft": {"p50": …}}``."""

    def lookup(latency: str, statistic: str) -> object:
        block = row.get(names[latency])
        return block.get(statistic) if isinstance(block, dict) else None

    return collected(lookup, tuple(names), s_per_unit)


def collected(lookup: Callable[[str, str], object], latencies: tuple[str, ...], s_per_unit: float) -> dict[str, float]:
    """The statistics that a lookup by latency and spelling finds, in seconds."""
    found: dict[str, float] = {}
    for latency in latencies:
        for statistic in STATISTICS:
            for spelling in SPELLINGS.get(statistic, (statistic,)):
                raw = lookup(latency, spelling)
                value = number(raw) if statistic == "std" else positive(raw)
                if value is not None and value >= 0:
                    found.setdefault(f"{latency}_{statistic}_s", value * s_per_unit)
    return found
