"""The sensor of new engine releases: builds them, then sweeps with them. Off until somebody switches it on.

Belongs here: what is asked for, and how often. Not here: which version is newer (builds/releases.py), the package index
(resources/release_index.py), and the jobs (__init__.py of this package). Nothing here edits the registry: a release
that is to stay gets a block and a lock there by hand.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

from pipeline.automation import BUILD_ENGINE, RUN_SWEEP, jobs_named
from pipeline.automation.sweep_requests import gpus_in_use, sweep_request
from pipeline.builds.plan import Plan
from pipeline.builds.releases import is_newer, newest_of
from pipeline.cell import GpuRun
from pipeline.errors import BuildError
from pipeline.registry.shipped import measured_recipes, shipped_builds, shipped_plan, shipped_registry
from resources.bench import Bench
from resources.clock import Clock
from resources.release_index import ReleaseIndex


@dg.sensor(
    name="new_releases",
    jobs=jobs_named(BUILD_ENGINE, RUN_SWEEP),
    minimum_interval_seconds=3600,
    description="A release that is newer than the newest finished build of its engine is built, then swept with. Off "
    "until it is switched on; it then sweeps every GPU of this host that has a recipe of the engine.",
)
def new_releases(
    context: dg.SensorEvaluationContext, release_index: ReleaseIndex, bench: Bench, clock: Clock
) -> dg.SensorResult | dg.SkipReason:
    """One build request per engine and day, one sweep per release and GPU; a GPU that is in use is left alone."""
    look = _Look(release_index, bench, clock.today(), gpus_in_use(context.instance))
    answers: list[dg.RunRequest | str] = []
    try:
        for plan in followed():
            answers.extend(look.at(plan))
    except BuildError as error:  # the index does not answer: the next build would not be answered either
        answers = [*(a for a in answers if isinstance(a, dg.RunRequest)), str(error)]
    requests = [answer for answer in answers if isinstance(answer, dg.RunRequest)]
    reasons = [answer for answer in answers if isinstance(answer, str)]
    return dg.SensorResult(run_requests=requests) if requests else dg.SkipReason(" ".join(reasons))


def followed() -> list[Plan]:
    """The builds of the registry whose releases are followed."""
    builds = shipped_builds().items()
    return [shipped_plan(slug) for slug, build in builds if build.environment and build.environment.releases]


@dataclass(frozen=True)
class _Look:
    """One look at every followed build; ``in_use`` grows by the GPUs that it asks a sweep for."""

    release_index: ReleaseIndex
    bench: Bench
    today: dt.date
    in_use: set[str]

    def at(self, plan: Plan) -> Iterator[dg.RunRequest | str]:
        """What to run for one build, or the reason why nothing. Raises BuildError where the index does not answer."""
        finished = newest_of(self._finished(plan))
        if finished is None:
            yield f"{plan.slug} is not built here."
            return
        newest = self.release_index.newest(plan)
        if is_newer(newest, finished):
            yield self._build(plan, newest)
        elif is_newer(finished, plan.build.version):
            yield from self._sweeps(plan, finished)
        else:
            yield f"{plan.slug} {finished} is built, and the newest release is {newest}."

    def _finished(self, plan: Plan) -> list[str]:
        candidates = {plan.build.version: plan, **self.release_index.candidates(plan)}
        return [version for version, made in candidates.items() if self.bench.builder.find(made)]

    def _build(self, plan: Plan, version: str) -> dg.RunRequest:
        return dg.RunRequest(
            job_name=BUILD_ENGINE,
            run_key=f"release {plan.build.engine} {self.today}",
            partition_key=plan.slug,
            run_config={"ops": {"engine_builds": {"config": {"version": version}}}},
            tags={"frontier/release": f"{plan.slug} {version}"},
        )

    def _sweeps(self, plan: Plan, version: str) -> Iterator[dg.RunRequest | str]:
        measured = {recipe.gpu for recipe in measured_recipes().values() if recipe.build == plan.slug}
        gpus = sorted(measured & set(self.bench.probe.present()) & shipped_registry().swept_gpus)
        if not gpus:
            yield f"{plan.slug} {version} is built; no GPU of this host has a recipe of it."
        for gpu in gpus:
            if gpu in self.in_use:
                yield f"{plan.slug} {version} waits: {gpu} is in use."
                continue
            self.in_use.add(gpu)
            yield self._sweep(plan, version, gpu)

    def _sweep(self, plan: Plan, version: str, gpu: str) -> dg.RunRequest:
        return sweep_request(
            GpuRun(gpu, self.today),
            run_key=f"sweep {plan.slug} {version} {gpu}",
            why=f"release {plan.slug} {version}",
            config={"kind": "measured", "versions": {plan.slug: version}},
        )
