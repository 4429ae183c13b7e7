"""What is flagged in a valid book, and what is not."""

import datetime as dt

import pytest

from pipeline.cost.price_warnings import price_warnings
from pipeline.registry.price_rows import read_price_file
from pipeline.registry.shipped import shipped_registry, shipped_text

HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source,recorded_on,corrected_on,correction_reason\n"
TODAY = dt.date(2026, 11, 20)


def warnings(*lines, gpus=()):
    registry = shipped_registry()
    text = HEADER + "".join(line + ("" if line.count(",") == 8 else ",,,") + "\n" for line in lines)
    found = read_price_file(text, "prices.csv", gpus=registry.gpus, tiers=registry.tiers)
    assert not found.faults
    return [warning.text for warning in price_warnings(found.rows, registry.tiers, "prices.csv", gpus, TODAY)]


@pytest.mark.parametrize("rate", [1, 2, 4])
def test_half_and_twice_the_rate_before_are_no_jump(rate):
    assert warnings("h100,retail,2,2026-03-01,2026-04-01,x", f"h100,retail,{rate},2026-04-01,,x") == []


@pytest.mark.parametrize(("rate", "factor"), [(0.99, "0.495"), (4.02, "2.01"), (16, "8")])
def test_a_rate_beyond_is_a_jump(rate, factor):
    (found,) = warnings("h100,retail,2,2026-03-01,2026-04-01,x", f"h100,retail,{rate},2026-04-01,,x")
    assert found.startswith(f"prices.csv line 3: h100/retail/2026-04-01 is {rate:g} USD per GPU-hour after 2, {factor}")


def test_another_gpu_and_another_tier_are_not_the_row_before():
    assert warnings("h100,neocloud,1,2026-03-01,,x", "b300,retail,9,2026-04-01,,x", "h100,retail,9,2026-05-01,,x") == []


def test_a_tier_below_a_cheaper_one_on_the_same_days_is_flagged_once():
    cheap, dear = "h100,neocloud,2,2026-03-01,2026-05-01,x", "h100,retail,1.9,2026-04-30,,x"
    (found,) = warnings(cheap, dear)
    assert "lines 2 and 3: h100/retail/2026-04-30 (1.9 USD per GPU-hour) is below h100/neocloud/2026-03-01 (2)" in found
    assert warnings(cheap, dear.replace("04-30", "05-01")) == []
    assert warnings(cheap, dear.replace("1.9", "2")) == []


def test_a_gap_between_two_rows_is_flagged_and_the_end_of_the_last_one_is_not():
    (found,) = warnings("h100,retail,2,2026-03-01,2026-04-01,x", "h100,retail,2,2026-04-02,2026-05-01,x")
    assert "lines 2 and 3: no price of h100, retail from 2026-04-01 until 2026-04-02" in found


def test_a_gpu_with_results_and_without_a_price_today_is_named():
    rows = ("h100,retail,2,2026-03-01,2026-11-20,x", "b300,retail,2,2026-11-20,,x")
    (found,) = warnings(*rows, gpus=["b300", "h100"])
    assert found.startswith("prices.csv: h100 has results, and no quoted price holds on 2026-11-20")


def test_a_day_long_ago_or_far_ahead_is_flagged():
    assert len(warnings("h100,retail,2,2016-03-01,,x")) == 1
    assert len(warnings("h100,retail,2,2027-11-22,,x")) == 1
    assert warnings("h100,retail,2,2027-11-21,,x") == []


def test_a_row_that_was_corrected_is_not_looked_at_and_a_correction_of_tomorrow_is_flagged():
    old = "h100,retail,99,2026-03-01,,x,,2026-11-20,a slip"
    assert warnings(old, "h100,retail,2,2026-03-01,,x,2026-11-20,,") == []
    later = warnings(old.replace("11-20", "11-21"), "h100,retail,2,2026-03-01,,x,2026-11-21,,")
    assert len(later) == 2
    assert "after today (2026-11-20, UTC)" in later[0]


def test_the_shipped_book_has_no_jump_and_no_gap():
    registry = shipped_registry()
    rows = read_price_file(shipped_text("prices.csv"), "prices.csv", gpus=registry.gpus, tiers=registry.tiers).rows
    found = price_warnings(rows, registry.tiers, "prices.csv", ["h100"], TODAY)
    assert all("is below" in warning.text for warning in found)
