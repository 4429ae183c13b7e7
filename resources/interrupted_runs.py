"""Runs that a backup was taken in the middle of: in the restored history nothing goes on, so nothing is in use."""

import re
from pathlib import Path

import dagster as dg

from pipeline.automation.sweep_requests import ACTIVE
from resources.dagster_runs import open_instance, prepare_instance

ELSEWHERE = re.compile(r"^(storage|run_storage):", re.MULTILINE)
"""Settings that put runs into a database which is in no backup of the home folder, and which others may use now."""
WHY = "The history was restored from a backup that was taken before this run ended."


def has_own_history(home: Path) -> bool:
    """Whether the runs of the instance in use are files of this home folder: a backup holds them."""
    folder = prepare_instance(home)
    if folder.resolve() != (home / "dagster").resolve():
        return False
    return not ELSEWHERE.search((folder / "dagster.yaml").read_text(encoding="utf-8"))


def cancel_interrupted(home: Path) -> list[str]:
    """Mark every run of the restored history that had not ended as canceled, which is never retried.

    Returns job and partition of each; none where the history is not in the home folder, which is then left alone.
    """
    if not has_own_history(home):
        return []
    with open_instance(home) as instance:
        runs = instance.get_runs(dg.RunsFilter(statuses=ACTIVE))
        for run in runs:
            instance.report_run_canceled(run, WHY)
    return sorted(" ".join([run.job_name, run.tags.get("dagster/partition", "")]).strip() for run in runs)
