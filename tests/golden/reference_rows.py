"""Rows that were constructed so that the three reference pages follow from them, and what those pages print.

The raw points behind the reference pages are not public. What is known is what the pages print: 8, 19 and 18 points,
the peak, the run dates, the engines, and the readings at six targets. The speeds, topologies, concurrencies and
dominated points here are made up; the throughputs of the frontier points were then solved for (Newton, 5 decimals),
so that the reference's own reading gives the printed numbers to 3 decimals. No page may call them measurements.

TTFT is made up but for its minimum, which is the page's. Output is 0.72 % of the total and 93 % of the input is cached,
the shares of one audited point, except in the SGLang series of the H100, which says nothing about kinds of tokens.
"""

import datetime as dt
import hashlib
from dataclasses import dataclass

import pyarrow as pa

from pipeline.tables.points import POINTS

MODEL = "deepseek_v4_1_flash"
WORKLOAD = "agentx"
OUTPUT_SHARE = 0.0072
CACHE_HIT_SHARE = 0.93


@dataclass(frozen=True)
class Row:
    """One constructed point: lanes, tensor-parallel size, tok/s/user at p90, tok/s/GPU, p90 TTFT."""

    concurrency: int
    tp: int
    interactivity_tok_s_user: float
    throughput_tok_s_gpu: float
    ttft_p90_s: float


@dataclass(frozen=True)
class Series:
    """One engine's run on one GPU."""

    engine: str
    run_date: dt.date
    rows: tuple[Row, ...]
    says_kinds_of_tokens: bool = True


@dataclass(frozen=True)
class Rung:
    """One ladder row as the reference prints it; None where it prints a dash."""

    target_tok_s_user: int
    throughput: str | None
    usd_mtok: str | None
    engine: str
    precision: str = "fp4"


@dataclass(frozen=True)
class ReferenceTable:
    """What one reference page prints: the ladder, tier -> (USD/GPU/h, USD/Mtok at 50), and the facts around them."""

    name: str
    n_points: int
    peak: str
    first_run: dt.date
    last_run: dt.date
    engines: tuple[str, ...]
    ladder: tuple[Rung, ...]
    tiers: dict[str, tuple[str, str]]


GB200_VLLM = Series(
    "vllm",
    dt.date(2026, 9, 11),
    (
        Row(512, 4, 43.6, 78100.0, 2.8),
        Row(384, 4, 58.2, 68342.95748, 1.9),
        Row(320, 4, 55.0, 61240.5, 2.1),  # dominated
        Row(256, 4, 83.1, 53759.6663, 1.2),
        Row(128, 4, 121.7, 36679.96095, 0.8),
        Row(96, 8, 118.4, 30115.2, 0.7),  # dominated
        Row(64, 8, 168.4, 23405.71805, 0.5),
        Row(32, 8, 212.9, 17602.01232, 0.3),
    ),
)
B300_VLLM = Series(
    "vllm",
    dt.date(2026, 10, 9),
    (
        Row(1024, 4, 38.9, 406374.0, 3.1),
        Row(768, 4, 56.3, 294660.67984, 2.2),
        Row(640, 8, 54.1, 271900.4, 2.0),  # dominated
        Row(512, 4, 71.8, 254729.82615, 1.5),
        Row(448, 8, 70.2, 226480.9, 1.4),  # dominated
        Row(384, 4, 88.5, 233029.83313, 1.1),
        Row(256, 4, 126.4, 168539.02118, 0.7),
        Row(192, 8, 122.7, 140212.8, 0.6),  # dominated
        Row(96, 8, 187.2, 104310.6, 0.3),
        Row(64, 8, 181.5, 71044.3, 0.2),  # dominated
    ),
)
B300_SGLANG = Series(
    "sglang",
    dt.date(2026, 10, 2),
    (
        Row(768, 4, 61.7, 231805.3, 2.6),
        Row(512, 8, 60.3, 204377.1, 2.4),  # dominated
        Row(384, 4, 94.3, 176240.7, 1.4),
        Row(320, 8, 91.8, 158902.6, 1.2),  # dominated
        Row(192, 4, 143.8, 121377.9, 0.6),
        Row(160, 8, 139.6, 103551.4, 0.5),  # dominated
        Row(96, 8, 181.6, 97957.05506, 0.3),
        Row(64, 8, 176.9, 80218.7, 0.2),  # dominated
        Row(48, 8, 223.4, 77541.85597, 0.1),
    ),
)
H100_SGLANG = Series(
    "sglang",
    dt.date(2026, 9, 18),
    (
        Row(128, 8, 17.3, 3310.4, 6.2),
        Row(96, 8, 16.1, 2904.7, 5.5),  # dominated
        Row(64, 8, 26.4, 2849.53951, 3.9),
        Row(48, 8, 25.2, 2511.3, 3.3),  # dominated
        Row(32, 8, 41.9, 2261.43568, 2.0),
        Row(24, 8, 38.8, 1987.2, 1.7),  # dominated
        Row(16, 8, 57.6, 1762.5, 1.1),
        Row(8, 8, 56.4, 1120.6, 0.9),  # dominated
    ),
    says_kinds_of_tokens=False,
)
H100_VLLM = Series(
    "vllm",
    dt.date(2026, 9, 24),
    (
        Row(96, 8, 63.4, 12673.0, 2.4),
        Row(80, 8, 61.2, 11730.9, 2.2),  # dominated
        Row(64, 8, 82.7, 10657.7021, 1.6),
        Row(56, 8, 80.5, 9988.3, 1.5),  # dominated
        Row(40, 8, 117.5, 9044.30393, 0.9),
        Row(32, 8, 112.6, 7902.4, 0.8),  # dominated
        Row(20, 8, 163.9, 6423.90464, 0.5),
        Row(16, 8, 158.8, 5604.1, 0.4),  # dominated
        Row(8, 8, 221.6, 4546.31856, 0.3),
        Row(4, 8, 219.3, 2417.7, 0.3),  # dominated
    ),
)
SERIES_OF_GPU = {"gb200": (GB200_VLLM,), "b300": (B300_VLLM, B300_SGLANG), "h100": (H100_VLLM, H100_SGLANG)}


def reference_points(gpu: str) -> pa.Table:
    """POINTS of one of gb200, b300 and h100: constructed, provenance imported."""
    return POINTS.from_rows(
        [
            _point(gpu, series, row, source_row)
            for series in SERIES_OF_GPU[gpu]
            for source_row, row in enumerate(series.rows)
        ]
    )


def reference_table(gpu: str) -> ReferenceTable:
    """What the reference page of one of gb200, b300 and h100 prints."""
    return REFERENCE_TABLES[gpu]


SAME_IN_EVERY_ROW: dict[str, object] = {
    "model": MODEL,
    "workload": WORKLOAD,
    "precision": "fp4",
    "disaggregated": False,
    "multinode": False,
    "kv_offload": "none",
    "spec_method": "none",
    "provenance": "imported",
    "pp": 1,
    "n_workers": 1,
    "attempt": 1,
    "valid": True,
    "reasons": [],
    "notes": [],
    "n_failed": 0,
    "n_cancelled": 0,
    "window": "whole_run",
    "window_s": 600.0,
    "percentile": 90,
    "interactivity_source": "tpot_p90_s",
    "declared": [],
    "source_format": "constructed",
}


def _point(gpu: str, series: Series, row: Row, source_row: int) -> dict[str, object]:
    source = f"constructed-{gpu}-{series.engine}"
    kinds = _kinds_of_tokens(row.throughput_tok_s_gpu) if series.says_kinds_of_tokens else {}
    return {
        **SAME_IN_EVERY_ROW,
        **kinds,
        "point_id": hashlib.sha256(f"{source}:{source_row}".encode()).hexdigest()[:16],
        "gpu": gpu,
        "engine": series.engine,
        "engine_family": series.engine,
        "engine_build": f"{series.engine}:constructed",
        "topology": f"tp{row.tp}",
        "tp": row.tp,
        "n_gpus": row.tp,
        "concurrency": row.concurrency,
        "run_id": source,
        "run_date": series.run_date,
        "n_requested": 10 * row.concurrency,
        "n_successful": 10 * row.concurrency,
        "throughput_tok_s_gpu": row.throughput_tok_s_gpu,
        "interactivity_tok_s_user": row.interactivity_tok_s_user,
        "tpot_p90_s": 1 / row.interactivity_tok_s_user,
        "ttft_p90_s": row.ttft_p90_s,
        "source_file": f"{source}.json",
        "source_sha256": hashlib.sha256(source.encode()).hexdigest(),
        "source_row": source_row,
    }


def _kinds_of_tokens(total_tok_s_gpu: float) -> dict[str, object]:
    input_tok_s_gpu = total_tok_s_gpu * (1 - OUTPUT_SHARE)
    return {
        "input_throughput_tok_s_gpu": input_tok_s_gpu,
        "output_throughput_tok_s_gpu": total_tok_s_gpu * OUTPUT_SHARE,
        "computed_input_throughput_tok_s_gpu": input_tok_s_gpu * (1 - CACHE_HIT_SHARE),
        "cache_hit_share": CACHE_HIT_SHARE,
    }


REFERENCE_TABLES = {
    "gb200": ReferenceTable(
        name="GB200 NVL72",
        n_points=8,
        peak="78,100",
        first_run=dt.date(2026, 9, 11),
        last_run=dt.date(2026, 9, 11),
        engines=("vLLM",),
        ladder=(
            Rung(30, None, None, "vLLM"),
            Rung(50, "73,744", "0.007", "vLLM"),
            Rung(75, "58,204", "0.009", "vLLM"),
            Rung(100, "45,519", "0.011", "vLLM"),
            Rung(150, "27,723", "0.019", "vLLM"),
            Rung(200, "18,841", "0.027", "vLLM"),
        ),
        tiers={"owning_hyperscaler": ("1.86", "0.007"), "retail": ("4.00", "0.015")},
    ),
    "b300": ReferenceTable(
        name="B300",
        n_points=19,
        peak="406,374",
        first_run=dt.date(2026, 10, 2),
        last_run=dt.date(2026, 10, 9),
        engines=("SGLang", "vLLM"),
        ladder=(
            Rung(30, None, None, "vLLM"),
            Rung(50, "328,417", "0.002", "vLLM"),
            Rung(75, "249,248", "0.003", "vLLM"),
            Rung(100, "214,417", "0.003", "vLLM"),
            Rung(150, "138,983", "0.005", "vLLM"),
            Rung(200, "88,417", "0.007", "SGLang"),
        ),
        tiers={"owning_hyperscaler": ("2.26", "0.002"), "retail": ("4.25", "0.004")},
    ),
    "h100": ReferenceTable(
        name="H100",
        n_points=18,
        peak="12,673",
        first_run=dt.date(2026, 9, 18),
        last_run=dt.date(2026, 9, 24),
        engines=("SGLang", "vLLM"),
        ladder=(
            Rung(30, "2,694", "0.12", "SGLang"),
            Rung(50, "1,995", "0.16", "SGLang"),
            Rung(75, "11,385", "0.029", "vLLM"),
            Rung(100, "9,711", "0.033", "vLLM"),
            Rung(150, "7,153", "0.045", "vLLM"),
            Rung(200, "5,126", "0.063", "vLLM"),
        ),
        tiers={"owning_hyperscaler": ("1.17", "0.16"), "retail": ("2.00", "0.28")},
    ),
}
