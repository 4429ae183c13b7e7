"""Which devices this host has, and samples of them: this machine's CPU, and a fake NVML."""

import os
import subprocess
import sys
import time

import pytest

from pipeline.errors import DeviceError
from pipeline.tables.samples import SAMPLES
from resources.amd_probe import AmdProbe
from resources.cpu_probe import CpuProbe, model_name
from resources.host_probe import HostProbe, own_processes
from resources.nvidia_probe import NvidiaProbe
from tests.io.fake_nvml import FakeNvml


class Host(HostProbe):
    """A host with two H200, a device that the registry does not know, and no amd-smi."""

    def nvidia(self):
        return NvidiaProbe(FakeNvml())

    def amd(self):
        return AmdProbe(lambda arguments: "")


def test_devices_are_found_by_the_registrys_names_and_every_host_is_a_cpu():
    assert Host().present() == ["h200", "cpu"]
    assert Host().identity("h200").n_devices == 2


def test_a_device_that_is_not_here_is_refused_with_what_is():
    with pytest.raises(DeviceError, match="expected one of h200, cpu"):
        Host().identity("b300")
    with pytest.raises(DeviceError), Host().sampling("b300", set):
        raise AssertionError("sampled what is not there")


def test_memory_in_use_is_that_of_all_devices_of_the_product():
    with Host(interval_s=0.01).sampling("h200", set) as sampler:
        pass
    assert Host().memory_used_gib("h200") == sum(row["memory_used_gib"] for row in sampler.rows()[:2]) > 0
    assert Host().memory_used_gib("cpu") is None


def test_samples_fit_their_table_and_the_thread_ends_with_the_block():
    with Host(interval_s=0.01).sampling("h200", set) as sampler:
        while len(sampler.rows()) < 6:
            time.sleep(0.005)
    rows = sampler.rows()
    assert {row["device_index"] for row in rows} == {0, 1}
    assert [row["sampled_at"] for row in rows] == sorted(row["sampled_at"] for row in rows)
    assert SAMPLES.violations(SAMPLES.from_rows([{**row, "point_id": "p"} for row in rows])) == []
    time.sleep(0.05)
    assert len(sampler.rows()) == len(rows)


def test_this_machines_cpu_says_who_it_is_and_how_busy():
    with HostProbe(interval_s=0.05).sampling("cpu", lambda: {os.getpid()}) as sampler:
        while len(sampler.rows()) < 3:
            sum(i * i for i in range(20_000))
    first, *others = sampler.rows()
    assert (first["busy_share"], first["foreign_share"]) == (None, None)
    assert all(0 <= row["foreign_share"] <= row["busy_share"] <= 1 for row in others)
    found = HostProbe().identity("cpu")
    assert found.name == first["device_name"]
    assert found.n_cores >= 1
    assert SAMPLES.violations(SAMPLES.from_rows([{**first, "point_id": "p"}])) == []


def test_what_this_process_started_is_not_foreign():
    busy = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(busy) as child:
        assert {os.getpid(), child.pid} <= own_processes()
        child.kill()


def test_a_process_that_is_gone_counts_nothing():
    probe = CpuProbe()
    probe.sample({2**22 + 1})
    (row,) = probe.sample({2**22 + 1})
    assert row["foreign_share"] == row["busy_share"]


def test_a_program_that_is_not_there_has_no_devices():
    assert HostProbe(amd_smi="/nonexistent/amd-smi").amd().names == []


def test_a_cpu_is_named_as_it_names_itself():
    assert model_name("processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t: fpu\n") == (
        "Intel(R) Xeon(R) Processor"
    )
    assert model_name("processor\t: 0\nCPU implementer\t: 0x41\n")
