"""The simulator's answer to one point as one row of POINTS: statistics over its requests, throughput per GPU held.

Belongs here: which column comes from where, and what is noted about it. Not here: what was asked
(simulator_requests.py). TTFT, TPOT and E2EL are computed from the requests, because the report's percentiles are
nearest ranks; only the gaps between tokens (ITL), which the requests do not list, are the report's.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from pipeline.measure.identity import point_id
from pipeline.measure.rates import cache_hit_share, interactivity, throughputs, tpot_column
from pipeline.measure.summary import summarize
from pipeline.measure.target import Target, loads
from pipeline.measure.topology import n_gpus_held, topology
from pipeline.measure.validity import reasons_for
from pipeline.registry.entries import Workload
from pipeline.sweep.plan import PlannedPoint, engine_build
from pipeline.sweep.stop_rule import FIXED_LADDER
from pipeline.tables.requests import REQUESTS
from pipeline.tables.series import SERIES
from pipeline.units import ns_from_seconds, seconds_from_ms, seconds_from_ns

SOURCE_FORMAT = "simulated"
LOW_FIDELITY_BELOW = 0.9
NOT_MONOTONE_ABOVE = 0.02
ITL = {"mean": "mean", "std": "std", "p50": "median", **{f"p{p}": f"p{p}" for p in (75, 90, 95, 99)}}
"""ITL statistics: ours by the report's name."""


@dataclass(frozen=True)
class Answer:
    """What the simulator said of one point: the replay's report, its requests, and facts about the step times."""

    report: Mapping[str, Any]
    requests: list[list[float]]
    facts: Mapping[str, Any]


def simulated_point(
    connection: duckdb.DuckDBPyConnection, point: PlannedPoint, workload: Workload, run_date: dt.date, answer: Answer
) -> dict[str, Any]:
    """One row of POINTS. A statistic that neither requests nor report give is null."""
    requests = [_request(i, values) for i, values in enumerate(answer.requests)]
    row = _identity(point, workload, run_date)
    row |= _summary(connection, requests)
    row["n_requested"] = answer.report["num_requests"]
    row["n_failed"] = row["n_requested"] - row["n_successful"]
    row |= {f"itl_{ours}_s": _seconds(answer.report.get(f"{theirs}_itl_ms")) for ours, theirs in ITL.items()}
    row |= _speeds(row)
    row |= loads(requests, Target(point.concurrency, workload, row["n_gpus"]))
    row["notes"] = sorted(_notes(point, workload, answer.facts))
    row["source_sha256"] = _hash(answer, row)
    row["point_id"] = point_id(row)
    row["reasons"] = reasons_for(row)
    row["valid"] = not row["reasons"]
    return row


def _identity(point: PlannedPoint, workload: Workload, run_date: dt.date) -> dict[str, Any]:
    recipe = point.recipe
    columns = {
        **{name: getattr(recipe, name) for name in ("model", "gpu", "workload", "engine", "precision", "provenance")},
        **{"tp": recipe.tp, "pp": recipe.pp, "ep": recipe.ep, "n_workers": 1, "dp_attention": False},
        **{"disaggregated": False, "multinode": False, "kv_offload": "none", "spec_method": "none"},
        "engine_family": recipe.engine,
        "engine_build": engine_build(recipe),
        "input_len_tok": workload.input_len_tok,
        "output_len_tok": workload.output_len_tok,
        "concurrency": point.concurrency,
        "run_id": point.run_id,
        "run_date": run_date,
        "attempt": 1,
        "percentile": workload.percentile,
        "declared": [],
        "source_format": SOURCE_FORMAT,
        "source_file": f"{point.slug}.c{point.concurrency}",
        "source_row": 0,
    }
    return {**columns, "topology": topology(columns), "n_gpus": n_gpus_held(columns)}


def _request(index: int, values: list[float]) -> dict[str, Any]:
    start_ms, ttft_ms, e2el_ms, input_tok, output_tok, cached_tok = values
    return {
        "point_id": "simulated",
        "request_index": index,
        "phase": "profiling",
        "outcome": "ok",
        "start_ns": ns_from_seconds(seconds_from_ms(start_ms)),
        "ttft_ns": ns_from_seconds(seconds_from_ms(ttft_ms)),
        "e2el_ns": ns_from_seconds(seconds_from_ms(e2el_ms)),
        "input_tok": int(input_tok),
        "output_tok": int(output_tok),
        "cached_input_tok": int(cached_tok),
        "first_chunk_tok": 1,
        "itl_ns": None,
    }


def _summary(connection: duckdb.DuckDBPyConnection, requests: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, tokens, window and latencies of the requests; POINTS columns only."""
    if not requests:
        return {"n_successful": 0, "n_cancelled": 0, "n_warmup": 0}
    connection.register("simulated_requests", REQUESTS.from_rows(requests))
    try:
        row: dict[str, Any] = summarize(connection, "simulated_requests").to_pylist()[0]
    finally:
        connection.unregister("simulated_requests")
    for name in ("point_id", "first_start_ns", "last_end_ns"):
        del row[name]
    return {**row, "window": "whole_run"}


def _speeds(row: Mapping[str, Any]) -> dict[str, Any]:
    """Throughputs per GPU held (one worker's tokens, divided once) and interactivity at the workload's percentile."""
    speeds: dict[str, Any] = {}
    if (speed := interactivity(row)) is not None:
        source = tpot_column(row["percentile"])
        speeds = {"interactivity_tok_s_user": speed, "interactivity_source": source}
    return {**speeds, **throughputs(row), "cache_hit_share": cache_hit_share(row)}


def _notes(point: PlannedPoint, workload: Workload, facts: Mapping[str, Any]) -> set[str]:
    notes = set()
    if facts["silicon_share"] < LOW_FIDELITY_BELOW:
        notes.add(f"low_fidelity={facts['silicon_share']:.0%}")
    drop = largest_drop(facts["decode_ms"])
    if drop > NOT_MONOTONE_ABOVE:
        notes.add(f"not_monotone={drop:.0%}")
    if workload.kind == "agentic":
        notes |= {"synthetic_trace"} | ({"unchunked_prefill"} if point.recipe.engine == "sglang" else set())
    return notes


def largest_drop(values: list[float]) -> float:
    """How far a value lies below an earlier one, as a share of that: 0 for values that never fall."""
    highest, drop = values[0], 0.0
    for value in values:
        highest = max(highest, value)
        drop = max(drop, 1 - value / highest)
    return drop


def _seconds(value_ms: float | None) -> float | None:
    """Whole nanoseconds, in seconds: below them two replays of one trace differ, by the order of their sums."""
    return None if value_ms is None else seconds_from_ns(ns_from_seconds(seconds_from_ms(value_ms)))


def _hash(answer: Answer, row: Mapping[str, Any]) -> str:
    """Hash of what the row was computed from; the report's other numbers follow from the requests."""
    gaps = [row[f"itl_{statistic}_s"] for statistic in ITL]
    return hashlib.sha256(json.dumps([row["n_requested"], gaps, answer.requests]).encode()).hexdigest()


def simulated_runs(planned: Iterable[PlannedPoint], points: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """One row of RUNS a recipe, by run id, from the POINTS rows of its points; a recipe without points has none."""
    slugs = {point.run_id: point.slug for point in planned}
    copied = ("run_id", "topology", *(column.name for column in SERIES), "engine_build", "run_date")
    runs = {}
    for run_id, slug in slugs.items():
        mine = [point for point in points if point["run_id"] == run_id]
        if mine:
            ends = {"stopped_below": FIXED_LADDER.below, "stopped_above": FIXED_LADDER.above}
            runs[run_id] = {name: mine[0][name] for name in copied} | ends | {"recipe": slug, "n_points": len(mine)}
    return runs
