"""What a page is built from: the tables of one model on one GPU, and the facts of the site.

Nothing is read here: an asset hands the tables in, already selected for the pair and the as-of date.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from pipeline.cost.price_book import PriceCorrection
from pipeline.cost.tco import ComputedRate
from pipeline.errors import FrontierError
from pipeline.registry.registry import Registry
from pipeline.tables.runs import RUNS

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_FOLDER = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._~%@:+,=-]+"
_ADDRESS = re.compile(f"https?://{_HOST}(?:/{_FOLDER})*/?")


@dataclass(frozen=True)
class GpuInput:
    """One GPU with the rows of all its models.

    ``points`` holds the points that the pages stand on (all workloads and provenances, invalid ones too);
    ``knots`` the newest curve of each series; ``frontier`` the combined frontier over the series of one workload
    and provenance; ``across`` the readings over the series; ``history`` the readings of every run, older ones too;
    ``costs`` and ``prices`` only rows valid at ``as_of``; ``corrections`` those of the price rows by price_id;
    ``computed`` what the computed price was computed from; ``corrections_until`` as on the page; ``runs`` what is
    known of the sweeps behind the points.
    """

    gpu: str
    points: pa.Table
    knots: pa.Table
    frontier: pa.Table
    across: pa.Table
    history: pa.Table
    costs: pa.Table
    prices: pa.Table
    registry: Registry
    as_of: dt.date
    runs: pa.Table = field(default_factory=RUNS.empty, kw_only=True)
    corrections: Mapping[str, tuple[PriceCorrection, ...]] = field(default_factory=dict, kw_only=True)
    computed: ComputedRate | None = field(default=None, kw_only=True)
    corrections_until: dt.date | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class PairInput(GpuInput):
    """One model on one GPU: only the rows of that model."""

    model: str


@dataclass(frozen=True)
class SiteFacts:
    """What every page of one site shares.

    ``base_url`` is the absolute address of the site's root with its last slash, None where it is not known:
    pages link relatively and need it only for the sitemap and for structured data. ``retired_gpus`` are no longer
    swept, and their pages say so.
    """

    name: str = "Serving Frontier"
    base_url: str | None = None
    retired_gpus: frozenset[str] = frozenset()


def site_address(text: str) -> str | None:
    """FRONTIER_BASE_URL with its last slash; None for an empty text. Raises FrontierError for no plain http address."""
    if not text:
        return None
    if not _ADDRESS.fullmatch(text):
        raise FrontierError(
            "not the address of a site",
            where="FRONTIER_BASE_URL",
            expected="http(s)://host/path/ without ?, #, spaces or quotes",
            found=repr(text[:200]),
            next_step="Correct the variable, or unset it.",
        )
    return f"{text.rstrip('/')}/"
