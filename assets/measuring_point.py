"""One point of a measured sweep on a server that runs: calibrate the client, send the load, watch the device."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from pipeline.builds.plan import Plan
from pipeline.cell import GpuRun
from pipeline.measure.client import ClientFacts
from pipeline.measure.counters import read_counters
from pipeline.measure.device import ELSEWHERE, DeviceIdentity, without_strangers
from pipeline.registry.shipped import shipped_plan
from pipeline.sweep.broken_off import next_attempt
from pipeline.sweep.load import PointLoad
from pipeline.sweep.measured import MeasuredPoint, Measurement, PointFacts, measured_point
from pipeline.sweep.measured_plan import PlannedRun
from pipeline.tables.points import POINTS
from resources.bench import Bench
from resources.borrowed_server import BorrowedServer
from resources.built import Built
from resources.clock import Clock
from resources.host_probe import Sampler
from resources.load_generator import Endpoint, LoadAnswer
from resources.progress import Progress
from resources.running_server import RunningServer
from resources.sweep_store import SweepStore
from resources.warehouse import Warehouse

Server = RunningServer | BorrowedServer


@dataclass(frozen=True)
class Measuring:
    """What a measured sweep needs of the outside. ``plan`` says of a build which version it is measured at.

    ``repetition``: 1, or which further run of the same day is measured.
    """

    bench: Bench
    sweep_store: SweepStore
    warehouse: Warehouse
    clock: Clock
    progress: Progress
    plan: Callable[[str], Plan] = shipped_plan
    repetition: int = 1


@dataclass(frozen=True)
class Prepared:
    """A run with what stands behind it here: builds, weights (folder or name), device (or ELSEWHERE)."""

    run: PlannedRun
    cell: GpuRun
    engine: Built
    client: Built
    weights: str
    device: DeviceIdentity


def measure_point(outside: Measuring, prepared: Prepared, server: Server, concurrency: int) -> MeasuredPoint:
    """One concurrency. A load that fails, or a server that ends, is a row with reasons. Raises LoadError."""
    bench, say, facts = outside.bench, outside.progress.say, point_facts(outside, prepared, concurrency)
    error = bench.calibration.error(bench.client, prepared.client, concurrency, outside.clock.today(), say)
    server.flush_cache()
    before = read_counters(server.metrics())
    with _sampling(bench, prepared, server) as sampler:
        answer = bench.client.run(
            prepared.client,
            _load(prepared, server.model_name, facts),
            Endpoint(server.url, server.api_key),
            server.ended,
            say,
        )
    if answer.ended:
        say(f"concurrency {concurrency}: {answer.ended}")
    measurement = Measurement(
        repeats=answer.repeats,
        samples=without_strangers(sampler.rows()) if prepared.engine.build.server else sampler.rows(),
        before=before,
        after=read_counters(server.metrics()),
        client=_client(answer, error.tpot_share),
        engine_ended=server.ended(),
        load_ended=answer.ended,
    )
    with outside.warehouse.connect() as connection:
        return measured_point(connection, facts, measurement)


def _sampling(bench: Bench, prepared: Prepared, server: Server) -> AbstractContextManager[Sampler]:
    """Samples of the device; none of one that is elsewhere."""
    if prepared.device == ELSEWHERE:
        return nullcontext(Sampler())
    return bench.probe.sampling(prepared.cell.gpu, server.pids)


def _load(prepared: Prepared, model_name: str, facts: PointFacts) -> PointLoad:
    """The seed follows from the point and the attempt: no two points of a server send the same prompts."""
    run = prepared.run
    return PointLoad(
        model_name=model_name,
        workload=run.workload,
        concurrency=facts.concurrency,
        load=run.recipe.load,
        seed=int(facts.fingerprint[:7], 16) + facts.attempt - 1,
        tokenizer=prepared.weights,
    )


def _client(answer: LoadAnswer, error_share: float) -> ClientFacts:
    return ClientFacts(
        error_share=error_share,
        cpu_cores=answer.client_cpu_cores,
        input_tok=answer.counted.input_tok,
        output_tok=answer.counted.output_tok,
        n_reused_prompts=answer.counted.n_reused_prompts,
        n_without_usage=answer.counted.n_without_usage,
    )


def point_facts(outside: Measuring, prepared: Prepared, concurrency: int) -> PointFacts:
    """What is known of a point's next attempt. All points of a run carry the start of the first that was finished."""
    run = prepared.run
    rows = outside.sweep_store.read(prepared.cell, POINTS).to_pylist()
    attempt = next_attempt(run.rows_of(rows), concurrency)
    started = [row["run_started_at"] for row in rows if row["run_id"] == run.run_id]
    return PointFacts(
        recipe_slug=run.slug,
        recipe=run.recipe,
        topology=run.topology,
        workload=run.workload,
        concurrency=concurrency,
        run_id=run.run_id,
        run_date=prepared.cell.run_date,
        run_started_at=min(started, default=outside.clock.now()),
        engine_build=run.made.engine_build,
        fingerprint=run.point_name(concurrency, attempt),
        device=prepared.device,
        attempt=attempt,
    )
