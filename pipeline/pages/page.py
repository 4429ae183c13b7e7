"""data.json as dataclasses: the published contract of one page section. Building is build.py's, wording wording.py's.

One Page is one model on one GPU under one workload and one provenance. A value that does not exist is null and
has a ``reason`` beside it; a row without a throughput has no engine, no precision and no cost.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from dataclasses import dataclass
from typing import Literal

from pipeline.cost.price_book import PriceCorrection
from pipeline.cost.tco import ComputedRate
from pipeline.pages.curve_record import Basis, CurveHistory, FrontierPoint, Series
from pipeline.pages.point_record import PointRecord
from pipeline.pages.runs import RunRecord

SCHEMA_VERSION = "1.2"

Provenance = Literal["measured", "imported", "simulated"]
PROVENANCE_RANK: dict[Provenance, int] = {"measured": 0, "imported": 1, "simulated": 2}


@dataclass(frozen=True)
class ModelRef:
    """The model of the page."""

    slug: str
    name: str


@dataclass(frozen=True)
class GpuRef:
    """The GPU of the page; ``formats`` are the number formats that its hardware computes in."""

    slug: str
    name: str
    vendor: str
    architecture: str
    formats: tuple[str, ...]


@dataclass(frozen=True)
class WorkloadRef:
    """The workload; ``percentile`` is the one of interactivity and latency on the page. Lengths: null if agentic.

    ``rank`` orders workloads: the lowest comes first.
    """

    slug: str
    name: str
    kind: Literal["agentic", "fixed_length"]
    percentile: int
    description: str
    input_len_tok: int | None
    output_len_tok: int | None
    rank: int


@dataclass(frozen=True)
class EngineRef:
    """A serving engine; ``family`` is the engine that computes under a wrapper."""

    slug: str
    name: str
    family: str


@dataclass(frozen=True)
class Headline:
    """The at_least reading at the primary target, priced at the lowest-ranked tier that has a price.

    ``throughput_tok_s_gpu`` counts input tokens, prefix-cache hits included, and output tokens;
    ``output_share`` is output over all of them, null where the source does not say (``output_share_reason``).
    """

    target_tok_s_user: float
    throughput_tok_s_gpu: float | None
    delivered_tok_s_user: float | None
    basis: Basis
    cost_usd_mtok: float | None
    cost_usd_mtok_computed_input: float | None
    cost_usd_mtok_output: float | None
    price_tier: str | None
    engine: str | None
    precision: str | None
    output_share: float | None
    output_share_reason: str | None
    cache_hit_share: float | None
    cache_hit_share_reason: str | None
    point_ids: tuple[str, ...]
    reason: str | None
    cost_reason: str | None


@dataclass(frozen=True)
class Counts:
    """What the page stands on.

    ``n_series`` curves; ``n_configs`` distinct configurations, concurrency and date aside; ``n_points`` points,
    ``n_invalid_points`` of them invalid. ``n_superseded_points`` come on top: a later attempt stands in their place.
    """

    n_series: int
    n_configs: int
    n_points: int
    n_invalid_points: int
    n_superseded_points: int


@dataclass(frozen=True)
class RunDates:
    """First and last run date of the points that the page stands on, superseded ones left out."""

    first: dt.date
    last: dt.date


@dataclass(frozen=True)
class Freshness:
    """Age of the section's newest valid curve at ``as_of``, and when it is due again.

    ``due_on`` is null, with a reason, where nothing is measured again: imports, simulations, retired GPUs.
    """

    last_run_date: dt.date | None
    age_days: int | None
    due_on: dt.date | None
    overdue: bool
    reason: str | None


@dataclass(frozen=True)
class AtLeast:
    """The reading that takes a target as a minimum speed. ``cost_usd_mtok`` is per million total tokens by tier.

    ``throughput_std_tok_s_gpu`` is the spread of the raw rows over their repeats, null where one was not repeated.
    """

    throughput_tok_s_gpu: float | None
    delivered_tok_s_user: float | None
    basis: Basis
    engine: str | None
    precision: str | None
    throughput_std_tok_s_gpu: float | None
    run_date: dt.date | None
    point_ids: tuple[str, ...]
    cost_usd_mtok: dict[str, float] | None
    output_share: float | None
    output_share_reason: str | None
    cache_hit_share: float | None
    cache_hit_share_reason: str | None
    reason: str | None
    cost_reason: str | None


@dataclass(frozen=True)
class AtTarget:
    """The reading of the reference pages: only curves that span the target. Kept for comparison."""

    throughput_tok_s_gpu: float | None
    engine: str | None
    precision: str | None
    cost_usd_mtok: dict[str, float] | None
    reason: str | None
    cost_reason: str | None


@dataclass(frozen=True)
class LadderRow:
    """Both readings at one speed target."""

    target_tok_s_user: float
    at_least: AtLeast
    at_target: AtTarget


@dataclass(frozen=True)
class CostKinds:
    """USD per million tokens: all dollars over total tokens, over computed input only, over output only."""

    total: float | None
    computed_input: float | None
    output: float | None


@dataclass(frozen=True)
class TierCost:
    """One price row valid at ``as_of``, and the cost of the headline's reading at it.

    ``corrections`` are those of the row, the first one first; ``computed`` is what a computed price (tier tco) was
    computed from, null for a quoted one.
    """

    tier: str
    name: str
    price_id: str
    usd_per_gpu_hour: float
    valid_from: dt.date
    valid_to: dt.date | None
    source: str
    target_tok_s_user: float
    cost_usd_mtok: CostKinds
    cache_hit_share: float | None
    reason: str | None
    corrections: tuple[PriceCorrection, ...] = ()
    computed: ComputedRate | None = None


@dataclass(frozen=True)
class Peak:
    """The valid point of the page with the highest throughput, and the speed it delivers."""

    throughput_tok_s_gpu: float | None
    interactivity_tok_s_user: float | None
    point_id: str | None
    reason: str | None


@dataclass(frozen=True)
class Fastest:
    """The valid point of the page with the lowest TTFT at the default percentile: one point, both its latencies."""

    ttft_s: float | None
    tpot_s: float | None
    percentile: int
    point_id: str | None
    reason: str | None


@dataclass(frozen=True)
class Question:
    """One question and its answer, plain text."""

    question: str
    answer: str


@dataclass(frozen=True)
class Page:
    """One section of a run page, and one data.json.

    ``as_of`` is the day at which prices were read; corrections of prices made after ``corrections_until`` are left out
    (null: none is).
    """

    schema_version: str
    title: str
    banner: str | None
    quick_answer: str
    model: ModelRef
    gpu: GpuRef
    workload: WorkloadRef
    provenance: Provenance
    as_of: dt.date
    headline: Headline
    counts: Counts
    engines: tuple[EngineRef, ...]
    precisions: tuple[str, ...]
    run_dates: RunDates
    freshness: Freshness
    ladder: tuple[LadderRow, ...]
    costs: tuple[TierCost, ...]
    costs_reason: str | None
    peak: Peak
    fastest: Fastest
    series: tuple[Series, ...]
    frontier: tuple[FrontierPoint, ...]
    history: tuple[CurveHistory, ...]
    points: tuple[PointRecord, ...]
    runs: tuple[RunRecord, ...]
    faq: tuple[Question, ...]
    corrections_until: dt.date | None = None


def to_json(page: Page) -> str:
    """The page as data.json: fields in declared order, dates ISO, one newline at the end.

    Raises ValueError for NaN or an infinity: a page is built without them.
    """
    return dumped(page)


def dumped(value: object) -> str:
    """A dataclass as JSON text under the same rules as to_json."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1, default=_plain) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, dt.date):
        return value.isoformat()
    if dataclasses.is_dataclass(value):
        return vars(value)
    raise TypeError(f"{type(value).__name__} has no place in data.json")
