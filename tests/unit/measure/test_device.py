"""Samples of a device to power, energy, clocks and what speaks against it. One window: ten seconds from noon."""

import datetime as dt

import pytest

from pipeline.measure.device import MeasuredWindow, device_columns, device_findings, without_strangers

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
WINDOW = MeasuredWindow(NOON, 10.0, output_tok=500)


def sample(second, index=0, **changes):
    row = {
        "sampled_at": NOON + dt.timedelta(seconds=second),
        "device_index": index,
        "device_name": "d",
        "throttle_reasons": [],
    }
    return row | changes


def test_energy_is_the_rise_of_the_counter_scaled_to_the_window():
    # 100 J in the 5 s between the samples are 20 W, so 200 J in 10 s, for 500 tokens
    samples = [sample(2, energy_j=1000.0, power_w=99.0), sample(7, energy_j=1100.0, power_w=99.0)]
    found = device_columns(samples, [WINDOW], 1)
    assert (found["power_w_gpu"], found["energy_j_output_tok"]) == (20.0, 0.4)


def test_without_a_counter_power_is_the_mean_of_the_samples():
    found = device_columns([sample(2, power_w=10.0), sample(7, power_w=30.0)], [WINDOW], 1)
    assert (found["power_w_gpu"], found["energy_j_output_tok"]) == (20.0, 0.4)


@pytest.mark.parametrize("last_j", [10.0, 9000.0])
def test_a_counter_that_fell_or_stood_still_is_not_used(last_j):
    samples = [sample(2, energy_j=9000.0, power_w=15.0), sample(7, energy_j=last_j, power_w=15.0)]
    assert device_columns(samples, [WINDOW], 1)["power_w_gpu"] == 15.0


def test_samples_outside_the_windows_are_in_no_number():
    samples = [sample(-1, clock_mhz=1.0, temperature_c=99.0), sample(5, clock_mhz=1800.0, temperature_c=60.0)]
    found = device_columns([*samples, sample(11, clock_mhz=1.0, temperature_c=99.0)], [WINDOW], 1)
    assert (found["clock_mhz"], found["temperature_max_c"]) == (1800.0, 60.0)


def test_power_is_of_one_gpu_and_energy_of_all_that_are_held():
    samples = [sample(5, 0, power_w=100.0), sample(5, 1, power_w=200.0), sample(5, 2, power_w=900.0)]
    found = device_columns(samples, [WINDOW], 2)
    assert (found["power_w_gpu"], found["energy_j_output_tok"]) == (150.0, 6.0)


def test_energy_is_null_where_fewer_devices_were_sampled_than_are_held():
    found = device_columns([sample(5, power_w=100.0)], [WINDOW], 2)
    assert (found["power_w_gpu"], found["energy_j_output_tok"]) == (100.0, None)


def test_without_samples_in_the_windows_everything_is_null():
    assert set(device_columns([], [WINDOW], 1).values()) == {None}
    outside = device_columns([sample(20, power_w=5.0, clock_mhz=5.0)], [WINDOW], 1)
    assert (outside["power_w_gpu"], outside["clock_mhz"]) == (None, None)
    assert device_findings([sample(20, throttle_reasons=["thermal"])], [WINDOW], 1) == (set(), set())


@pytest.mark.parametrize(("n_hot", "reasons"), [(1, set()), (2, {"throttled"})])
@pytest.mark.parametrize("word", ["thermal", "hardware", "power_brake"])
def test_a_device_is_throttled_above_five_percent_of_the_samples(word, n_hot, reasons):
    samples = [sample(i / 2, throttle_reasons=[word] if i < n_hot else []) for i in range(20)]
    assert device_findings(samples, [WINDOW], 1)[0] == reasons


def test_the_power_limit_and_fixed_clocks_are_notes():
    samples = [sample(i, throttle_reasons=["power_cap", "user_clocks"] if i < 5 else []) for i in range(10)]
    assert device_findings(samples, [WINDOW], 1) == (set(), {"power_capped=50%", "user_clocks"})


def test_a_foreign_process_makes_a_device_shared():
    assert device_findings([sample(5, n_foreign_processes=1)], [WINDOW], 1)[0] == {"shared_device"}
    assert device_findings([sample(5, n_foreign_processes=0)], [WINDOW], 1) == (set(), set())


@pytest.mark.parametrize(("foreign_share", "notes"), [(0.1, set()), (0.11, {"host_busy=11%"})])
def test_a_host_that_others_use_is_noted(foreign_share, notes):
    assert device_findings([sample(5, foreign_share=foreign_share)], [WINDOW], 1) == (set(), notes)


def test_where_a_server_is_not_ours_nobody_counts_as_a_stranger_on_its_device():
    samples = [sample(2, n_foreign_processes=8, foreign_share=0.9), sample(7, n_foreign_processes=8, foreign_share=0.9)]
    assert device_findings(samples, [WINDOW], 1) == ({"shared_device"}, set())
    assert device_findings(without_strangers(samples), [WINDOW], 1) == (set(), set())
