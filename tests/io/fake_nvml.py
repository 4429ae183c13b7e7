"""A stand-in for the binding of NVML: two H200 and one other device, in NVML's own units."""

from dataclasses import dataclass, field
from types import SimpleNamespace


class NVMLError(Exception):
    """What the binding raises for everything."""


@dataclass
class FakeNvml:
    """``missing`` names functions that the device does not support; ``absent``: there is no driver."""

    names: tuple[str, ...] = ("NVIDIA H200", "NVIDIA H200", "NVIDIA T400")
    pids: tuple[int, ...] = ()
    reasons: int = 0
    energy_mj: int = 5_000_000
    missing: frozenset[str] = frozenset()
    absent: bool = False
    n_open: int = field(default=0)

    NVMLError = NVMLError
    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0

    def nvmlInit(self):
        if self.absent:
            raise NVMLError("Driver Not Loaded")
        self.n_open += 1

    def nvmlShutdown(self):
        self.n_open -= 1

    def nvmlDeviceGetCount(self):
        assert self.n_open > 0, "NVML is not open"
        return len(self.names)

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetName(self, handle):
        return self.names[handle]

    def nvmlSystemGetDriverVersion(self):
        return "580.65.06"

    def nvmlDeviceGetPowerUsage(self, handle):
        return self._said("power", 650_000 + handle)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        return self._said("energy", self.energy_mj)

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):
        return self._said("limit", 700_000)

    def nvmlDeviceGetClockInfo(self, handle, kind):
        return self._said("clock", 1_755)

    def nvmlDeviceGetMaxClockInfo(self, handle, kind):
        return self._said("clock", 1_980)

    def nvmlDeviceGetTemperature(self, handle, sensor):
        return self._said("temperature", 61)

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(total=141 * 2**30, used=100 * 2**30)

    def nvmlDeviceGetUtilizationRates(self, handle):
        return SimpleNamespace(gpu=97, memory=50)

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle):
        return self._said("reasons", self.reasons)

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        return self._said("processes", [SimpleNamespace(pid=pid) for pid in self.pids])

    def _said(self, what, value):
        if what in self.missing:
            raise NVMLError("Not Supported")
        return value
