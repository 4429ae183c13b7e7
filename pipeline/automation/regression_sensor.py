"""The sensor of suspected regressions: each asks for one confirming sweep. Off until somebody switches it on.

Belongs here: what is asked for, once a suspicion. Not here: what a suspicion is (frontier/verdicts.py) and how a
request is tagged (sweep_requests.py).
"""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import dagster as dg

from pipeline.automation import RUN_SWEEP, jobs_named
from pipeline.automation.sweep_requests import gpus_in_use, sweep_request
from pipeline.cell import GpuRun
from pipeline.frontier.verdict_rows import CurveVerdict
from pipeline.frontier.verdicts import N_RUN_DATES_BACK
from pipeline.registry.shipped import measured_recipes, shipped_builds
from resources.clock import Clock
from resources.result_store import ResultStore
from resources.verdict_store import judged_gpus, standing_verdicts

PRIORITY = 5
"""Before what is asked for by the calendar: the doubt is about something that is published."""


@dg.sensor(
    name="confirm_regressions",
    jobs=jobs_named(RUN_SWEEP),
    minimum_interval_seconds=300,
    description="A curve that is suspected of being worse than the one before it is measured once more, the same "
    "recipe and build. Off until it is switched on.",
)
def confirm_regressions(
    context: dg.SensorEvaluationContext, result_store: ResultStore, clock: Clock
) -> dg.SensorResult | dg.SkipReason:
    """One request a suspected curve, ever; a GPU that is in use is left alone."""
    in_use, requests, reasons = gpus_in_use(context.instance), [], []
    for gpu in judged_gpus(result_store):
        for answer in _asked(standing_verdicts(result_store, gpu), clock.today(), in_use):
            if isinstance(answer, str):
                reasons.append(answer)
            else:
                in_use = in_use | {gpu}
                requests.append(answer)
    if requests:
        return dg.SensorResult(run_requests=requests)
    return dg.SkipReason(" ".join(reasons) or "No curve is suspected of a regression.")


def _asked(verdicts: list[CurveVerdict], today: dt.date, in_use: Collection[str]) -> Iterator[dg.RunRequest | str]:
    """At most one request for one GPU, and reasons why there is none for a suspicion."""
    for verdict in verdicts:
        row = verdict.first
        if verdict.state != "suspected" or row["provenance"] != "measured":
            continue
        refusal = _refusal(row, today, in_use)
        if refusal:
            yield f"{row['curve_id']}: {refusal}"
            continue
        in_use = {*in_use, row["gpu"]}
        yield _request(row, today)


def _refusal(row: Mapping[str, Any], today: dt.date, in_use: Collection[str]) -> str | None:
    if row["gpu"] in in_use:
        return f"waits, {row['gpu']} is in use."
    if row["recipe"] not in measured_recipes() or _build_of(row)[0] not in shipped_builds():
        return f"its recipe {row['recipe']} or its build is no longer in the registry."
    if (today - row["run_date"]).days > N_RUN_DATES_BACK:
        return f"is more than {N_RUN_DATES_BACK} days old; the next sweep tells."
    return None


def _request(row: Mapping[str, Any], today: dt.date) -> dg.RunRequest:
    """The same recipe with the same build: today, or once more today where the suspected run is of today."""
    config: dict[str, Any] = {"kind": "measured", "recipes": [row["recipe"]]}
    slug, version = _build_of(row)
    build = shipped_builds()[slug]
    if not build.server and build.version != version:
        config["versions"] = {slug: version}
    if row["run_date"] == today:
        config["repetition"] = row["repetition"] + 1
    return sweep_request(
        GpuRun(row["gpu"], today),
        run_key=f"confirm {row['curve_id']}",
        why=f"confirms a suspected regression of {row['recipe']} on {row['run_date']}",
        config=config,
        priority=PRIORITY,
    )


def _build_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Slug and version of the build that was swept with."""
    slug, version, *_ = row["sweep_build"].split()
    return slug, version
