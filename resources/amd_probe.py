"""AMD GPUs through the JSON that amd-smi prints: identity and samples. It was not run on hardware.

Both forms of its answer are read: a list, and since ROCm 7 an object with gpu_data. A value is a number, N/A, or an
object of value and unit; VRAM sizes are in MB of 2^20 bytes.
"""

import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pipeline.measure.device import DeviceIdentity

MIB_PER_GIB = 1_024
VIOLATIONS: Mapping[str, str] = {
    "ppt": "power_cap",
    "prochot": "hardware",
    "socket_thermal": "thermal",
    "vr_thermal": "thermal",
    "hbm_thermal": "thermal",
}
"""What amd-smi calls a violation, as a word of SAMPLES.throttle_reasons."""

Ask = Callable[[Sequence[str]], str]


class AmdProbe:
    """Asks amd-smi. ``ask`` runs it with arguments and returns what it printed, "" where it cannot be run."""

    def __init__(self, ask: Ask):
        self._ask = ask

    def session(self) -> AbstractContextManager[None]:
        """Nothing stays open between two runs of amd-smi."""
        return nullcontext()

    @functools.cached_property
    def names(self) -> list[str]:
        """The name of every device by index, asked for once; empty where there is no amd-smi."""
        return [str(_at(gpu, "asic", "market_name") or "") for gpu in self._gpus("static")]

    def identity(self, indices: Collection[int]) -> DeviceIdentity:
        """The devices at some indices, of which the first speaks for all. Raises LookupError for none."""
        mine = [gpu for gpu in self._gpus("static") if gpu["gpu"] in indices]
        if not mine:
            raise LookupError("no AMD device")
        first = mine[0]
        return DeviceIdentity(
            name=str(_at(first, "asic", "market_name")),
            driver=f"{_at(first, 'driver', 'name') or 'amdgpu'} {_at(first, 'driver', 'version')}",
            n_devices=len(mine),
            memory_gib=_divided(_number(_at(first, "vram", "size")), MIB_PER_GIB),
            power_limit_w=_number(_at(first, "limit", "socket_power")),
        )

    def sample(self, indices: Collection[int], ours: Collection[int]) -> list[dict[str, Any]]:
        """One SAMPLES row a device, without point_id and sampled_at. Empty where amd-smi does not answer."""
        processes = {gpu["gpu"]: gpu for gpu in self._gpus("process")}
        return [
            {**row_of(gpu, self.names), "n_foreign_processes": n_foreign(processes.get(gpu["gpu"]), ours)}
            for gpu in self._gpus("metric")
            if gpu["gpu"] in indices
        ]

    def _gpus(self, command: str) -> list[dict[str, Any]]:
        return gpus_of(self._ask([command, "--json"]))


def gpus_of(text: str) -> list[dict[str, Any]]:
    """The devices of one answer by index. Empty for what is no JSON; lines of warning before it are passed over."""
    start = min((at for at in (text.find("["), text.find("{")) if at >= 0), default=-1)
    try:
        answer = json.loads(text[start:]) if start >= 0 else []
    except ValueError:
        return []
    gpus = answer.get("gpu_data", []) if isinstance(answer, dict) else answer
    return sorted((gpu for gpu in gpus if isinstance(gpu, dict) and "gpu" in gpu), key=lambda gpu: gpu["gpu"])


def row_of(gpu: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """One device of ``amd-smi metric`` as SAMPLES columns."""
    hotspot_c, edge_c = _number(_at(gpu, "temperature", "hotspot")), _number(_at(gpu, "temperature", "edge"))
    index = gpu["gpu"]
    return {
        "device_index": index,
        "device_name": names[index] if index < len(names) else "",
        "power_w": _number(_at(gpu, "power", "socket_power")),
        "energy_j": _number(_at(gpu, "energy", "total_energy_consumption")),
        "power_cap_w": None,
        "clock_mhz": _mean_clock_mhz(gpu),
        "temperature_c": edge_c if hotspot_c is None else hotspot_c,
        "memory_used_gib": _divided(_number(_at(gpu, "mem_usage", "used_vram")), MIB_PER_GIB),
        "busy_share": _divided(_number(_at(gpu, "usage", "gfx_activity")), 100),
        "foreign_share": None,
        "throttle_reasons": sorted({word for name, word in VIOLATIONS.items() if _violated(gpu, name)}),
    }


def n_foreign(gpu: Mapping[str, Any] | None, ours: Collection[int]) -> int | None:
    """Processes of one device of ``amd-smi process`` that are not ours. None where it does not say."""
    listed = None if gpu is None else gpu.get("process_list")
    if not isinstance(listed, list):
        return None
    pids = [_at(entry, "process_info", "pid") for entry in listed if isinstance(entry, dict)]
    return sum(isinstance(pid, int) and pid not in ours for pid in pids)


def _violated(gpu: Mapping[str, Any], name: str) -> bool:
    return str(_at(gpu, "throttle", f"{name}_violation_status")).upper() in ("ACTIVE", "TRUE")


def _mean_clock_mhz(gpu: Mapping[str, Any]) -> float | None:
    """Mean over the compute dies, gfx_0 to gfx_7, that say one."""
    clocks = [_number(_at(gpu, "clock", f"gfx_{die}", "clk")) for die in range(8)]
    said = [clock for clock in clocks if clock is not None]
    return sum(said) / len(said) if said else None


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _number(value: Any) -> float | None:
    number = value.get("value") if isinstance(value, dict) else value
    return float(number) if isinstance(number, (int, float)) and not isinstance(number, bool) else None


def _divided(value: float | None, divisor: float) -> float | None:
    return None if value is None else value / divisor
