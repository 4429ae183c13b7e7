"""What a page is built from: the tables of one model on one GPU, and the facts of the site.

Nothing is read here: an asset hands the tables in, already selected for the pair and the as-of date.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import pyarrow as pa

from pipeline.registry.registry import Registry


@dataclass(frozen=True)
class GpuInput:
    """One GPU with the rows of all its models.

    ``points`` holds the points that the pages stand on (all workloads and provenances, invalid ones too);
    ``knots`` the newest curve of each series; ``frontier`` the combined frontier over the series of one workload
    and provenance; ``across`` the readings over the series; ``costs`` and ``prices`` only rows valid at ``as_of``.
    """

    gpu: str
    points: pa.Table
    knots: pa.Table
    frontier: pa.Table
    across: pa.Table
    costs: pa.Table
    prices: pa.Table
    registry: Registry
    as_of: dt.date


@dataclass(frozen=True)
class PairInput(GpuInput):
    """One model on one GPU: only the rows of that model."""

    model: str


@dataclass(frozen=True)
class SiteFacts:
    """What every page of one site shares.

    ``base_url`` is the absolute address of the site's root with its last slash, None where it is not known:
    pages link relatively and need it only for the sitemap and for structured data.
    """

    name: str = "Serving Frontier"
    base_url: str | None = None
