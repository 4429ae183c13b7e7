"""The tables of one GPU, split into one PairInput a model. What a page is built from is inputs.py's."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.pages.inputs import GpuInput, PairInput


def pairs(gpu: GpuInput) -> Iterator[PairInput]:
    """One input for every model that has a point on the GPU, by slug."""
    for model in sorted(set(gpu.points["model"].to_pylist())):
        yield PairInput(
            model=model,
            gpu=gpu.gpu,
            points=_of(gpu.points, model),
            knots=_of(gpu.knots, model),
            frontier=_of(gpu.frontier, model),
            across=_of(gpu.across, model),
            history=_of(gpu.history, model),
            costs=_of(gpu.costs, model),
            prices=gpu.prices,
            registry=gpu.registry,
            as_of=gpu.as_of,
            runs=_of(gpu.runs, model),
            corrections=gpu.corrections,
            computed=gpu.computed,
            corrections_until=gpu.corrections_until,
        )


def _of(table: pa.Table, model: str) -> pa.Table:
    return table.filter(pc.equal(table["model"], model))
