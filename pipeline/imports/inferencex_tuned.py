"""InferenceX tuning results: one object with a configuration, vLLM's metrics in milliseconds and a GPU record."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, without_nulls
from pipeline.imports.fields import count, mapping, moment, positive, size
from pipeline.imports.inferencex_flat import recorded
from pipeline.imports.latencies import latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "inferencex_tuned"

LATENCY_KEYS = {"ttft": "{}_ttft_ms", "tpot": "{}_tpot_ms", "itl": "{}_itl_ms", "e2el": "{}_e2el_ms"}
S_PER_MS = 1e-3


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return "hw" in row and isinstance(row.get("metrics"), dict) and isinstance(row.get("gpu"), dict)


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no hw, metrics and gpu.")
    metrics, gpu = mapping(row["metrics"]), mapping(row["gpu"])
    n_gpus = size(gpu.get("n_gpus"))
    facts = dataclasses.replace(recorded(row), n_gpus=n_gpus, tp=size(row.get("tp")), ep=size(row.get("ep")))
    draft = Draft(facts, latency_columns(metrics, LATENCY_KEYS, S_PER_MS))
    total, output = positive(metrics.get("total_token_throughput")), positive(metrics.get("output_token_throughput"))
    draft.columns |= without_nulls(
        {
            "concurrency": size(row.get("conc")),
            "run_started_at": moment(row.get("ts")),
            "n_successful": count(metrics.get("successful_requests")),
            "throughput_tok_s_gpu": total / n_gpus if total and n_gpus else None,
            "output_throughput_tok_s_gpu": output / n_gpus if output and n_gpus else None,
            "input_throughput_tok_s_gpu": (total - output) / n_gpus if total and output and n_gpus else None,
            "power_w_gpu": positive(gpu.get("mean_power_per_gpu_w")),
        }
    )
    return draft
