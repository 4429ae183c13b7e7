"""InferenceX agentic aggregates: one object with nested request_metrics and server_metrics, in seconds.

Its own ``intvty`` is not read: interactivity is 1 / p90 of full_response_itl, else of itl, else of tpot. Warm-up
records are counted and excluded. GPUs = total tokens per second / tokens per second per GPU. There is no date in it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, without_nulls
from pipeline.imports.fields import count, mapping, number, positive, size, text
from pipeline.imports.inferencex_flat import recorded
from pipeline.imports.inferencex_pools import fill_pools
from pipeline.imports.latencies import nested_latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "inferencex_agentx"

LATENCY_KEYS = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2el"}
S_PER_UNIT = 1.0
SPEED_SOURCES = ("full_response_itl", "itl", "tpot")
WORKLOADS = {"agentic-coding": "agentx"}
SAME_WINDOW = 0.01


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return "hw" in row and isinstance(row.get("request_metrics"), dict)


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no hw and request_metrics.")
    draft = Draft(_facts(row), without_nulls({"concurrency": size(row.get("conc"))}))
    metrics = mapping(row["request_metrics"])
    latency = mapping(metrics.get("latency"))
    draft.columns |= nested_latency_columns(latency, LATENCY_KEYS, S_PER_UNIT)
    _fill_speed(draft, latency)
    _fill_counts(draft, row)
    _fill_throughput(draft, row, mapping(metrics.get("throughput")))
    _fill_tokens(draft, metrics)
    _fill_cache(draft, row)
    _fill_energy(draft, row)
    return draft


def _facts(row: Mapping[str, Any]) -> Any:
    scenario = text(row.get("scenario_type"))
    offload, backend = text(row.get("kv_offloading")), text(mapping(row.get("kv_offload_backend")).get("name"))
    return dataclasses.replace(
        recorded(row),
        workload=WORKLOADS.get(scenario, scenario) if scenario else None,
        kv_offload=f"{offload}-{backend}" if offload and backend else offload,
    )


def _fill_speed(draft: Draft, latency: Mapping[str, Any]) -> None:
    for name in SPEED_SOURCES:
        slowest_s = positive(mapping(latency.get(name)).get("p90"))
        if slowest_s:
            draft.columns["interactivity_tok_s_user"] = 1 / slowest_s
            draft.columns["interactivity_source"] = f"{name}.p90"
            return


def _fill_counts(draft: Draft, row: Mapping[str, Any]) -> None:
    """Records: profiled ones succeeded, dropped ones are warm-up or failures; others break the sum (outcome_sum)."""
    accounting = mapping(row.get("request_accounting"))
    total = count(row.get("num_requests_total"))
    warmup = count(accounting.get("records_warmup_dropped"))
    draft.columns |= without_nulls(
        {
            "n_requested": None if total is None or (warmup or 0) > total else total - (warmup or 0),
            "n_successful": count(row.get("num_requests_successful")),
            "n_failed": count(accounting.get("records_error_dropped")),
            "n_warmup": warmup,
        }
    )


def _fill_throughput(draft: Draft, row: Mapping[str, Any], throughput: Mapping[str, Any]) -> None:
    per_gpu = mapping(throughput.get("per_gpu"))
    fill_pools(
        draft,
        row,
        {
            "tput_per_gpu": per_gpu.get("total_tput_tps"),
            "input_tput_per_gpu": per_gpu.get("input_tput_tps"),
            "output_tput_per_gpu": per_gpu.get("output_tput_tps"),
        },
    )
    total = positive(mapping(throughput.get("total")).get("tokens_per_second"))
    held = positive(per_gpu.get("total_tput_tps"))
    if "n_gpus" not in draft.columns:
        ratio = round(total / held) if total and held else None
        draft.columns |= without_nulls({"n_gpus": ratio or size(row.get("num_gpus"))})
    draft.columns |= without_nulls({"window": "whole_run", "window_s": positive(throughput.get("duration_seconds"))})


def _fill_tokens(draft: Draft, metrics: Mapping[str, Any]) -> None:
    """Token totals = mean over successful requests × their number; the published means are rounded."""
    tokens, n_successful = mapping(metrics.get("tokens")), draft.columns.get("n_successful")
    for column, key in (("input_tok", "input"), ("output_tok", "output_actual")):
        mean_tok = positive(mapping(tokens.get(key)).get("mean"))
        if mean_tok and n_successful:
            draft.columns[column] = round(mean_tok * n_successful)


def _fill_cache(draft: Draft, row: Mapping[str, Any]) -> None:
    """Cache-hit share of the server; computed input only where server and client counted the same tokens."""
    server = mapping(row.get("server_metrics"))
    share = number(mapping(server.get("cache")).get("overall_cache_hit_rate"))
    if share is None or not 0 <= share <= 1:
        return
    draft.columns["cache_hit_share"] = share
    served_tok = positive(mapping(server.get("tokens")).get("prompt_total"))
    client_tok, per_gpu = draft.columns.get("input_tok"), draft.columns.get("input_throughput_tok_s_gpu")
    if served_tok and client_tok and abs(served_tok - client_tok) <= SAME_WINDOW * client_tok:
        draft.columns |= without_nulls({"cached_input_tok": round(client_tok * share)})
        if per_gpu:
            draft.columns["computed_input_throughput_tok_s_gpu"] = per_gpu * (1 - share)
    else:
        draft.notes.add("cache_window_differs")


def _fill_energy(draft: Draft, row: Mapping[str, Any]) -> None:
    if row.get("power_valid") == 1:
        draft.columns |= without_nulls(
            {
                "power_w_gpu": positive(row.get("avg_power_w")),
                "energy_j_output_tok": positive(row.get("joules_per_output_token")),
            }
        )
