"""The simulated half of a sweep: a plain function over the resources that it needs, one point after another."""

from dataclasses import dataclass

from pipeline.cell import GpuRun
from pipeline.registry.shipped import shipped_registry
from pipeline.sweep.plan import PlannedPoint, Swept
from pipeline.sweep.simulated import Answer, simulated_point, simulated_runs
from pipeline.sweep.simulator_requests import profile_request, replay_request
from pipeline.sweep.traces import trace_lines
from pipeline.tables.points import POINTS
from resources.progress import Progress
from resources.simulator import Simulator, SimulatorSession
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse


@dataclass(frozen=True)
class Simulating:
    """What a simulated sweep needs of the outside."""

    simulator: Simulator
    sweep_store: SweepStore
    warehouse: Warehouse
    progress: Progress


def simulate(outside: Simulating, cell: GpuRun, planned: tuple[PlannedPoint, ...]) -> Swept:
    """Every planned point that is not there yet. Raises SimulatorError; finished points stay."""
    store = outside.sweep_store
    missing = [point for point in planned if not store.has(cell, point.fingerprint)]
    if missing:
        with outside.simulator.session() as session:
            for point in outside.progress.over(missing, f"simulating {cell.gpu}"):
                store.put(cell, point.fingerprint, _simulate(session, outside.warehouse, point, cell), {})
    runs = simulated_runs(planned, store.read(cell, POINTS).to_pylist())
    for run_id, run in runs.items():
        store.put_run(cell, run_id, run)
    return Swept(len(missing), (*(point.fingerprint for point in planned), *runs))


def _simulate(session: SimulatorSession, warehouse: Warehouse, point: PlannedPoint, cell: GpuRun) -> dict[str, object]:
    workload = shipped_registry().workload(point.recipe.workload)
    profile = session.profile(profile_request(point.recipe, workload))
    asked = replay_request(point, workload, profile.facts["n_kv_blocks"])
    said = session.replay(asked, trace_lines(workload, point.concurrency), profile)
    with warehouse.connect() as connection:
        answer = Answer(said["report"], said["requests"], profile.facts)
        return simulated_point(connection, point, workload, cell.run_date, answer)
