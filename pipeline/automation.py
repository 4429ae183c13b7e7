"""When something derived is made again: named automation conditions, and the sensor that evaluates them.

No condition ever reaches raw results or a sweep: a price or a refactoring never starts a benchmark.
"""

from typing import Any

import dagster as dg

AC = dg.AutomationCondition

_SETTLED = ~AC.any_deps_in_progress() & ~AC.in_progress() & ~AC.execution_failed()


def _newer(inputs: dg.AutomationCondition) -> dg.AutomationCondition:
    return inputs.since(AC.newly_updated())


FOLLOW_INPUTS = (_newer(AC.any_deps_match(AC.newly_updated())) & _SETTLED).with_label("follow inputs")
"""Make again after any input changed. Order-proof: an update in the tick of the target's own run is not lost."""

FOLLOW_INPUTS_THAT_EXIST = (FOLLOW_INPUTS & ~AC.any_deps_missing()).with_label("follow inputs that exist")
"""The same, but a cell whose own inputs are missing (a price without a frontier) asks for nothing."""

FOLLOW_COSTS = (
    _newer(AC.any_deps_match(AC.newly_updated()).allow(dg.AssetSelection.assets("cost_tables"))) & _SETTLED
).with_label("follow costs")
"""Only costs count: they are last of every cell, so pages are not built once per stage."""


def automation_sensor() -> dg.AutomationConditionSensorDefinition:
    """The one sensor that evaluates every condition; source assets must be in its selection to be seen."""
    return dg.AutomationConditionSensorDefinition(
        "automation",
        target=dg.AssetSelection.all(include_sources=True),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=15,
    )


def _job(name: str, assets: tuple[str, ...], description: str) -> Any:  # dagster does not export the type
    return dg.define_asset_job(
        name,
        selection=dg.AssetSelection.assets(*assets),
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

schedules = (
    dg.ScheduleDefinition(
        name="prices_every_15_minutes",
        job=jobs[-2],
        cron_schedule="*/15 * * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="An edit of the price file is noticed here; one run looks at every GPU.",
    ),
    dg.ScheduleDefinition(
        name="nightly_publish",
        job=jobs[-1],
        cron_schedule="30 3 * * *",
        execution_timezone="UTC",
        description="Automation does not ask again after a failed run; this does. Off until it is switched on.",
    ),
)
