"""The host and its devices: which products of the registry are here, what they say of themselves, and samples of them.

Belongs here: whom to ask, and the thread that asks once a second. Not here: how each is asked (nvidia_probe.py,
amd_probe.py, cpu_probe.py), and what samples mean for a point (pipeline/measure/device.py).
"""

import datetime as dt
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg
import psutil
import pynvml
from pydantic import Field

from pipeline.errors import DeviceError
from pipeline.measure.device import DeviceIdentity
from pipeline.registry.shipped import shipped_registry
from resources.amd_probe import AmdProbe
from resources.cpu_probe import CpuProbe
from resources.nvidia_probe import NvidiaProbe
from resources.programs import ask

CPU = "cpu"
AMD_SMI_TIMEOUT_S = 10.0

Ask = Callable[[Collection[int]], list[dict[str, Any]]]


class Sampler:
    """The samples of one device product so far. A moment in which nobody answered has none."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def rows(self) -> list[dict[str, Any]]:
        """SAMPLES rows without point_id, in the order of time."""
        return list(self._rows)

    def add(self, sampled_at: dt.datetime, rows: list[dict[str, Any]]) -> None:
        """The rows of one moment (UTC)."""
        self._rows += [{**row, "sampled_at": sampled_at} for row in rows]


class HostProbe(dg.ConfigurableResource):
    """Asks NVML, amd-smi and /proc. ``interval_s`` lies between two samples; ``amd_smi`` is the program to run."""

    interval_s: float = Field(default=1.0, ge=0.01, le=60)
    amd_smi: str = "amd-smi"

    def present(self) -> list[str]:
        """Slugs of the registry's GPUs that this host has, each once; cpu, which every host has, last."""
        names = [*self.nvidia().names, *self.amd().names]
        found = {slug for name in names if (slug := shipped_registry().gpu_slug(name))}
        return [*sorted(found - {CPU}), CPU]

    def identity(self, gpu: str) -> DeviceIdentity:
        """The devices of one product on this host. Raises DeviceError where there is none."""
        if gpu == CPU:
            return CpuProbe().identity()
        probe, indices = self._probe(gpu)
        return probe.identity(indices)

    @contextmanager
    def sampling(self, gpu: str, ours: Callable[[], Collection[int]]) -> Iterator[Sampler]:
        """Samples of a product's devices, one at once and then one each interval, until the block ends.

        ``ours`` names the processes of the server; this process and all that it started, such as the load client, are
        ours too. Raises DeviceError where there is no such device.
        """
        sampler, over = Sampler(), threading.Event()

        def sample(question: Ask) -> None:
            while True:
                sampler.add(dt.datetime.now(dt.UTC), question({*ours(), *own_processes()}))
                if over.wait(self.interval_s):
                    return

        with self._asking(gpu) as question:
            thread = threading.Thread(target=sample, args=(question,), name=f"samples of {gpu}", daemon=True)
            thread.start()
            try:
                yield sampler
            finally:
                over.set()
                thread.join()

    def memory_used_gib(self, gpu: str) -> float | None:
        """Memory in use on all devices of a product, whoever uses it; None for a CPU, and where no device says.

        Raises DeviceError where there is no such device.
        """
        if gpu == CPU:
            return None
        with self._asking(gpu) as question:
            said = [row["memory_used_gib"] for row in question(())]
        used_gib = [used for used in said if used is not None]
        return sum(used_gib) if used_gib else None

    def nvidia(self) -> NvidiaProbe:
        """NVML as it is here."""
        return NvidiaProbe(pynvml)

    def amd(self) -> AmdProbe:
        """amd-smi as it is here."""
        return AmdProbe(self._said)

    @contextmanager
    def _asking(self, gpu: str) -> Iterator[Ask]:
        """One sample of a product's devices, as a question. NVML stays open meanwhile: opening it takes long."""
        if gpu == CPU:
            yield CpuProbe().sample
            return
        probe, indices = self._probe(gpu)
        with probe.session():
            yield lambda ours: probe.sample(indices, ours)

    def _probe(self, gpu: str) -> tuple[NvidiaProbe | AmdProbe, list[int]]:
        for probe in (self.nvidia(), self.amd()):
            if indices := _indices(probe.names, gpu):
                return probe, indices
        raise DeviceError(
            "this host has no such device",
            where=f"gpu {gpu}",
            expected=f"one of {', '.join(self.present())}",
            next_step="Sweep what is here, or add the device's own name to its aliases in pipeline/registry/gpus.toml.",
        )

    def _said(self, arguments: Sequence[str]) -> str:
        try:
            return ask([self.amd_smi, *arguments], {}, AMD_SMI_TIMEOUT_S).output
        except OSError:
            return ""


def own_processes() -> set[int]:
    """The ids of this process and of every process below it."""
    me = psutil.Process()
    return {me.pid, *(child.pid for child in me.children(recursive=True))}


def _indices(names: list[str], gpu: str) -> list[int]:
    return [index for index, name in enumerate(names) if shipped_registry().gpu_slug(name) == gpu]
