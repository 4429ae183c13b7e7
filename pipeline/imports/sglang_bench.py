"""SGLang's benchmark results (`sglang.bench_serving`), JSON lines in milliseconds, plain and detailed.

``server_info`` has the server's arguments: GPUs = tp × pp × dp, where dp without dp attention is whole workers.
Its dtype is that of the arithmetic and is not read as the checkpoint's precision; quantization is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.details import Arrays, fill_requests
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import count, day, flag, mapping, positive, request_rate, size, text
from pipeline.imports.latencies import latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "sglang_bench"

LATENCY_KEYS = {"ttft": "{}_ttft_ms", "tpot": "{}_tpot_ms", "itl": "{}_itl_ms", "e2el": "{}_e2e_latency_ms"}
S_PER_MS = 1e-3
ARRAYS = Arrays(ttfts_s="ttfts", itls_s="itls", latencies_s="latencies", starts_s="start_times")
DEVICE_GPUS = {"cpu": "cpu"}
"""server_info's device says cpu or cuda; only the former names the hardware."""


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return {"backend", "completed", "duration", "total_output_tokens_retokenized"} <= row.keys()


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no backend, completed, duration and retokenized count.")
    server = mapping(row.get("server_info"))
    draft = Draft(_recorded(row, server))
    completed = count(row.get("completed"))
    draft.columns |= without_nulls(
        {
            "concurrency": size(row.get("max_concurrency")),
            "request_rate_req_s": request_rate(row.get("request_rate")),
            "achieved_concurrency": positive(row.get("concurrency")),
            "pcp": size(server.get("attn_cp_size")),
            "dcp": size(server.get("dcp_size")),
            "n_successful": completed,
            "window": "whole_run",
            "window_s": positive(row.get("duration")),
            "input_tok": count(row.get("total_input_tokens")),
            "output_tok": count(row.get("total_output_tokens")),
            "spec_accept_len_tok": positive(row.get("accept_length")),
        }
    )
    if "concurrency" not in draft.columns and "request_rate_req_s" not in draft.columns:
        draft.notes.add("concurrency_unlimited")
    if completed:
        draft.columns |= latency_columns(row, LATENCY_KEYS, S_PER_MS)
        means = (draft.columns.get(key, 0) / completed or None for key in ("input_tok", "output_tok"))
        draft.lengths = Lengths(size(row.get("random_input_len")), size(row.get("random_output_len")), *means)
    if isinstance(row.get("ttfts"), list):
        fill_requests(draft, row, ARRAYS)
    return draft


def _recorded(row: Mapping[str, Any], server: Mapping[str, Any]) -> Recorded:
    dp_attention = flag(server.get("enable_dp_attention"))
    nodes = size(server.get("nnodes"))
    return Recorded(
        gpu=DEVICE_GPUS.get(text(server.get("device")) or ""),
        model=text(server.get("model_path")),
        engine="sglang" if server else _engine(row),
        engine_build=text(server.get("version")),
        precision=text(server.get("quantization")),
        run_date=day(row.get("date")),
        spec_method=_spec_method(server),
        disaggregated=_disaggregated(server),
        multinode=None if nodes is None else nodes > 1,
        tp=size(server.get("tp_size")),
        pp=size(server.get("pp_size")),
        ep=size(server.get("ep_size")),
        dp_attention=dp_attention,
        n_workers=None if dp_attention else size(server.get("dp_size")),
    )


def _engine(row: Mapping[str, Any]) -> str | None:
    """The client's protocol: SGLang's own says the engine, OpenAI's does not."""
    backend = text(row.get("backend"))
    return backend if backend and not backend.startswith("openai") else None


def _spec_method(server: Mapping[str, Any]) -> str | None:
    """The algorithm as a word; none where the server states that it has none."""
    if "speculative_algorithm" not in server:
        return None
    return (text(server["speculative_algorithm"]) or "none").lower()


def _disaggregated(server: Mapping[str, Any]) -> bool | None:
    mode = text(server.get("disaggregation_mode"))
    return None if mode is None else mode in ("prefill", "decode")
