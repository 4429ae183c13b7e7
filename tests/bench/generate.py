"""Generated inputs for the measurements, the same on every machine (fixed seed)."""

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS

N_POINTS_A_FILE = 50


def requests_files(folder: Path, n_rows: int, n_files: int) -> list[Path]:
    """Parquet files of REQUESTS rows, ``N_POINTS_A_FILE`` points each, latencies log-normal, no ITL lists."""
    random = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    return [_requests_file(folder / f"requests-{i:02d}.parquet", i, n_rows // n_files, random) for i in range(n_files)]


def _requests_file(path: Path, index: int, n: int, random: np.random.Generator) -> Path:
    point = np.sort(random.integers(0, N_POINTS_A_FILE, n)) + index * N_POINTS_A_FILE
    ttft = (random.lognormal(-1, 0.7, n) * 1e9).astype("int64")
    output = random.integers(200, 2_000, n)
    tpot = random.lognormal(-4, 0.3, n) * 1e9
    columns: dict[str, pa.Array] = {
        "point_id": pa.array(np.char.add("p", np.char.zfill(point.astype(str), 6))),
        "request_index": pa.array(np.arange(n)),
        "phase": pa.repeat("profiling", n),
        "outcome": pa.repeat("ok", n),
        "start_ns": pa.array(np.sort(random.integers(0, 600_000_000_000, n))),
        "ttft_ns": pa.array(ttft),
        "e2el_ns": pa.array(ttft + (tpot * output).astype("int64")),
        "input_tok": pa.array(random.integers(1_000, 100_000, n)),
        "output_tok": pa.array(output),
        "cached_input_tok": pa.array(np.zeros(n, dtype="int64")),
        "first_chunk_tok": pa.array(np.ones(n, dtype="int64")),
    }
    arrays = [columns.get(f.name, pa.nulls(n, f.type)) for f in REQUESTS.schema]
    pq.write_table(pa.Table.from_arrays(arrays, schema=REQUESTS.schema), path, compression="zstd")
    return path


def curve_points(gpu: str, model: str, run_date: dt.date, source: str, n: int = 8) -> pa.Table:
    """One curve of n points on one day: speed 20, 40, … tok/s/user, throughput falling; two engines by turns."""
    rows = [
        {
            "point_id": f"{gpu}-{model}-{run_date}-{i}",
            "model": model,
            "gpu": gpu,
            "workload": "agentx",
            "engine": "vllm",
            "engine_family": "vllm",
            "precision": "fp4",
            "spec_method": "mtp",
            "provenance": "imported",
            "topology": "tp8",
            "concurrency": 2 ** (n - i),
            "run_id": f"bench-{run_date}",
            "run_date": run_date,
            "attempt": 1,
            "valid": True,
            "reasons": [],
            "notes": [],
            "percentile": 90,
            "interactivity_tok_s_user": 20.0 * (i + 1),
            "throughput_tok_s_gpu": 10_000.0 - 900.0 * i - run_date.toordinal() % 100,
            "declared": [],
            "source_format": "bench",
            "source_file": f"{source}.json",
            "source_sha256": source,
            "source_row": i,
        }
        for i in range(n)
    ]
    return POINTS.from_rows(rows)
