"""sweep: the points of one GPU's recipes on one day, one file a point. For now every recipe is simulated."""

import datetime as dt
from typing import Any

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.evidence import column_schema, data_version, markdown_table
from pipeline.cell import GpuRun, parse_cell
from pipeline.errors import SweepRefusedError
from pipeline.partitions import builds_of_sweeps, cell_partitions
from pipeline.registry.shipped import shipped_recipes, shipped_registry
from pipeline.sweep.plan import PlannedPoint, plan
from pipeline.sweep.simulated import Answer, simulated_point
from pipeline.sweep.simulator_requests import profile_request, replay_request
from pipeline.sweep.traces import trace_lines
from pipeline.tables.points import POINTS
from resources.clock import Clock
from resources.progress import Progress
from resources.simulator import Simulator, SimulatorSession
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse

SHOWN = ("workload", "engine", "topology", "concurrency", "interactivity_tok_s_user", "throughput_tok_s_gpu")


class SweepRequest(dg.Config):
    """Whether a past day may be measured again: its points would not be of that day."""

    measure_again: bool = Field(default=False, description="measure although the run date is past")


@dg.asset(
    partitions_def=cell_partitions,
    deps=[dg.AssetDep("engine_builds", partition_mapping=builds_of_sweeps)],
    group_name="raw",
    kinds={"python", "parquet"},
    metadata=column_schema(POINTS),
    description="Points of one GPU's recipes on one day, one file a point; a rerun goes on where the last one ended.",
)
def sweep(
    context: dg.AssetExecutionContext,
    config: SweepRequest,
    simulator: Simulator,
    sweep_store: SweepStore,
    warehouse: Warehouse,
    clock: Clock,
    progress: Progress,
) -> dg.MaterializeResult:
    """One row is one concurrency of one recipe. No backfill policy and no automation: nothing sweeps by accident."""
    cell = parse_cell(context.partition_key)
    _refuse_past(cell, clock.today(), config)
    planned = plan(shipped_recipes(), cell.gpu)
    missing = [point for point in planned if not sweep_store.has(cell, point.fingerprint)]
    if missing:
        with simulator.session() as session:
            for point in progress.over(missing, f"simulating {cell.gpu}"):
                sweep_store.put(cell, point.fingerprint, _simulate(session, warehouse, point, cell.run_date))
    n_replaced = sweep_store.keep_only(cell, [point.fingerprint for point in planned])
    counts = {"n_points": len(planned), "n_points_measured_now": len(missing), "n_points_of_old_plans": n_replaced}
    return dg.MaterializeResult(
        metadata=counts | _shown(sweep_store.read(cell)), data_version=data_version(sweep_store.hashes(cell))
    )


def _refuse_past(cell: GpuRun, today: dt.date, config: SweepRequest) -> None:
    if cell.run_date < today and not config.measure_again:
        raise SweepRefusedError(
            "the run date is past, and a sweep says what is true on its day",
            where=f"sweep {cell.key}",
            expected=today.isoformat(),
            found=cell.run_date.isoformat(),
            next_step="Sweep today, or say that it is to be measured again (measure_again: true).",
        )


def _simulate(
    session: SimulatorSession, warehouse: Warehouse, point: PlannedPoint, run_date: dt.date
) -> dict[str, object]:
    workload = shipped_registry().workload(point.recipe.workload)
    profile = session.profile(profile_request(point.recipe, workload))
    asked = replay_request(point, workload, profile.facts["n_kv_blocks"])
    said = session.replay(asked, trace_lines(workload, point.concurrency), profile)
    with warehouse.connect() as connection:
        answer = Answer(said["report"], said["requests"], profile.facts)
        return simulated_point(connection, point, workload, run_date, answer)


def _shown(points: pa.Table) -> dict[str, Any]:
    n_valid = sum(points["valid"].to_pylist())
    return {"n_invalid_points": points.num_rows - n_valid, "points": markdown_table(points.select(SHOWN).to_pylist())}
