"""Tokens, seconds and GPUs to throughputs, and TPOT to interactivity. POINTS columns in, POINTS columns out.

Belongs here: the two divisions that every source needs alike. Not here: which window counts (window.py), and the
statistics that go in (summary.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.units import interactivity_tok_s_user


def throughputs(row: Mapping[str, Any]) -> dict[str, float]:
    """Throughputs per GPU held [tok/s/GPU] = tokens of successful requests / window_s / n_gpus, by POINTS column.

    Total, input, output and computed input (input − cached input). One whose tokens are not all known is left out;
    empty without a window, without GPUs held, and where nothing succeeded.
    """
    window_s, n_gpus = row.get("window_s"), row.get("n_gpus")
    input_tok, output_tok, cached_tok = (row.get(key) for key in ("input_tok", "output_tok", "cached_input_tok"))
    if not window_s or not n_gpus or row.get("n_successful") == 0:
        return {}
    tokens = {
        "throughput_tok_s_gpu": _sum(input_tok, output_tok),
        "input_throughput_tok_s_gpu": input_tok,
        "output_throughput_tok_s_gpu": output_tok,
        "computed_input_throughput_tok_s_gpu": _sum(input_tok, None if cached_tok is None else -cached_tok),
    }
    per_gpu = 1 / (window_s * n_gpus)
    return {name: n_tok * per_gpu for name, n_tok in tokens.items() if n_tok is not None}


def cache_hit_share(row: Mapping[str, Any]) -> float | None:
    """Cached input / input tokens. None where either is not known, or nothing was sent."""
    input_tok, cached_tok = row.get("input_tok"), row.get("cached_input_tok")
    return cached_tok / input_tok if input_tok and cached_tok is not None else None


def interactivity(row: Mapping[str, Any]) -> float | None:
    """1 / TPOT at the row's percentile [tok/s/user]. None where there is no such TPOT."""
    tpot_s = row.get(tpot_column(row["percentile"]))
    return interactivity_tok_s_user(tpot_s) if tpot_s else None


def tpot_column(percentile: int) -> str:
    """The POINTS column of the TPOT at a percentile."""
    return f"tpot_p{percentile}_s"


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
