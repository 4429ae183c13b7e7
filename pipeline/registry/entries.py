"""What one registry entry is. The facts are in the TOML and CSV files beside this module; loading is loader.py's."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Slug = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]

COMPUTED_TIER = "tco"
"""The one tier that nobody quotes: its rates come from tco.toml (pipeline/cost/tco.py), never from prices.csv."""


class Entry(BaseModel):
    """Base of all entries: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    aliases: tuple[str, ...] = Field(default=(), strict=False)


class Gpu(Entry):
    """One GPU product, or the CPU host that stands in for one.

    ``memory_gib`` is per GPU; ``all_in_kw`` is data-centre power per GPU (host, network, cooling) in kW,
    None where no source is known; ``formats`` are the number formats that the hardware computes in.
    A retired GPU keeps its partitions and pages. ``host`` is where its sweeps run, a slug of hosts.toml.
    ``stale_after_days``: a page of measured results is due again so many days after its newest run.
    """

    vendor: Literal["NVIDIA", "AMD", "Intel", "any"]
    architecture: str
    memory_gib: float | None = None
    all_in_kw: float | None = None
    all_in_kw_source: str | None = None
    formats: tuple[str, ...] = Field(strict=False)
    retired: bool = False
    host: Slug = "local"
    stale_after_days: Annotated[int, Field(ge=1, le=3_650)] = 30


class Model(Entry):
    """One model, whatever the checkpoint's number format."""

    vendor: str


class Engine(Entry):
    """One serving engine or wrapper. ``family`` is the engine that computes under a wrapper."""

    family: Slug


class Workload(Entry):
    """One workload. ``percentile`` is the default percentile of its points, pages and wording.

    ``input_len_tok`` and ``output_len_tok`` are None for agentic workloads. ``context_tok``: the context of a server
    that agentic sessions are scaled down to; None: not scaled. ``rank`` orders a page's sections: the lowest rank
    with a point is the page's own workload.
    """

    kind: Literal["agentic", "fixed_length"]
    percentile: Literal[50, 90]
    input_len_tok: int | None = None
    output_len_tok: int | None = None
    context_tok: Annotated[int, Field(ge=2_048, le=8_192)] | None = None
    rank: int
    description: str


class Tier(Entry):
    """One price tier. ``rank`` orders tables, from the cheapest quoted one; the lowest rank is the headline's tier."""

    rank: int
    description: str


class Concurrency(BaseModel):
    """A ladder of concurrencies [count]: start, × factor, …, and always the end."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    start: Annotated[int, Field(ge=1, le=100_000)]
    end: Annotated[int, Field(ge=1, le=100_000)]
    factor: Annotated[float, Field(gt=1, le=100, strict=False)]


class OperatorTables(BaseModel):
    """The simulator's operator tables of a recipe: its names of model and system, and the tables' engine version."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: str
    system: str
    version: str


class SimulatedRecipe(Entry):
    """What a sweep puts on one GPU: a deployment, a workload and a ladder. One recipe makes one curve.

    GPUs held = tp × pp; ``ep`` reuses tp's. ``precision`` is the number format that the tables were measured in.
    """

    provenance: Literal["simulated"]
    model: Slug
    gpu: Slug
    engine: Slug
    precision: Literal["fp8"]
    workload: Slug
    tp: Annotated[int, Field(ge=1, le=72)]
    pp: Annotated[int, Field(ge=1, le=16)]
    ep: Annotated[int, Field(ge=1, le=72)]
    concurrency: Concurrency
    tables: OperatorTables


def _one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("one line of text is expected")
    return text


Line = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_one_line)]

MAX_USD_PER_GPU_HOUR = 1000


class Price(BaseModel):
    """One rate of one GPU and tier from ``valid_from`` until the day before ``valid_to`` (None: still valid).

    A row that was published wrong stays: from ``corrected_on`` on the book says something else, in a row of the same
    ``price_id`` that it has had since that day (``recorded_on``). None: said from the beginning; still said.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    gpu: Slug
    tier: Slug
    usd_per_gpu_hour: Annotated[float, Field(gt=0, le=MAX_USD_PER_GPU_HOUR, allow_inf_nan=False)]
    valid_from: dt.date
    valid_to: dt.date | None
    source: Line
    recorded_on: dt.date | None = None
    corrected_on: dt.date | None = None
    correction_reason: Line | None = None

    @property
    def price_id(self) -> str:
        """gpu/tier/valid_from: names the row, and the rows that corrected it, wherever a cost was computed from it."""
        return f"{self.gpu}/{self.tier}/{self.valid_from}"

    @property
    def replaced(self) -> bool:
        """Whether a correction stands in the row's place."""
        return self.corrected_on is not None

    def overlaps(self, other: Price) -> bool:
        """Whether the book says both, of one GPU and tier, of the same day on the same day."""
        return (
            (self.gpu, self.tier) == (other.gpu, other.tier)
            and _meet((self.valid_from, self.valid_to), (other.valid_from, other.valid_to))
            and _meet((self.recorded_on, self.corrected_on), (other.recorded_on, other.corrected_on))
        )


Days = tuple[dt.date | None, dt.date | None]


def _meet(a: Days, b: Days) -> bool:
    """Whether two intervals of days share one; None: without a beginning or an end."""
    first = max(a[0] or dt.date.min, b[0] or dt.date.min)
    return first < min(a[1] or dt.date.max, b[1] or dt.date.max)
