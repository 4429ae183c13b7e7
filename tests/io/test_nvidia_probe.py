"""NVML's answers as samples; the binding is a fake, because no test has a GPU."""

import os

import pynvml
import pytest

from resources.nvidia_probe import REASONS, NvidiaProbe, reason_words
from tests.io.fake_nvml import FakeNvml

NO_SUCH_PID = 2**22 + 1
"""Above the largest process id of Linux."""


def row(ours=(), **changes):
    return NvidiaProbe(FakeNvml(**changes)).sample([0], ours)[0]


def test_a_sample_is_in_our_units():
    assert row() == {
        "device_index": 0,
        "device_name": "NVIDIA H200",
        "power_w": 650.0,
        "energy_j": 5000.0,
        "power_cap_w": 700.0,
        "clock_mhz": 1755.0,
        "temperature_c": 61.0,
        "memory_used_gib": 100.0,
        "busy_share": 0.97,
        "foreign_share": None,
        "n_foreign_processes": 0,
        "throttle_reasons": [],
    }


def test_only_the_wanted_devices_are_sampled_and_nvml_is_closed_again():
    nvml = FakeNvml()
    assert [r["device_index"] for r in NvidiaProbe(nvml).sample([0, 2], ())] == [0, 2]
    assert nvml.n_open == 0


def test_what_a_device_does_not_say_is_null():
    silent = row(missing=frozenset({"power", "energy", "limit", "clock", "temperature", "reasons", "processes"}))
    names = ("power_w", "energy_j", "power_cap_w", "clock_mhz", "temperature_c", "n_foreign_processes")
    assert {silent[name] for name in names} == {None}
    assert silent["throttle_reasons"] == []


def test_foreign_processes_are_those_that_are_not_ours_and_nobody_knows_those_of_another_namespace():
    me, parent = os.getpid(), os.getppid()
    assert row(ours={me}, pids=(me, parent))["n_foreign_processes"] == 1
    assert row(ours={me}, pids=(me,))["n_foreign_processes"] == 0
    assert row(ours={me}, pids=(me, NO_SUCH_PID))["n_foreign_processes"] is None


def test_identity_is_the_devices_own_word():
    found = NvidiaProbe(FakeNvml()).identity([0, 1])
    assert (found.name, found.driver, found.n_devices) == ("NVIDIA H200", "580.65.06", 2)
    assert (found.memory_gib, found.power_limit_w, found.clock_max_mhz) == (141.0, 700.0, 1980.0)


def test_without_a_driver_there_is_nothing_and_no_error():
    probe = NvidiaProbe(FakeNvml(absent=True))
    assert probe.names == []
    assert probe.sample([0], ()) == []
    with pytest.raises(LookupError):
        probe.identity([0])


def test_a_device_that_is_lost_has_no_sample():
    class Lost(FakeNvml):
        def nvmlDeviceGetName(self, handle):  # noqa: N802 - the binding's name
            raise self.NVMLError("GPU is lost")

    assert NvidiaProbe(Lost()).sample([0], ()) == []


def test_the_real_binding_without_a_driver_says_nothing_or_names_devices():
    assert all(isinstance(name, str) for name in NvidiaProbe(pynvml).names)


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0x000, []),
        (0x001, []),
        (0x004, ["power_cap"]),
        (0x008, ["hardware"]),
        (0x048, ["thermal"]),
        (0x088, ["power_brake"]),
        (0x06C, ["power_cap", "thermal"]),
        (0x112, ["display_clocks", "sync_boost", "user_clocks"]),
    ],
)
def test_reason_bits_are_words_and_idle_is_none(bits, words):
    assert reason_words(bits) == words


def test_the_bits_are_those_of_the_binding():
    named = {
        "ApplicationsClocksSetting": "user_clocks",
        "SwPowerCap": "power_cap",
        "HwSlowdown": "hardware",
        "SyncBoost": "sync_boost",
        "SwThermalSlowdown": "thermal",
        "HwThermalSlowdown": "thermal",
        "HwPowerBrakeSlowdown": "power_brake",
        "DisplayClockSetting": "display_clocks",
    }
    assert {getattr(pynvml, f"nvmlClocksEventReason{name}"): word for name, word in named.items()} == dict(REASONS)
