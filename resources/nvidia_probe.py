"""NVIDIA GPUs through NVML: identity and samples. The module of the binding is handed in, so that tests bring a fake.

Written to NVML's documented units (mW, mJ, MHz, bytes, percent); it was not run on hardware.
"""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psutil

from pipeline.measure.device import DeviceIdentity
from pipeline.units import GIB

REASONS: Mapping[int, str] = {
    0x002: "user_clocks",
    0x004: "power_cap",
    0x008: "hardware",
    0x010: "sync_boost",
    0x020: "thermal",
    0x040: "thermal",
    0x080: "power_brake",
    0x100: "display_clocks",
}
"""Bits of NVML's clock event reasons as words of SAMPLES.throttle_reasons. Bit 0x001, idle, is no reason."""

THERMAL_SLOWDOWN = 0x020 | 0x040
HW_SLOWDOWN = 0x008
POWER_BRAKE = 0x080


class NvidiaProbe:
    """Asks NVML. ``nvml`` is the module pynvml, or what stands for it."""

    def __init__(self, nvml: Any):
        self._nvml = nvml

    @contextmanager
    def session(self) -> Iterator[bool]:
        """NVML, open, which takes long the first time; False where there is no driver."""
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError:
            yield False
            return
        try:
            yield True
        finally:
            self._nvml.nvmlShutdown()

    @functools.cached_property
    def names(self) -> list[str]:
        """The name of every device by index, asked for once; empty where there is no driver."""
        with self.session() as ready:
            return [self._nvml.nvmlDeviceGetName(handle) for _, handle in self._handles()] if ready else []

    def identity(self, indices: Collection[int]) -> DeviceIdentity:
        """The devices at some indices, of which the first speaks for all. Raises LookupError for none."""
        with self.session() as ready:
            mine = [handle for index, handle in self._handles() if index in indices] if ready else []
            if not mine:
                raise LookupError("no NVIDIA device")
            nvml, first = self._nvml, mine[0]
            memory = self._asked(lambda: nvml.nvmlDeviceGetMemoryInfo(first).total)
            return DeviceIdentity(
                name=nvml.nvmlDeviceGetName(first),
                driver=nvml.nvmlSystemGetDriverVersion(),
                n_devices=len(mine),
                memory_gib=_scaled(memory, GIB),
                power_limit_w=_scaled(self._asked(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(first)), 1_000),
                clock_max_mhz=self._asked(lambda: float(nvml.nvmlDeviceGetMaxClockInfo(first, nvml.NVML_CLOCK_SM))),
            )

    def sample(self, indices: Collection[int], ours: Collection[int]) -> list[dict[str, Any]]:
        """One SAMPLES row a device, without point_id and sampled_at. Empty where NVML does not answer."""
        with self.session() as ready:
            handles = self._handles() if ready else iter(())
            try:
                return [self._row(index, handle, ours) for index, handle in handles if index in indices]
            except self._nvml.NVMLError:
                return []

    def _row(self, index: int, handle: Any, ours: Collection[int]) -> dict[str, Any]:
        nvml = self._nvml
        power_mw = self._asked(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        energy_mj = self._asked(lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle))
        busy_percent = self._asked(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        temperature_c = self._asked(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        return {
            "device_index": index,
            "device_name": nvml.nvmlDeviceGetName(handle),
            "power_w": _scaled(power_mw, 1_000),
            "energy_j": _scaled(energy_mj, 1_000),
            "power_cap_w": _scaled(self._asked(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle)), 1_000),
            "clock_mhz": self._asked(lambda: float(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))),
            "temperature_c": _scaled(temperature_c, 1),
            "memory_used_gib": _scaled(self._asked(lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used), GIB),
            "busy_share": _scaled(busy_percent, 100),
            "foreign_share": None,
            "n_foreign_processes": self._n_foreign(handle, ours),
            "throttle_reasons": reason_words(
                self._asked(lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)) or 0
            ),
        }

    def _n_foreign(self, handle: Any, ours: Collection[int]) -> int | None:
        """Processes on the device that are not ours. None where some are in another process namespace.

        In a container NVML names processes as the machine outside does: a number that does not exist in here may be
        one of ours.
        """
        processes = self._asked(lambda: self._nvml.nvmlDeviceGetComputeRunningProcesses(handle))
        if processes is None:
            return None
        others = [process.pid for process in processes if process.pid not in ours]
        foreign = [pid for pid in others if psutil.pid_exists(pid)]
        return None if len(foreign) < len(others) else len(foreign)

    def _handles(self) -> Iterator[tuple[int, Any]]:
        for index in range(self._nvml.nvmlDeviceGetCount()):
            yield index, self._nvml.nvmlDeviceGetHandleByIndex(index)

    def _asked(self, question: Callable[[], Any]) -> Any:
        """The answer, or None where the device does not say: older and virtual devices lack some."""
        try:
            return question()
        except self._nvml.NVMLError:
            return None


def reason_words(bits: int) -> list[str]:
    """The words of clock event reasons, each once, sorted.

    The bit for a hardware slowdown is also set beside a thermal slowdown or a power brake, which then say more.
    """
    if bits & (THERMAL_SLOWDOWN | POWER_BRAKE):
        bits &= ~HW_SLOWDOWN
    return sorted({word for bit, word in REASONS.items() if bits & bit})


def _scaled(value: Any, divisor: float) -> float | None:
    return None if value is None else float(value) / divisor
