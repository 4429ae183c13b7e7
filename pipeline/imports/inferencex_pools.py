"""Prefill and decode pools of InferenceX rows: which fields hold GPUs, and the throughput per GPU held.

Belongs here: the two generations' GPU fields. What holds on the real rows of 2026-05-05: in a disaggregated row the
input throughput is per prefill GPU and the output throughput per decode GPU, and
tput_per_gpu = (input × prefill GPUs + output × decode GPUs) / all GPUs (227 of 227 rows with workers). Without
disaggregation num_prefill_gpu and num_decode_gpu name the same GPUs twice and can hold tp × ep: 196 of 196 such rows
have tput = input + output, and GPUs are tp × pp × workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.imports.draft import Draft, without_nulls
from pipeline.imports.fields import flag, positive, size

POOL_KEYS = {"tp": "tp", "pp": "pp", "pcp": "pcp_size", "dcp": "dcp_size", "ep": "ep", "n_workers": "num_workers"}
TOLERANCE = 0.01


def fill_pools(draft: Draft, row: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
    """Pool sizes, GPUs held and throughputs per GPU held, from a row and its metrics."""
    throughputs = {name: positive(metrics.get(key)) for name, key in _THROUGHPUTS.items()}
    if draft.recorded.disaggregated:
        _fill_two_pools(draft, row, throughputs)
    elif _proves_two_pools(throughputs):
        _fill_total_only(draft, row, throughputs)
    else:
        _fill_one_pool(draft, row, throughputs)


_THROUGHPUTS = {"total": "tput_per_gpu", "input": "input_tput_per_gpu", "output": "output_tput_per_gpu"}


def _fill_one_pool(draft: Draft, row: Mapping[str, Any], throughputs: Mapping[str, float | None]) -> None:
    prefix = "decode_" if "decode_tp" in row else ""
    draft.columns |= _pool(row, prefix, ours="")
    total, output = throughputs["total"], throughputs["output"]
    rest = total - output if total and output and total > output else None
    draft.columns |= without_nulls(
        {
            "throughput_tok_s_gpu": total,
            "input_throughput_tok_s_gpu": throughputs["input"] or rest,
            "output_throughput_tok_s_gpu": output,
        }
    )


def _fill_two_pools(draft: Draft, row: Mapping[str, Any], throughputs: Mapping[str, float | None]) -> None:
    draft.columns |= _pool(row, "decode_", ours="") | _pool(row, "prefill_", ours="prefill_")
    n_prefill, n_decode = size(row.get("num_prefill_gpu")), size(row.get("num_decode_gpu"))
    share = prefill_share(throughputs)
    if n_prefill and n_decode and (share is None or abs(share - n_prefill / (n_prefill + n_decode)) < TOLERANCE):
        _fill_held(draft, n_prefill, n_decode, throughputs)
        return
    draft.notes.add("pool_sizes_contradict_throughput")
    if n_prefill == n_decode and share is not None and n_prefill and _is_whole(share * n_prefill):
        draft.notes.add("gpu_counts_repeat")
        for key in ("tp", "prefill_tp"):
            draft.columns.pop(key, None)
        _fill_held(draft, round(share * n_prefill), n_prefill - round(share * n_prefill), throughputs)
    else:
        draft.columns |= without_nulls({"throughput_tok_s_gpu": throughputs["total"]})


def _fill_total_only(draft: Draft, row: Mapping[str, Any], throughputs: Mapping[str, float | None]) -> None:
    """InferenceMAX's first rows: the throughputs prove two pools, and tp holds all GPUs of both."""
    share, n_gpus = prefill_share(throughputs), size(row.get("tp"))
    draft.columns["disaggregated"] = True
    draft.notes.add("disaggregation_from_throughput")
    if share is not None and n_gpus and _is_whole(share * n_gpus):
        draft.notes.add("tp_holds_all_gpus")
        _fill_held(draft, round(share * n_gpus), n_gpus - round(share * n_gpus), throughputs)
    else:
        draft.columns |= without_nulls({"throughput_tok_s_gpu": throughputs["total"]})


def _fill_held(draft: Draft, n_prefill: int, n_decode: int, throughputs: Mapping[str, float | None]) -> None:
    """Throughput of one pool's GPUs to throughput of all GPUs held: scaled once, by the pool's share."""
    n_gpus = n_prefill + n_decode
    scale = {"total": 1.0, "input": n_prefill / n_gpus, "output": n_decode / n_gpus}
    names = {"total": "throughput_tok_s_gpu", "input": "input_throughput_tok_s_gpu"}
    names["output"] = "output_throughput_tok_s_gpu"
    draft.columns |= {"n_gpus": n_gpus, "n_gpus_prefill": n_prefill, "n_gpus_decode": n_decode}
    draft.columns |= {names[k]: value * scale[k] for k, value in throughputs.items() if value is not None}


def prefill_share(throughputs: Mapping[str, float | None]) -> float | None:
    """Share of the GPUs that prefill, from total = input × share + output × (1 − share); None if not in 0…1."""
    total, input_, output = throughputs["total"], throughputs["input"], throughputs["output"]
    if total is None or input_ is None or output is None or input_ == output:
        return None
    share = (total - output) / (input_ - output)
    return share if 0 < share < 1 else None


def _proves_two_pools(throughputs: Mapping[str, float | None]) -> bool:
    """One pool has total = input + output; two pools have a weighted mean of both, which is less."""
    total, input_, output = throughputs["total"], throughputs["input"], throughputs["output"]
    if total is None or input_ is None or output is None:
        return False
    return total < (input_ + output) * (1 - TOLERANCE) and prefill_share(throughputs) is not None


def _pool(row: Mapping[str, Any], prefix: str, *, ours: str) -> dict[str, Any]:
    sizes = {f"{ours}{name}": size(row.get(f"{prefix}{key}")) for name, key in POOL_KEYS.items()}
    return without_nulls({**sizes, f"{ours}dp_attention": flag(row.get(f"{prefix}dp_attention"))})


def _is_whole(n_gpus: float) -> bool:
    return abs(n_gpus - round(n_gpus)) < TOLERANCE and round(n_gpus) >= 1
