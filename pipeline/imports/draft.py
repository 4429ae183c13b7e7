"""What an importer makes of one foreign row, before facts are settled and the point is assembled.

Belongs here: the shapes that importers fill in. Not here: merging with declarations (facts.py), GPUs, throughput and
validity (assemble.py).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pipeline.imports.names import said_by_name
from pipeline.imports.source import Declared, SourceFile
from pipeline.registry.registry import Registry


@dataclass(frozen=True)
class Job:
    """One file to import: its bytes, what is declared of it, and the registry to read it by."""

    source: SourceFile
    declared: Declared
    registry: Registry

    @cached_property
    def name_says(self) -> dict[str, str | int]:
        """What the file's name says, by POINTS column."""
        return said_by_name(self.source.name, self.registry)

    def slug(self, kind: str, spelling: str) -> str | None:
        """The registry slug of a gpu, model, engine or workload; looked up once a spelling. None if unknown."""
        if (kind, spelling) not in self._slugs:
            self._slugs[kind, spelling] = getattr(self.registry, f"{kind}_slug")(spelling)
        return self._slugs[kind, spelling]

    @cached_property
    def _slugs(self) -> dict[tuple[str, str], str | None]:
        return {}


@dataclass(frozen=True)
class Recorded:
    """What the row itself says, in its own spelling. Names are those of Declared; None is not said."""

    gpu: str | None = None
    n_gpus: int | None = None
    engine: str | None = None
    engine_build: str | None = None
    precision: str | None = None
    model: str | None = None
    workload: str | None = None
    input_len_tok: int | None = None
    output_len_tok: int | None = None
    run_date: dt.date | None = None
    run_id: str | None = None
    spec_method: str | None = None
    disaggregated: bool | None = None
    multinode: bool | None = None
    kv_offload: str | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp_attention: bool | None = None
    n_workers: int | None = None
    run_url: str | None = None


@dataclass(frozen=True)
class Lengths:
    """Weaker evidence of the nominal lengths [tok], for rows that do not record them as such.

    ``dataset_*`` are the load client's own options; ``mean_*`` are means over requests; ``input_per_output`` is the
    ratio of the two means where only throughputs are known.
    """

    dataset_input_tok: int | None = None
    dataset_output_tok: int | None = None
    mean_input_tok: float | None = None
    mean_output_tok: float | None = None
    input_per_output: float | None = None


@dataclass
class Draft:
    """One foreign row in our names and units.

    ``columns`` are POINTS columns as recorded; ``requests`` are REQUESTS rows without point_id; ``steady_tok_s`` is
    the deployment's tokens per second in its steady state, to be divided by GPUs held.
    """

    recorded: Recorded
    columns: dict[str, Any] = field(default_factory=dict)
    lengths: Lengths = Lengths()
    requests: list[dict[str, Any]] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)
    steady_tok_s: float | None = None


def without_nulls(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that have a value."""
    return {key: value for key, value in columns.items() if value is not None}
