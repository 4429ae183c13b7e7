"""What one measured recipe is: a deployment of real servers on one GPU product, its load, and when to stop.

Belongs here: the fields of recipes_measured.toml and what each of them means. Not here: the engine's flags that follow
from them (pipeline/sweep/launch_line.py), and the points that they expand to (pipeline/sweep).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipeline.registry.entries import Concurrency, Entry, Slug

Size = Annotated[int, Field(ge=1, le=1024)]
Seconds = Annotated[float, Field(gt=0, le=86_400, strict=False)]


class _Part(BaseModel):
    """A table inside a block: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Sizes(_Part):
    """The workers of one kind.

    ``dp`` is data-parallel attention over the tp GPUs (it holds none of its own); ``n_workers`` are whole replicas.
    """

    tp: Size
    pp: Size = 1
    ep: Size = 1
    dp: Size = 1
    n_workers: Size = 1

    @property
    def n_gpus(self) -> int:
        """GPUs that they hold."""
        return self.tp * self.pp * self.n_workers


class Topology(Sizes):
    """One deployment: a server, up once, on which the whole ladder is measured.

    ``launch`` are further arguments of the engine for this topology only. ``prefill`` are the workers that prefill
    where others decode, and then the sizes beside it are those of decode; None: every worker does both. Only a server
    that runs already can be of such a kind: none is started so.
    """

    launch: tuple[str, ...] = Field(default=(), strict=False)
    prefill: Sizes | None = None

    @property
    def n_gpus(self) -> int:
        """GPUs held, over both kinds of workers."""
        return super().n_gpus + (self.prefill.n_gpus if self.prefill else 0)


class Load(_Part):
    """How a point is measured: each repeat is a warm-up at the target concurrency, then ``window_s`` seconds.

    A request that is in flight at the end of the window has ``grace_s`` to end. ``prompts`` is a file of real prompts
    or a trace in Mooncake or Weka form; None: made from the workload's lengths. ``scenario``: agentx asks the load
    generator for its own published scenario, which needs the corpus of a hub and at least 900 s.
    """

    repeats: Annotated[int, Field(ge=1, le=20)] = 3
    warmup_s: Seconds = 10.0
    window_s: Seconds = 60.0
    grace_s: Seconds = 30.0
    prompts: str | None = None
    scenario: Literal["agentx"] | None = None


class Limits(_Part):
    """When the ladder ends, and when something counts as stuck.

    ``max_failed_share``: of requests, above it the ladder goes no higher. ``plateau_share``: a rung that adds less
    throughput than this share is the last. ``silence_s``: seconds without any sign of life before a server that starts
    or a load that runs is ended. ``max_concurrency`` bounds what the ladder may add above its end.
    """

    max_failed_share: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.05
    plateau_share: Annotated[float, Field(ge=0, lt=1, strict=False)] = 0.02
    max_concurrency: Annotated[int, Field(ge=1, le=100_000)] = 4096
    silence_s: Seconds = 300.0


class MeasuredRecipe(Entry):
    """What a sweep measures on one GPU product. One recipe makes one curve; its points are topology × concurrency.

    ``build`` is a block of builds.toml. ``weights`` is what the engine loads: a hub name, a folder, or made:<name>,
    a model that is made on the spot (pipeline/sweep/made_models.py). ``launch`` are further arguments of the engine,
    ``variables`` its environment. Of a build that is a running server, ``weights`` name the tokenizer, there is one
    topology, which is what its owner says it is, and there are neither arguments nor variables.
    """

    provenance: Literal["measured"]
    model: Slug
    gpu: Slug
    engine: Slug
    precision: Literal["fp4", "fp8", "int8", "bf16", "fp16", "fp32"]
    workload: Slug
    build: Slug
    weights: str
    spec_method: str = "none"
    kv_offload: str = "none"
    launch: tuple[str, ...] = Field(default=(), strict=False)
    variables: dict[str, str] = Field(default={})
    topologies: Annotated[tuple[Topology, ...], Field(min_length=1, strict=False)]
    concurrency: Concurrency
    load: Load = Load()
    limits: Limits = Limits()
