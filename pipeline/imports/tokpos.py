"""InferenceX token-position results: vLLM's names without a unit, in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job
from pipeline.imports.latencies import latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError
from pipeline.imports.vllm_bench import totals_draft

SOURCE_FORMAT = "tokpos"

LATENCY_KEYS = {"ttft": "{}_ttft", "tpot": "{}_tpot", "itl": "{}_itl", "e2el": "{}_e2el"}
S_PER_UNIT = 1.0


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return "model_id" in row and "max_concurrency" in row and "median_ttft" in row and "median_ttft_ms" not in row


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no model_id, max_concurrency and median_ttft.")
    draft = totals_draft(row)
    if draft.columns.get("n_successful") != 0:
        draft.columns |= latency_columns(row, LATENCY_KEYS, S_PER_UNIT)
    return draft
