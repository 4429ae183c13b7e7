"""Workers and parallel sizes of a deployment: one canonical spelling, and the GPUs that they hold.

GPUs held = workers × tp × pp × pcp, summed over pools; ep, dp attention and dcp reuse tp GPUs and never multiply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UNKNOWN = "unknown"
_CLAIMED = re.compile(r"(?<![a-z0-9])(tp|pp|dp|ep)[-_]?(\d+)(?![a-z0-9])")


@dataclass(frozen=True)
class Pool:
    """The workers of one kind. None is not said; a size that is not said counts as 1, except tp."""

    tp: int | None = None
    pp: int | None = None
    pcp: int | None = None
    dcp: int | None = None
    ep: int | None = None
    dp_attention: bool | None = None
    n_workers: int | None = None

    @property
    def n_gpus(self) -> int | None:
        """GPUs held; None where tp is not said."""
        if self.tp is None:
            return None
        return (self.n_workers or 1) * self.tp * (self.pp or 1) * (self.pcp or 1)

    def spelled(self) -> str:
        """tp8 ep8 dpa, or pp2 tp4: sizes of 1 are left out, but for tp. Empty where tp is not said."""
        if self.tp is None:
            return ""
        sizes = (("pp", self.pp), ("tp", self.tp), ("pcp", self.pcp), ("dcp", self.dcp), ("ep", self.ep))
        words = [f"{name}{value}" for name, value in sizes if value and (value > 1 or name == "tp")]
        return " ".join([*words, "dpa"] if self.dp_attention else words)


def pool_of(columns: Mapping[str, Any], prefix: str) -> Pool:
    """The pool whose columns start with a prefix: "" for serving (decode, if disaggregated), "prefill_"."""
    return Pool(**{name: columns.get(f"{prefix}{name}") for name in Pool.__dataclass_fields__})


def topology(columns: Mapping[str, Any]) -> str:
    """The canonical spelling of a point's deployment; "unknown" where the sizes are not said.

    Disaggregated: ``prefill 1×tp4 ep4 dpa + decode 4×tp8 ep8``, or ``prefill 48 GPUs + decode 24 GPUs`` where only
    the pools' sizes are known.
    """
    serving, prefill = pool_of(columns, ""), pool_of(columns, "prefill_")
    if not columns.get("disaggregated"):
        return _multiplied(serving, above=1) or UNKNOWN
    if serving.tp and prefill.tp:
        return f"prefill {_multiplied(prefill, above=0)} + decode {_multiplied(serving, above=0)}"
    n_prefill, n_decode = columns.get("n_gpus_prefill"), columns.get("n_gpus_decode")
    return f"prefill {n_prefill} GPUs + decode {n_decode} GPUs" if n_prefill and n_decode else UNKNOWN


def unknown_topology(columns: Mapping[str, Any], file_name: str) -> str:
    """What tells apart deployments whose sizes no file records: GPUs held, and sizes that the file's name claims.

    Without this, two configurations at one concurrency would be attempts at one point, and one would hide the other.
    Where neither concurrency nor rate is recorded, the file's name stands for the load.
    """
    n_gpus = columns.get("n_gpus")
    base = file_name.rsplit("/", 1)[-1]
    claimed = [f"{size}{n}" for size, n in _CLAIMED.findall(base.lower())]
    if columns.get("concurrency") is None and columns.get("request_rate_req_s") is None:
        claimed = [base]
    held = [f"{n_gpus} GPUs"] if n_gpus else []
    named = [f"name: {' '.join(claimed)}"] if claimed else []
    return f"{UNKNOWN} ({', '.join(held + named)})" if held or named else UNKNOWN


def n_gpus_held(columns: Mapping[str, Any]) -> int | None:
    """GPUs held over all pools; None where not derivable. Recorded GPU counts win over products of sizes."""
    if columns.get("n_gpus"):
        return int(columns["n_gpus"])
    serving, prefill = pool_of(columns, "").n_gpus, pool_of(columns, "prefill_").n_gpus
    if not columns.get("disaggregated"):
        return serving
    return serving + prefill if serving and prefill else None


def _multiplied(pool: Pool, *, above: int) -> str:
    """With the number of workers in front, where that is above a bound."""
    n_workers = pool.n_workers or 0
    return f"{n_workers}×{pool.spelled()}" if n_workers > above else pool.spelled()
