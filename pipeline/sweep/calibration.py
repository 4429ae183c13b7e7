"""What the load generator adds by itself: its load against the scripted server, and its error in the numbers that come.

Belongs here: the script, the load and the arithmetic. Not here: running either (resources/load_calibration.py).

Answers have different lengths, so that the lanes do not stay in step: a burst of requests in one moment, which a
client sends one after another, is rare under a real load.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.registry.entries import Workload
from pipeline.registry.measured import Load
from pipeline.sweep.load import PointLoad
from pipeline.sweep.scripted import Script

SCRIPT = Script(ttft_s=0.2, tpot_s=0.02)
INPUT_TOK = 64
OUTPUT_TOK = (24, 72)
WARMUP_S, WINDOW_S, GRACE_S = 2.0, 5.0, 5.0
SEED = 1

WORKLOAD = Workload(
    name="calibration",
    kind="fixed_length",
    percentile=50,
    rank=100,
    description="single requests to the scripted server",
)


@dataclass(frozen=True)
class ClientError:
    """The client's own error: of the median TPOT as a share of the truth, of the median TTFT in s, both signed."""

    tpot_share: float
    ttft_s: float
    n_requests: int


def calibration_trace(concurrency: int) -> list[str]:
    """Single requests for all lanes, in Mooncake form, with lengths between those of ``OUTPUT_TOK``."""
    rng = random.Random(SEED)
    shortest_s = SCRIPT.ttft_s + OUTPUT_TOK[0] * SCRIPT.tpot_s
    n_requests = concurrency * math.ceil((WARMUP_S + WINDOW_S + 2) / shortest_s)
    lengths = (rng.randint(*OUTPUT_TOK) for _ in range(n_requests))
    return [json.dumps({"input_length": INPUT_TOK, "output_length": length}) for length in lengths]


def calibration_load(concurrency: int, trace: str, tokenizer: str, window_s: float = WINDOW_S) -> PointLoad:
    """The load that sends the trace."""
    load = Load(repeats=1, warmup_s=WARMUP_S, window_s=window_s, grace_s=GRACE_S, prompts=trace)
    return PointLoad("scripted", WORKLOAD, concurrency, load, SEED, tokenizer)


def client_error(rows: Sequence[Mapping[str, Any]], script: Script = SCRIPT) -> ClientError | None:
    """The error over the measured successful requests; None without any that has at least two chunks."""
    timed = [row for row in rows if row["phase"] == "profiling" and row["outcome"] == "ok" and row["ttft_ns"]]
    tpots_s = [tpot for tpot in map(_tpot_s, timed) if tpot is not None]
    if not tpots_s:
        return None
    ttft_s = statistics.median(row["ttft_ns"] / 1e9 for row in timed)
    return ClientError(statistics.median(tpots_s) / script.tpot_s - 1, ttft_s - script.ttft_s, len(timed))


def _tpot_s(row: Mapping[str, Any]) -> float | None:
    """(end − first token) / (output tokens − tokens in the first chunk)."""
    if row["output_tok"] is None or row["output_tok"] <= row["first_chunk_tok"]:
        return None
    return float((row["e2el_ns"] - row["ttft_ns"]) / 1e9 / (row["output_tok"] - row["first_chunk_tok"]))
