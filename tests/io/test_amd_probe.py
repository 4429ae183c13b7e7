"""The JSON of amd-smi as samples, in both of its forms; no test has such a GPU."""

import json

import pytest

from resources.amd_probe import AmdProbe, gpus_of

STATIC = [
    {
        "gpu": i,
        "asic": {"market_name": "AMD Instinct MI300X", "target_graphics_version": "gfx942"},
        "vram": {"type": "HBM3", "size": {"value": 196608, "unit": "MB"}},
        "driver": {"name": "amdgpu", "version": "6.12.12"},
        "limit": {"max_power": {"value": 750, "unit": "W"}, "socket_power": {"value": 700, "unit": "W"}},
    }
    for i in (0, 1)
]
BUSY = {
    "gpu": 0,
    "usage": {"gfx_activity": {"value": 91, "unit": "%"}, "umc_activity": {"value": 66, "unit": "%"}},
    "power": {"socket_power": {"value": 542, "unit": "W"}, "throttle_status": "THROTTLED"},
    "clock": {
        "gfx_0": {"clk": {"value": 2100, "unit": "MHz"}, "min_clk": "N/A"},
        "gfx_1": {"clk": {"value": 1900, "unit": "MHz"}},
        "gfx_2": {"clk": "N/A"},
        "mem_0": {"clk": {"value": 1258, "unit": "MHz"}},
    },
    "temperature": {"edge": {"value": 52, "unit": "C"}, "hotspot": {"value": 71, "unit": "C"}},
    "energy": {"total_energy_consumption": {"value": 123456.5, "unit": "J"}},
    "mem_usage": {"total_vram": {"value": 196608, "unit": "MB"}, "used_vram": {"value": 51200, "unit": "MB"}},
    "throttle": {
        "prochot_violation_status": "NOT ACTIVE",
        "ppt_violation_status": "ACTIVE",
        "socket_thermal_violation_status": "TRUE",
        "vr_thermal_violation_status": "N/A",
    },
}
SILENT = {"gpu": 1, "power": {"socket_power": "N/A"}, "temperature": "N/A", "clock": {"gfx_0": {"clk": "N/A"}}}
PROCESS = [
    {"gpu": 0, "process_list": [{"process_info": {"name": "python3", "pid": 4242}}, {"process_info": {"pid": 7}}]},
    {"gpu": 1, "process_list": [{"process_info": "No running processes detected"}]},
]
ANSWERS = {"static": STATIC, "metric": [SILENT, BUSY], "process": PROCESS}


def probe(wrap=lambda answer: answer):
    return AmdProbe(lambda arguments: json.dumps(wrap(ANSWERS[arguments[0]])))


@pytest.mark.parametrize("wrap", [lambda answer: answer, lambda answer: {"gpu_data": answer}])
def test_a_sample_is_in_our_units_in_either_form(wrap):
    (row,) = probe(wrap).sample([0], ours={4242})
    assert row == {
        "device_index": 0,
        "device_name": "AMD Instinct MI300X",
        "power_w": 542.0,
        "energy_j": 123456.5,
        "power_cap_w": None,
        "clock_mhz": 2000.0,
        "temperature_c": 71.0,
        "memory_used_gib": 50.0,
        "busy_share": 0.91,
        "foreign_share": None,
        "n_foreign_processes": 1,
        "throttle_reasons": ["power_cap", "thermal"],
    }


def test_what_a_device_does_not_say_is_null():
    (row,) = probe().sample([1], ours=())
    assert {row[name] for name in ("power_w", "energy_j", "clock_mhz", "temperature_c", "busy_share")} == {None}
    assert (row["n_foreign_processes"], row["throttle_reasons"]) == (0, [])


def test_identity_is_the_devices_own_word():
    found = probe().identity([0, 1])
    assert (found.name, found.driver, found.n_devices) == ("AMD Instinct MI300X", "amdgpu 6.12.12", 2)
    assert (found.memory_gib, found.power_limit_w) == (192.0, 700.0)


def test_without_amd_smi_there_is_nothing_and_no_error():
    nothing = AmdProbe(lambda arguments: "")
    assert (nothing.names, nothing.sample([0], ())) == ([], [])
    with pytest.raises(LookupError):
        nothing.identity([0])


@pytest.mark.parametrize("text", ["", "no json", "[1, 2", '{"gpu_data": []}', "[]", '["N/A"]'])
def test_what_is_no_answer_has_no_device(text):
    assert gpus_of(text) == []


def test_warnings_before_the_answer_are_passed_over():
    assert gpus_of('WARNING: user is not in the render group\n[{"gpu": 0}]') == [{"gpu": 0}]
