"""The runs behind a page as published: what was started, on what, and why its ladder of concurrencies ended.

Belongs here: RUNS rows to records and their sentences. Not here: the codes (pipeline/sweep/stop_rule.py). It imports
no page, because a page holds these records.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.sweep.stop_rule import ABOVE, BELOW


@dataclass(frozen=True)
class RunRecord:
    """One topology of one recipe on one day. Names, meanings and units are those of the runs table."""

    run_id: str
    recipe: str
    topology: str
    engine: str
    engine_name: str
    engine_build: str
    run_date: dt.date
    started_at: dt.datetime | None
    device_name: str | None
    driver: str | None
    launch_line: str | None
    stopped_below: str
    stopped_below_sentence: str
    stopped_above: str
    stopped_above_sentence: str
    n_points: int
    measured_s: float | None
    wall_s: float | None
    reason: str | None


def run_record(row: Mapping[str, Any], engine_name: str, null_reason: str) -> RunRecord:
    """One RUNS row as published. ``null_reason`` says why a null is null."""
    named = ("run_id", "recipe", "topology", "engine", "engine_build", "run_date", "started_at", "device_name")
    values = {name: row[name] for name in (*named, "driver", "launch_line", "n_points", "measured_s", "wall_s")}
    below, above = row["stopped_below"], row["stopped_above"]
    return RunRecord(
        **values,
        engine_name=engine_name,
        stopped_below=below,
        stopped_below_sentence=f"Nothing at a lower concurrency was measured: {BELOW.get(below, below)}.",
        stopped_above=above,
        stopped_above_sentence=f"Nothing at a higher concurrency was measured: {ABOVE.get(above, above)}.",
        reason=null_reason if None in values.values() else None,
    )


def run_facts(runs: Sequence[RunRecord]) -> tuple[tuple[str, str], ...]:
    """Terms and texts of "How it was measured" that only runs know. Empty without runs; an unknown one is left out."""
    facts = {
        "Driver of the device, or kernel of the host": {run.driver for run in runs if run.driver},
        "Arguments of the server": {f"{_named(run)}: {run.launch_line}" for run in runs if run.launch_line},
        "Why the sweep stopped": {_stopped(run) for run in runs},
    }
    return tuple((term, " ".join(sorted(texts))) for term, texts in facts.items() if texts)


def _named(run: RunRecord) -> str:
    return f"{run.engine_name}, {run.topology}"


def _stopped(run: RunRecord) -> str:
    return f"{_named(run)}: {run.stopped_above_sentence} {run.stopped_below_sentence}"
