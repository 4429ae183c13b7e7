"""InferenceX API rows: a configuration with a ``metrics`` object, in seconds and tokens per second per GPU.

Also the API's history (an object of model → rows) and rows that are only hardware, conc and metrics. Rows of upstream's
documentation and test fixtures carry an ``id`` below 10,000, no image and no run link; their values are invented.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job
from pipeline.imports.fields import count, mapping, text
from pipeline.imports.inferencex_flat import draft_of
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "inferencex_rows"

WORKLOADS = {"agentic_traces": "agentx", "agentic-coding": "agentx"}
OFFLOAD_MODES = {"off": "none", "on": "on"}
LAST_FIXTURE_ID = 9_999


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return "hardware" in row and isinstance(row.get("metrics"), dict)


def matches_history(document: Mapping[str, Any]) -> bool:
    """Whether an object holds lists of such rows by model."""
    rows = flattened(document)
    return bool(rows) and isinstance(rows[0], dict) and matches(rows[0])


def flattened(document: Mapping[str, Any]) -> list[Any]:
    """The rows of a history in file order; empty where a value is no list."""
    if not all(isinstance(rows, list) for rows in document.values()):
        return []
    return [row for rows in document.values() for row in rows]


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no hardware and metrics.")
    if _is_invented(row):
        raise RowRejectedError(
            "invented_fixture", f"Row id {row['id']} has no image and no run: a fixture with invented values."
        )
    draft = draft_of(row, mapping(row["metrics"]))
    mode = text(row.get("offload_mode")) or text(mapping(row["metrics"]).get("offload_mode"))
    draft.recorded = dataclasses.replace(
        draft.recorded,
        kv_offload=OFFLOAD_MODES.get(mode, mode) if mode else None,
        workload=WORKLOADS.get(text(row.get("benchmark_type")) or ""),
    )
    return draft


def _is_invented(row: Mapping[str, Any]) -> bool:
    number = count(row.get("id"))
    return number is not None and number <= LAST_FIXTURE_ID and not row.get("run_url") and not row.get("image")
