"""The load of one measured point, as the configuration that AIPerf runs.

Belongs here: what AIPerf is asked to do, in its own words. Not here: running it (resources/load_generator.py), and what
its records mean (pipeline/sweep/load_records.py).

One process of AIPerf does the whole point: for each repeat a warm-up phase and a measured phase, one after the other,
on one data set that every phase continues where the one before stopped. So no repeat sees a prompt again, starting and
stopping AIPerf (12 s) is paid once a point, and each repeat has its own warm-up. AIPerf's --num-profile-runs starts
its services again for every run. Its AgentX scenario allows one measured phase only: there each repeat is a process
with a seed of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.registry.entries import Workload
from pipeline.registry.measured import Load
from pipeline.sweep.traces import agentic_trace, trace_shape

WARMUP, REPEAT = "warmup", "repeat"
AGENTX_SCENARIO = "inferencex-agentx-mvp"
AGENTX_CORPUS = "semianalysis_cc_traces_weka_061526"
AGENTX_MIN_WINDOW_S = 900.0

FASTEST_TPOT_S = 0.002
"""Data sets are made long enough for answers this fast; what is used twice all the same is counted."""
NATURAL_ENDS = ("single_turn", "multi_turn")
"""Forms of prompts without the length of an answer: it ends where the model ends it."""
MAX_DATASET_TOK = 48_000_000
MAX_SESSIONS = 4_000
N_SPARE = 32
MIN_LOOKS_S, LOOKS_PER_LANE_S = 1_000.0, 10.0
"""How often a second AIPerf looks for a free lane: a lane is idle for a millisecond at most between two requests.

Asked for lanes alone (a phase of type concurrency) it looks without a pause, with 0.8 of a core. On a host with few
cores those are the engine's: on two of them a small model's TPOT was 12.1 ms instead of 7.5 ms.
"""


@dataclass(frozen=True)
class PointLoad:
    """What one point is measured with.

    ``tokenizer`` is a folder that AIPerf makes and counts prompts with; ``context_tok`` the server's context, None
    where it does not matter. ``timeout_s``: a request that takes longer has failed; None: none does. What is in flight
    at the end of the grace is cancelled.
    """

    model_name: str
    workload: Workload
    concurrency: int
    load: Load
    seed: int
    tokenizer: str
    context_tok: int | None = None
    timeout_s: float | None = None

    @property
    def request_timeout_s(self) -> float:
        """How long one request may take [s]: never as long as a phase and its grace, where no limit is set."""
        return self.timeout_s or self.load.warmup_s + self.load.window_s + 2 * self.load.grace_s


@dataclass(frozen=True)
class Places:
    """What the run knows of the machine: the server's address and key, the tokenizer's name, and where things are.

    ``trace`` is the data set's file, empty for prompts that AIPerf makes itself. ``has_chat_template``: prompts are
    made shorter by what the server's template adds, so that the server counts the length that was asked for.
    """

    url: str
    api_key: str
    tokenizer_name: str
    has_chat_template: bool
    artifacts: str
    trace: str = ""
    trace_format: str = ""


@dataclass(frozen=True)
class Batch:
    """The repeats that one process of AIPerf does: ``n_repeats`` from ``first_repeat`` on, and its seed."""

    first_repeat: int
    n_repeats: int
    seed: int


def batches(point: PointLoad) -> list[Batch]:
    """One process for all repeats; one for each where the scenario allows one measured phase only."""
    if point.load.scenario is None:
        return [Batch(0, point.load.repeats, point.seed)]
    return [Batch(index, 1, point.seed + index) for index in range(point.load.repeats)]


def made_trace(point: PointLoad) -> list[str]:
    """The lines of the trace that is made for an agentic workload; empty where none is needed.

    Sessions are enough for every lane and phase, one a second and lane at most, and differ from seed to seed.
    """
    if point.workload.kind != "agentic" or point.load.prompts is not None or point.load.scenario is not None:
        return []
    total_s = point.load.repeats * (point.load.warmup_s + point.load.window_s)
    n_sessions = min(MAX_SESSIONS, N_SPARE + math.ceil(point.concurrency * total_s))
    return agentic_trace(n_sessions, trace_shape(point.workload), first=point.seed % 1_000 * MAX_SESSIONS)


def n_prompts(point: PointLoad) -> int:
    """How many different prompts of a fixed length are made: enough for every lane, phase and second."""
    output_tok, input_tok = point.workload.output_len_tok or 1, point.workload.input_len_tok or 1
    total_s = point.load.repeats * (point.load.warmup_s + point.load.window_s)
    per_lane = total_s / (0.01 + output_tok * FASTEST_TPOT_S) + 2 * point.load.repeats
    most = max(point.concurrency * 2 * point.load.repeats, MAX_DATASET_TOK // input_tok)
    return min(most, N_SPARE + math.ceil(point.concurrency * per_lane))


def aiperf_config(point: PointLoad, batch: Batch, places: Places) -> dict[str, Any]:
    """The configuration file of one process of AIPerf, as an object."""
    benchmark: dict[str, Any] = {
        "model": point.model_name,
        "endpoint": _endpoint(point, places),
        "tokenizer": {"name": places.tokenizer_name, "applyChatTemplate": places.has_chat_template},
        "dataset": _dataset(point, places),
        "phases": _phases(point, batch),
        "artifacts": {"dir": places.artifacts, "summary": ["json"], "records": ["jsonl"]},
        "gpuTelemetry": {"enabled": False},
        "serverMetrics": {"enabled": False},
        "runtime": {"ui": "none"},
    }
    if point.load.scenario is not None:
        benchmark["scenario"] = AGENTX_SCENARIO
        if point.load.window_s < AGENTX_MIN_WINDOW_S:
            benchmark["unsafeOverride"] = True
    return {"schemaVersion": "2.0", "randomSeed": batch.seed, "benchmark": benchmark}


def aiperf_variables(point: PointLoad) -> dict[str, str]:
    """Settings that AIPerf only takes from its environment.

    The connections that it opens are as many as requests in flight, and a record reaches its file within some requests.
    """
    return {
        "AIPERF_HTTP_CONNECTION_LIMIT": str(max(2_500, 2 * point.concurrency)),
        "AIPERF_RECORD_EXPORT_BATCH_SIZE": str(max(1, min(100, point.concurrency // 4))),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "DO_NOT_TRACK": "1",
    } | ({} if _is_offline(point) else {"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"})


def trace_format(line: str) -> str:
    """AIPerf's name for the form of a file of prompts, from its first line.

    Weka (requests of one trace in an object), Mooncake (lengths, hashes or messages), else single prompts (text).
    """
    try:
        first = json.loads(line)
    except ValueError:
        first = None
    if not isinstance(first, Mapping):
        return ""
    if "requests" in first:
        return "weka_trace"
    if first.keys() & {"input_length", "text_input", "messages", "payload"}:
        return "mooncake_trace"
    if "turns" in first:
        return "multi_turn"
    return "single_turn" if first.keys() & {"text", "texts"} else ""


def _is_offline(point: PointLoad) -> bool:
    """Only the scenario's published corpus comes from a hub."""
    return point.load.scenario is None or point.load.prompts is not None


def _endpoint(point: PointLoad, places: Places) -> dict[str, Any]:
    """Counts from the server's usage, said with every chunk, as the first chunk may hold more than one token.

    Prompts of unknown length get usage at the end only: its absence shows a stream that was broken off.
    """
    known_lengths = point.load.prompts is None and point.load.scenario is None
    endpoint: dict[str, Any] = {
        "url": places.url,
        "type": "chat",
        "streaming": True,
        "timeout": point.request_timeout_s,
        "useServerTokenCount": True,
        "perChunkUsage": known_lengths,
        "extra": {"ignore_eos": True} if places.trace_format not in NATURAL_ENDS else {},
    }
    return endpoint | ({"apiKey": places.api_key} if places.api_key else {})


def _dataset(point: PointLoad, places: Places) -> dict[str, Any]:
    if places.trace:
        return _file_dataset(point, places)
    if point.load.scenario is not None:
        return {"type": "public", "dataset": AGENTX_CORPUS, "cacheBust": {"target": "first_turn_prefix"}}
    return {
        "type": "synthetic",
        "entries": n_prompts(point),
        "sampling": "sequential",
        "prompts": {"isl": point.workload.input_len_tok, "osl": point.workload.output_len_tok},
    }


def _file_dataset(point: PointLoad, places: Places) -> dict[str, Any]:
    dataset: dict[str, Any] = {
        "type": "file",
        "path": places.trace,
        "format": places.trace_format,
        "sampling": "sequential",
    }
    if point.load.scenario is not None:
        dataset |= {"cacheBust": {"target": "first_turn_prefix"}}
    if places.trace_format == "mooncake_trace" and point.workload.kind == "agentic":
        dataset |= {"prompts": {"corpus": "coding"}, "blockSize": trace_shape(point.workload).block_tok}
    return dataset


def _phases(point: PointLoad, batch: Batch) -> list[dict[str, Any]]:
    load = point.load
    lanes = {**_lane_looks(point), "concurrency": point.concurrency, "gracePeriod": load.grace_s}
    repeats = range(batch.first_repeat, batch.first_repeat + batch.n_repeats)
    measured = [{"name": f"{REPEAT}_{i}", "kind": "profiling", "duration": load.window_s, **lanes} for i in repeats]
    if load.scenario is not None:  # makes its own warm-up, and refuses another
        return measured
    warmups = [{"name": f"{WARMUP}_{i}", "kind": "warmup", "duration": load.warmup_s, **lanes} for i in repeats]
    return [phase for pair in zip(warmups, measured, strict=True) for phase in pair]


def _lane_looks(point: PointLoad) -> dict[str, Any]:
    """The kind of a phase that keeps lanes busy. The scenario has its own, and takes no other."""
    if point.load.scenario is not None:
        return {"type": "concurrency"}
    return {"type": "constant", "rate": max(MIN_LOOKS_S, LOOKS_PER_LANE_S * point.concurrency)}
