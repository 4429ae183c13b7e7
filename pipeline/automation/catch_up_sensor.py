"""The sensor that catches up: derives what a sweep stored before it failed, and asks again for what failed to derive.

Belongs here: what is asked for, and when again. Not here: which runs did not make what they were for
(resources/unmade.py). It is on, as automation is: it makes things of what is stored, and never measures.
"""

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import dagster as dg

from pipeline.automation import BUILD_PAGES, DERIVE_CELL, PUBLISH_SITE, jobs_named
from pipeline.automation.sweep_requests import ACTIVE, WHY_TAG
from pipeline.cell import parse_cell
from pipeline.errors import StoreError
from pipeline.registry.shipped import shipped_registry
from resources.clock import Clock
from resources.result_store import ResultStore
from resources.source_points import lacks_points
from resources.sweep_store import SweepStore
from resources.unmade import Unmade, unmade_asset, unmade_partitions

NAME = "catch_up"
TRY_TAG = "frontier/try"
"""How often in a row this sensor has asked for it; what others ask for has none."""

WAITS = (dt.timedelta(minutes=5), dt.timedelta(minutes=30), dt.timedelta(hours=3), dt.timedelta(hours=6))
"""After the first, second, third, and any later failure in a row. Never given up: automation does not ask again for
what failed, so a cause that somebody has mended (a full disk) would never be noticed."""

N_AT_ONCE = 10
"""Runs of this sensor that may wait or go on at a time: a price for a thousand cells may fail in one run."""

FAILED = (dg.DagsterRunStatus.FAILURE,)
ENDED = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
JOBS = {
    "raw_results": DERIVE_CELL,
    "frontier": DERIVE_CELL,
    "cost_tables": DERIVE_CELL,
    "page_data": BUILD_PAGES,
}


@dg.sensor(
    name=NAME,
    jobs=jobs_named(DERIVE_CELL, BUILD_PAGES, PUBLISH_SITE),
    minimum_interval_seconds=120,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Derives the points that a failed or stopped sweep left, once a sweep. What failed to derive or to "
    "publish is asked for again after 5 min, 30 min, 3 h, then every 6 h. Sweeps nothing.",
)
def catch_up(
    context: dg.SensorEvaluationContext, clock: Clock, result_store: ResultStore, sweep_store: SweepStore
) -> dg.SensorResult:
    """At most ``N_AT_ONCE`` requests; the cursor holds the runs of ended sweeps that were looked at."""
    known = frozenset(json.loads(context.cursor or "[]"))
    look = _Look(context.instance, clock.now(), result_store, sweep_store, known)
    asked = [*look.after_sweeps(), *look.after_failures()]
    for reason in look.reasons if asked else ():
        context.log.info(reason)
    return dg.SensorResult(
        run_requests=asked,
        skip_reason=None if asked else dg.SkipReason(" ".join(look.reasons) or "Nothing is left behind."),
        cursor=json.dumps(sorted(look.looked_at)),
    )


@dataclass
class _Look:
    """One look at the instance; fills ``reasons`` with what waits, and ``looked_at`` with runs of ended sweeps."""

    instance: dg.DagsterInstance
    now: dt.datetime
    result_store: ResultStore
    sweep_store: SweepStore
    known: frozenset[str]
    reasons: list[str] = field(default_factory=list)
    looked_at: set[str] = field(default_factory=set)

    def after_sweeps(self) -> list[dg.RunRequest]:
        """One derivation of each cell whose sweep ended without its end, where it left points that are not derived."""
        ended = [sweep for sweep in unmade_partitions(self.instance, "sweep", ENDED) if _is_of_registry(sweep)]
        return [_derivation(sweep) for sweep in ended if self._left_points(sweep)]

    def after_failures(self) -> list[dg.RunRequest]:
        """What failed and is due again, the longest ago first."""
        failed = sorted(self._failed(), key=lambda job_and_unmade: job_and_unmade[1].ended_at)
        due = [_again(job, unmade) for job, unmade in failed if self._is_due(job, unmade)]
        going_on = dg.RunsFilter(statuses=ACTIVE, tags={"dagster/sensor_name": NAME})
        room = max(0, N_AT_ONCE - len(self.instance.get_runs(going_on)))
        if due[room:]:
            self.reasons.append(f"{len(due) - room} more wait: {N_AT_ONCE} at a time.")
        return due[:room]

    def _left_points(self, sweep: Unmade) -> bool:
        """Asked once a sweep's run; where the files cannot be read now, at the next look again."""
        run_id, cell = sweep.run.run_id, parse_cell(sweep.partition)
        left = False
        if run_id not in self.known:
            try:
                self.sweep_store.pull(cell)
                left = lacks_points(self.result_store, self.sweep_store, cell)
            except StoreError as error:
                self.reasons.append(str(error))
                return False
        self.looked_at.add(run_id)
        return left

    def _failed(self) -> Iterable[tuple[str, Unmade]]:
        """Each job and partition that is to be asked for again, with its newest failure."""
        newest: dict[tuple[str, str], Unmade] = {}
        for asset, job in JOBS.items():
            for unmade in filter(_is_of_registry, unmade_partitions(self.instance, asset, FAILED)):
                key = (job, unmade.partition)
                newest[key] = max(newest.get(key, unmade), unmade, key=lambda one: one.ended_at)
        sites = [(PUBLISH_SITE, unmade) for unmade in unmade_asset(self.instance, "site", FAILED)]
        return [*((job, unmade) for (job, _), unmade in newest.items()), *sites]

    def _is_due(self, job: str, unmade: Unmade) -> bool:
        due_at = unmade.ended_at + WAITS[min(_n_tries(unmade), len(WAITS) - 1)]
        if due_at > self.now:
            about = f"{job} {unmade.partition}".strip()
            self.reasons.append(
                f"{about} failed (run {unmade.run.run_id[:8]}) and is asked for again at {due_at:%Y-%m-%d %H:%M} UTC."
            )
        return due_at <= self.now


def _is_of_registry(unmade: Unmade) -> bool:
    """Whether its GPU has a block under that slug; a renamed one's cells are derived under its new slug."""
    return unmade.partition.partition("|")[0] in shipped_registry().gpus


def _n_tries(unmade: Unmade) -> int:
    return int(unmade.run.tags.get(TRY_TAG, "0"))


def _derivation(sweep: Unmade) -> dg.RunRequest:
    why = f"the sweep of run {sweep.run.run_id[:8]} ended early; what it finished is derived"
    key = f"derive {sweep.partition} after {sweep.run.run_id}"
    return dg.RunRequest(job_name=DERIVE_CELL, run_key=key, partition_key=sweep.partition, tags={WHY_TAG: why})


def _again(job: str, unmade: Unmade) -> dg.RunRequest:
    """The key names the failed run: one request a failure."""
    n_tries = _n_tries(unmade) + 1
    return dg.RunRequest(
        job_name=job,
        run_key=f"again {job} {unmade.partition} {unmade.run.run_id}",
        partition_key=unmade.partition or None,
        tags={WHY_TAG: f"run {unmade.run.run_id[:8]} failed; try {n_tries} again", TRY_TAG: str(n_tries)},
    )
