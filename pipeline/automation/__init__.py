"""When something derived is made again: named automation conditions, the sensor that evaluates them, jobs, schedules.

Beside it: the schedules and sensors that ask for sweeps and imports, or tell people. This package and partitions.py are
the only Dagster of the domain. No condition ever reaches a sweep: a price or a refactoring never starts a benchmark.
"""

from typing import Any

import dagster as dg

AC = dg.AutomationCondition

_SETTLED = ~AC.any_deps_in_progress() & ~AC.in_progress() & ~AC.execution_failed()


def _newer(inputs: dg.AutomationCondition) -> dg.AutomationCondition:
    return inputs.since(AC.newly_updated())


FOLLOW_INPUTS = (_newer(AC.any_deps_match(AC.newly_updated())) & _SETTLED).with_label("follow inputs")
"""Make again after any input changed. Order-proof: an update in the tick of the target's own run is not lost."""

FOLLOW_INPUTS_THAT_EXIST = (
    _newer(AC.any_deps_match(AC.newly_updated() | AC.will_be_requested())) & _SETTLED & ~AC.any_deps_missing()
).with_label("follow inputs that exist")
"""The same, but a cell whose own inputs are missing (a price without a frontier) asks for nothing.

In the run that makes its inputs, where these are asked for now: a blocking check blocks what is in its own run alone.
"""

FOLLOW_SWEEPS = (
    _newer(AC.any_deps_match(AC.newly_updated()).allow(dg.AssetSelection.assets("sweep"))) & _SETTLED
).with_label("follow sweeps")
"""Raw results follow a sweep of their own cell. An import has no partitions and says its cells itself: whoever asked
for it derives them (the command line, the sensor of the inbox)."""

FOLLOW_COSTS = (
    _newer(AC.any_deps_match(AC.newly_updated()).allow(dg.AssetSelection.assets("cost_tables"))) & _SETTLED
).with_label("follow costs")
"""Only costs count: they are last of every cell, so pages are not built once per stage."""


_FOUR_FORTY_FIVE: dg.AutomationCondition[Any] = AC.cron_tick_passed("45 4 * * *", "UTC")
ONCE_A_DAY = _FOUR_FORTY_FIVE.since_last_handled().with_label("once a day")
"""For checks that look at what is stored. A check with a condition of its own does not run with its asset."""


LOOK_EVERY_S = 15


def automation_sensor() -> dg.AutomationConditionSensorDefinition:
    """The one sensor that evaluates every condition; source assets must be in its selection to be seen."""
    return dg.AutomationConditionSensorDefinition(
        "automation",
        target=dg.AssetSelection.all(include_sources=True),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=LOOK_EVERY_S,
    )


AUDITS = tuple(dg.AssetCheckKey(dg.AssetKey("page_data"), name) for name in ("pages_are_current", "measured_in_time"))
"""Checks that look at all pages and the site, and so at no run of their asset."""


def _job(name: str, assets: tuple[str, ...], description: str) -> Any:  # dagster does not export the type
    return dg.define_asset_job(
        name,
        selection=dg.AssetSelection.assets(*assets) - dg.AssetSelection.checks(*AUDITS),
        description=description,
        executor_def=dg.in_process_executor,
    )


BUILD_ENGINE = "build_engine"
IMPORT_RESULTS = "import_results"
RUN_SWEEP = "run_sweep"
DERIVE_CELL = "derive_cell"
PRICE_CELL = "price_cell"
BUILD_PAGES = "build_pages"
PUBLISH_SITE = "publish_site"
OBSERVE_PRICES = "observe_prices"

jobs = (
    _job(BUILD_ENGINE, ("engine_builds",), "Install and prove one engine, load generator or simulator."),
    _job(IMPORT_RESULTS, ("imported_results",), "Read result files; their cells are derived by derive_cell."),
    _job(RUN_SWEEP, ("sweep",), "The recipes of one GPU today; its cell is derived by derive_cell."),
    _job(DERIVE_CELL, ("raw_results", "frontier", "cost_tables"), "Everything of one GPU on one run date."),
    _job(PRICE_CELL, ("cost_tables",), "Costs of one GPU on one run date, after a price changed."),
    _job(BUILD_PAGES, ("page_data",), "The pages of one GPU, from all its cells."),
    _job(OBSERVE_PRICES, ("price_book",), "Look whether the price book changed; costs and pages follow where it did."),
    _job(PUBLISH_SITE, ("site",), "The static site, from the pages of all GPUs."),
)


def jobs_named(*names: str) -> list[Any]:
    """Some of the jobs, in their order."""
    return [job for job in jobs if job.name in names]


schedules = (
    dg.ScheduleDefinition(
        name="prices_every_15_minutes",
        job=jobs_named(OBSERVE_PRICES)[0],
        cron_schedule="*/15 * * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="An edit of the price file is noticed here; one run looks at every GPU.",
    ),
    dg.ScheduleDefinition(
        name="nightly_publish",
        job=jobs_named(PUBLISH_SITE)[0],
        cron_schedule="30 3 * * *",
        execution_timezone="UTC",
        description="Automation does not ask again after a failed run; this does. Off until it is switched on.",
    ),
)
