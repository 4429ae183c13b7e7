"""10 million requests to costs, against the bare scan of the same columns and against pandas."""

import datetime as dt
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa

from pipeline.cost.price_book import price_table
from pipeline.cost.price_readings import price_readings
from pipeline.frontier.derive import derive_curves
from pipeline.measure.summary import summarize
from pipeline.registry.shipped import shipped_prices
from pipeline.tables.points import POINTS
from tests.bench.generate import requests_files

COLUMNS = (
    "point_id", "phase", "outcome", "start_ns", "ttft_ns", "e2el_ns",
    "input_tok", "output_tok", "cached_input_tok", "first_chunk_tok", "itl_ns",
)  # fmt: skip
N_GPUS = 8
REPEATS = 3


def measure(folder: Path, n_rows: int) -> list[tuple[str, str, str, str]]:
    """Rows of the result table: what, measured, ratio, goal. Minimum wall time of three, in one process."""
    files = [str(p) for p in requests_files(folder, n_rows, 20)]
    with duckdb.connect(":memory:") as connection:
        connection.read_parquet(files).create_view("requests")
        scan_s = _fastest(lambda: _scan(connection))
        derive_s = _fastest(lambda: _derive(connection))
        pandas_s = _fastest(lambda: _pandas(files), repeats=1)
    return [
        (f"bare scan of {n_rows:,} request rows, 20 Parquet files", f"{scan_s:.2f} s", "1", ""),
        ("requests → points → frontier → costs", f"{derive_s:.2f} s", f"{derive_s / scan_s:.1f} × the scan", "≤ 3"),
        ("the same statistics in pandas", f"{pandas_s:.2f} s", f"{pandas_s / derive_s:.1f} × ours", "≥ 3"),
    ]


def _fastest(call: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def _scan(connection: duckdb.DuckDBPyConnection) -> None:
    connection.sql(f"SELECT {', '.join(f'max({c})' for c in COLUMNS)} FROM requests").fetchall()


def _derive(connection: duckdb.DuckDBPyConnection) -> None:
    summary = summarize(connection, "requests")
    connection.register("points", _points(summary))
    curves = derive_curves(connection, ("agentx",))
    prices = price_table(p for p in shipped_prices() if p.gpu == "h100")
    costs = price_readings(connection, curves.readings, prices)
    connection.unregister("points")
    assert costs.num_rows > 0


def _points(summary: pa.Table) -> pa.Table:
    """Summaries as points of one H100 sweep: 8 GPUs held, one curve for every 50 points."""
    rows = [
        {
            **{name: row[name] for name in row if name in POINTS.names},
            **{"model": "deepseek_v4_1_flash", "gpu": "h100", "workload": "agentx", "engine": "vllm"},
            **{"engine_family": "vllm", "precision": "fp4", "provenance": "measured", "topology": "tp8"},
            **{"concurrency": i, "run_id": f"run-{i // 50}", "run_date": dt.date(2026, 10, 1), "attempt": 1},
            **{"valid": True, "reasons": [], "notes": [], "declared": [], "percentile": 90, "source_format": "bench"},
            **{"source_file": "bench", "source_sha256": "0", "source_row": i},
            "interactivity_tok_s_user": 1 / row["tpot_p90_s"],
            "throughput_tok_s_gpu": (row["input_tok"] + row["output_tok"]) / row["window_s"] / N_GPUS,
        }
        for i, row in enumerate(summary.to_pylist())
    ]
    return POINTS.from_rows(rows)


def _pandas(files: list[str]) -> pd.DataFrame:
    """Counts, tokens and mean, std and five percentiles of TTFT, TPOT and E2EL a point: what summary.sql computes."""
    wanted = [c for c in COLUMNS if c != "itl_ns"]
    frame = pd.concat([pd.read_parquet(f, columns=wanted) for f in files])
    frame = frame[(frame["phase"] == "profiling") & (frame["outcome"] == "ok")]
    frame["tpot_ns"] = (frame["e2el_ns"] - frame["ttft_ns"]) / (frame["output_tok"] - frame["first_chunk_tok"])
    groups = frame.groupby("point_id")
    latencies = groups[["ttft_ns", "tpot_ns", "e2el_ns"]]
    parts = [groups.size(), groups[["input_tok", "output_tok"]].sum(), latencies.mean(), latencies.std(ddof=0)]
    return pd.concat([*parts, *(latencies.quantile(q) for q in (0.5, 0.75, 0.9, 0.95, 0.99))], axis=1)
