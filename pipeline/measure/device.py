"""What the device and its host said of themselves, as columns, reasons and notes of a point. Samples in, numbers out.

Belongs here: the identity of a device, and the arithmetic over its samples. Not here: asking it (resources).
"""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Sample = Mapping[str, Any]

THROTTLED_BY = frozenset({"thermal", "hardware", "power_brake"})
"""Words of throttle_reasons that mean a device slower than it should be: heat, a fault, the supply."""

MAX_THROTTLED_SHARE = 0.05
MIN_SAID_SHARE = 0.05
MIN_HOST_BUSY = 0.10


@dataclass(frozen=True)
class DeviceIdentity:
    """The devices of one product on this host, in their own words. None: the device does not say.

    ``driver``: version of the driver, or the kernel of a CPU host. ``n_devices``: devices, or 1 for a CPU host.
    ``n_cores``: physical cores of a CPU host. ``power_limit_w``: the limit that holds; ``memory_gib``: of one device.
    Of a device elsewhere nothing is known (ELSEWHERE).
    """

    name: str | None
    driver: str | None
    n_devices: int
    n_cores: int | None = None
    memory_gib: float | None = None
    power_limit_w: float | None = None
    clock_max_mhz: float | None = None


ELSEWHERE = DeviceIdentity(name=None, driver=None, n_devices=0)
"""The device of a server on another host: nobody here can ask it."""


@dataclass(frozen=True)
class MeasuredWindow:
    """One measured window: its start (UTC), its length, and the output tokens of its successful requests."""

    started_at: dt.datetime
    length_s: float
    output_tok: int

    def holds(self, sample: Sample) -> bool:
        """Whether a sample was taken in the window."""
        sampled_at: dt.datetime = sample["sampled_at"]
        return self.started_at <= sampled_at <= self.started_at + dt.timedelta(seconds=self.length_s)


def device_columns(samples: Sequence[Sample], windows: Sequence[MeasuredWindow], n_gpus: int) -> dict[str, Any]:
    """POINTS columns of a device over the measured windows; one that was not sampled in them is null.

    power_w_gpu: of each device and window, the rise of the energy counter between its first and last sample over the
    seconds between, or the mean of its power where it has no such counter; then the mean weighted by window length.
    energy_j_output_tok: power × seconds of all GPUs held / output tokens; null where fewer devices were sampled than
    are held. Of a host with more devices the first ones count, which is what an engine takes.
    """
    ours = held_samples(samples, n_gpus)
    inside = [sample for sample in ours if any(window.holds(sample) for window in windows)]
    clocks, temperatures = _said(inside, "clock_mhz"), _said(inside, "temperature_c")
    energies_j, seconds = _energies_j(ours, windows)
    output_tok = sum(window.output_tok for window in windows)
    all_held = len({sample["device_index"] for sample in inside}) == n_gpus
    return {
        "power_w_gpu": sum(energies_j) / seconds if seconds else None,
        "energy_j_output_tok": sum(energies_j) / output_tok
        if _covers(energies_j, windows, n_gpus) and all_held and output_tok
        else None,
        "clock_mhz": statistics.fmean(clocks) if clocks else None,
        "temperature_max_c": max(temperatures, default=None),
        "device_name": ours[0]["device_name"] if ours else None,
    }


def without_strangers(samples: Iterable[Sample]) -> list[Sample]:
    """The samples without what they say of others' processes: of a server that is not ours, nobody knows which it has.

    Its own would count as others', and speak against every point.
    """
    return [{**sample, "n_foreign_processes": None, "foreign_share": None} for sample in samples]


def held_samples(samples: Iterable[Sample], n_gpus: int) -> list[Sample]:
    """The samples of the first n devices by index."""
    rows = list(samples)
    held = sorted({sample["device_index"] for sample in rows})[:n_gpus]
    return [sample for sample in rows if sample["device_index"] in held]


def device_findings(
    samples: Sequence[Sample], windows: Sequence[MeasuredWindow], n_gpus: int
) -> tuple[set[str], set[str]]:
    """Reasons and notes of the device over the measured windows. Nothing follows from no samples.

    throttled: heat or a fault lowered the clocks in over 5 % of the samples. shared_device: somebody else's process
    was on it. The power limit is a note: under full load it is where many devices run.
    """
    inside = [s for s in held_samples(samples, n_gpus) if any(window.holds(s) for window in windows)]
    if not inside:
        return set(), set()
    reasons = set()
    if _share(inside, lambda s: not THROTTLED_BY.isdisjoint(s["throttle_reasons"])) > MAX_THROTTLED_SHARE:
        reasons.add("throttled")
    if any(sample.get("n_foreign_processes") for sample in inside):
        reasons.add("shared_device")
    return reasons, _notes(inside, n_gpus)


def _notes(inside: Sequence[Sample], n_gpus: int) -> set[str]:
    notes = set()
    capped = _share(inside, lambda s: "power_cap" in s["throttle_reasons"])
    if capped > MIN_SAID_SHARE:
        notes.add(f"power_capped={capped:.0%}")
    if any("user_clocks" in sample["throttle_reasons"] for sample in inside):
        notes.add("user_clocks")
    if len({sample["device_index"] for sample in inside}) < n_gpus:
        notes.add("fewer_devices_sampled")
    foreign = _said([s for s in inside if s.get("n_foreign_processes") is None], "foreign_share")
    if foreign and statistics.fmean(foreign) > MIN_HOST_BUSY:
        notes.add(f"host_busy={statistics.fmean(foreign):.0%}")
    return notes


def _share(samples: Sequence[Sample], holds: Callable[[Sample], bool]) -> float:
    return sum(map(holds, samples)) / len(samples)


def _said(samples: Iterable[Sample], name: str) -> list[float]:
    return [sample[name] for sample in samples if sample.get(name) is not None]


def _energies_j(samples: Sequence[Sample], windows: Sequence[MeasuredWindow]) -> tuple[list[float], float]:
    """Energy [J] of every device and window with a known power, and the seconds that they make together."""
    energies_j, seconds = [], 0.0
    for index in sorted({sample["device_index"] for sample in samples}):
        for window in windows:
            mine = [s for s in samples if s["device_index"] == index and window.holds(s)]
            power_w = _power_w(sorted(mine, key=lambda s: s["sampled_at"]))
            if power_w is not None:
                energies_j.append(power_w * window.length_s)
                seconds += window.length_s
    return energies_j, seconds


def _power_w(samples: Sequence[Sample]) -> float | None:
    counted = [sample for sample in samples if sample.get("energy_j") is not None]
    if len(counted) > 1:
        seconds = (counted[-1]["sampled_at"] - counted[0]["sampled_at"]).total_seconds()
        rise_j = counted[-1]["energy_j"] - counted[0]["energy_j"]
        # A counter that stands still is one that the device does not drive, and one that fell started anew.
        if seconds > 0 and rise_j > 0:
            return float(rise_j / seconds)
    powers = _said(samples, "power_w")
    return statistics.fmean(powers) if powers else None


def _covers(energies_j: Sequence[float], windows: Sequence[MeasuredWindow], n_gpus: int) -> bool:
    return bool(windows) and len(energies_j) == n_gpus * len(windows)
