"""The CPU of this host, and its load: identity and samples through psutil and /proc.

A share is one of all logical CPUs that the host shows, which in a container are those of the whole machine.
"""

import platform
from collections.abc import Collection
from pathlib import Path
from typing import Any

import psutil

from pipeline.measure.device import DeviceIdentity
from pipeline.units import GIB

CPU_INFO = Path("/proc/cpuinfo")


class CpuProbe:
    """Asks one host. Busy shares are over the time since the sample before; the first sample has none."""

    def __init__(self) -> None:
        model = model_name(CPU_INFO.read_text(encoding="utf-8") if CPU_INFO.exists() else "")
        self._name = f"{model}, {psutil.cpu_count()} logical CPUs"
        self._before: tuple[float, float] | None = None
        self._ours_before: dict[int, float] = {}

    def identity(self) -> DeviceIdentity:
        """Model, kernel, physical cores, memory."""
        frequency = psutil.cpu_freq()
        return DeviceIdentity(
            name=self._name,
            driver=f"{platform.system()} {platform.release()}",
            n_devices=1,
            n_cores=psutil.cpu_count(logical=False) or psutil.cpu_count(),
            memory_gib=psutil.virtual_memory().total / GIB,
            clock_max_mhz=(frequency.max or None) if frequency else None,
        )

    def sample(self, ours: Collection[int]) -> list[dict[str, Any]]:
        """One SAMPLES row without point_id and sampled_at."""
        busy_s, total_s, ours_s = self._seconds(ours)
        frequency = psutil.cpu_freq()
        return [
            {
                "device_index": 0,
                "device_name": self._name,
                "clock_mhz": frequency.current if frequency else None,
                "temperature_c": _temperature_c(),
                "memory_used_gib": psutil.virtual_memory().used / GIB,
                "busy_share": busy_s / total_s if total_s else None,
                "foreign_share": max(0.0, busy_s - ours_s) / total_s if total_s else None,
                "throttle_reasons": [],
            }
        ]

    def _seconds(self, ours: Collection[int]) -> tuple[float, float, float]:
        """CPU seconds since the sample before: busy, all there were, and those of our processes; zeros at first."""
        times = psutil.cpu_times()
        idle_s = times.idle + getattr(times, "iowait", 0.0)
        # Linux counts a guest's time in user time too.
        total_s = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        before, self._before = self._before, (total_s - idle_s, total_s)
        spent, spent_before = {pid: _spent_s(pid) for pid in ours}, self._ours_before
        self._ours_before = spent
        if before is None:
            return 0.0, 0.0, 0.0
        ours_s = sum(max(0.0, seconds - spent_before.get(pid, 0.0)) for pid, seconds in spent.items())
        return self._before[0] - before[0], self._before[1] - before[1], ours_s


def model_name(cpu_info: str) -> str:
    """The CPU's own name in the text of /proc/cpuinfo; the machine type where it has none, as on ARM."""
    for line in cpu_info.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "cpu model") and value.strip():
            return value.strip()
    return platform.processor() or platform.machine()


def _spent_s(pid: int) -> float:
    """CPU seconds of one process so far; 0 for one that is gone."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _temperature_c() -> float | None:
    """The hottest CPU sensor; None where there is none, as in most virtual machines."""
    sensors = psutil.sensors_temperatures()
    found = [entry.current for name in ("coretemp", "k10temp", "cpu_thermal") for entry in sensors.get(name, [])]
    return max(found, default=None)
