"""What a sweep will measure: recipes to runs, one a topology; a run's points come one by one from the stop rule.

Belongs here: the identity of a run and of its points. Not here: which concurrency is next (stop_rule.py), how a server
is started (launch_line.py), and simulated points (plan.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.cell import GpuRun
from pipeline.measure.topology import n_gpus_held
from pipeline.measure.topology import topology as spelled_of
from pipeline.registry.entries import Workload
from pipeline.registry.measured import MeasuredRecipe, Sizes, Topology
from pipeline.sweep.fingerprint import fingerprint

LOAD_GENERATOR_BUILD = "aiperf"
"""The engine build (registry/builds.toml) whose interpreter runs the load generator."""

METHOD_VERSION = 1
"""Goes up when this project measures the same recipe differently (load, windows, launch lines)."""


_AGAIN = "-r"
"""Between a run and the number of its repetition, from the second on."""


@dataclass(frozen=True)
class Made:
    """What stands behind a recipe here: engine build (slug, version, hash), hash of the weights, hash of the client."""

    engine_build: str
    weights: str
    load_generator: str


@dataclass(frozen=True)
class PlannedRun:
    """One topology of one recipe on one cell. ``run_id`` is that of all its topologies: one curve is one run."""

    slug: str
    recipe: MeasuredRecipe
    topology: Topology
    workload: Workload
    made: Made
    run_id: str

    @property
    def spelled(self) -> str:
        """The topology as in POINTS."""
        return spelled(self.topology)

    @property
    def name(self) -> str:
        """Names the run's file: run id and topology."""
        return f"{self.run_id}-{self.spelled.replace(' ', '-').replace('×', 'x')}"

    def fingerprint(self, concurrency: int) -> str:
        """Names one point: its ladder and limits are not in it, so that a longer ladder keeps what is there."""
        return fingerprint([self.run_id, self.topology.model_dump(exclude_none=True), concurrency])

    def point_name(self, concurrency: int, attempt: int) -> str:
        """Names the files of one attempt: the fingerprint, with the attempt's number behind it from the second on."""
        named = self.fingerprint(concurrency)
        return named if attempt == 1 else f"{named}-{attempt}"

    def repeated(self, repetition: int) -> PlannedRun:
        """The same as a further run of the day, from 2 on: it shares no point with the others and resumes like them."""
        return self if repetition == 1 else dataclasses.replace(self, run_id=f"{self.run_id}{_AGAIN}{repetition}")

    def names_of(self, points: Iterable[Mapping[str, Any]]) -> list[str]:
        """Names of the files of this run and of its repetitions on the cell: of the runs, and of their POINTS rows."""
        names = [self.name]
        for row in points:
            if (_first(row["run_id"]), row["topology"]) == (_first(self.run_id), self.spelled):
                run = dataclasses.replace(self, run_id=row["run_id"])
                names += [run.name, run.point_name(row["concurrency"], row["attempt"])]
        return names

    def rows_of(self, points: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those rows of POINTS that are of this run and topology."""
        return [row for row in points if (row["run_id"], row["topology"]) == (self.run_id, self.spelled)]


def planned_runs(
    slug: str, recipe: MeasuredRecipe, workload: Workload, made: Made, cell: GpuRun
) -> tuple[PlannedRun, ...]:
    """The runs of one recipe on one cell, in the order of its topologies."""
    depends_on = {
        "recipe": recipe.model_dump(exclude={"name", "aliases", "concurrency", "limits", "topologies"}),
        "workload": workload.model_dump(exclude={"name", "aliases", "rank", "description"}),
        "made": [made.engine_build, made.weights, made.load_generator],
        "method": METHOD_VERSION,
        "run_date": cell.run_date.isoformat(),
    }
    run_id = f"measured-{fingerprint(depends_on)}"
    return tuple(PlannedRun(slug, recipe, topology, workload, made, run_id) for topology in recipe.topologies)


def _first(run_id: str) -> str:
    """The first run of which this is a repetition."""
    return run_id.partition(_AGAIN)[0]


def spelled(topology: Topology) -> str:
    """The canonical spelling of a deployment, as every importer writes it: tp8 ep8 dpa, 2×tp4."""
    return str(deployment(topology)["topology"])


def deployment(topology: Topology) -> dict[str, Any]:
    """The POINTS columns of a deployment: the sizes of its workers, its spelling and the GPUs held."""
    columns: dict[str, Any] = {**_sizes(topology, ""), "disaggregated": topology.prefill is not None}
    if topology.prefill:
        columns |= _sizes(topology.prefill, "prefill_")
        n_prefill = topology.prefill.n_gpus
        columns |= {"n_gpus_prefill": n_prefill, "n_gpus_decode": topology.n_gpus - n_prefill}
    return {**columns, "topology": spelled_of(columns), "n_gpus": n_gpus_held(columns)}


def _sizes(sizes: Sizes, prefix: str) -> dict[str, Any]:
    said = {name: getattr(sizes, name) for name in ("tp", "pp", "ep", "n_workers")}
    return {f"{prefix}{name}": value for name, value in {**said, "dp_attention": sizes.dp > 1}.items()}
