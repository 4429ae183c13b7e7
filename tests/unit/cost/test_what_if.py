import dataclasses
import math

import pytest

from pipeline.cost.frontier_reading import FrontierCurve, Knot
from pipeline.cost.what_if import Question, Weights, answer

# 1,000 tok/s/GPU: 100 output, 200 computed input, 700 from the cache. At 3.60 USD per GPU-hour: 1 USD per 1M tokens.
CURVE = FrontierCurve("one", (Knot(50, 1000, None, 0.1, 0.2, 8, None),))
ASKED = Question(3.6, 50, None, None, Weights(), 1500.0)


def asked(**columns: object):
    return answer([CURVE], dataclasses.replace(ASKED, **columns))


def test_dollars_are_divided_by_each_kind_of_token():
    costs = asked().costs
    assert (costs.total, costs.computed_input, costs.output) == pytest.approx((1.0, 5.0, 10.0))


def test_equal_weights_break_even_at_the_cost_per_total_token():
    prices = asked().break_even
    assert (prices.computed_input, prices.cached_input, prices.output) == pytest.approx((1.0, 1.0, 1.0))


def test_break_even_prices_stand_in_the_ratio_of_the_weights_and_pay_for_the_gpu():
    # 200 x 1 + 700 x 0.1 + 100 x 5 = 770 weighted tok/s: 1000/770 USD per weighted million
    prices = asked(weights=Weights(1, 0.1, 5)).break_even
    unit = 1000 / 770
    assert (prices.computed_input, prices.cached_input, prices.output) == pytest.approx((unit, unit / 10, unit * 5))
    paid = (200 * prices.computed_input + 700 * prices.cached_input + 100 * prices.output) * 3600 / 1e6
    assert paid == pytest.approx(3.6)


def test_only_output_counted_breaks_even_at_the_cost_per_output_token():
    assert asked(weights=Weights(0, 0, 1)).break_even.output == pytest.approx(10.0)


def test_no_break_even_without_a_weight_or_without_the_division_of_tokens():
    assert asked(weights=Weights(0, 0, 0)).break_even is None
    unsaid = FrontierCurve("", (dataclasses.replace(CURVE.knots[0], computed_input_share=None),))
    assert answer([unsaid], ASKED).break_even is None


def test_the_cap_is_kept_and_one_cent_below_it_is_not():
    assert asked(cap_usd_mtok=1.0).under_cap.speed_tok_s_user == 50
    assert asked(cap_usd_mtok=0.99).under_cap is None
    assert asked(cap_usd_mtok=0.0).under_cap is None
    assert asked().under_cap is None


def test_a_load_takes_whole_deployments():
    fleet = asked(load_tok_s=9000).fleet
    # one deployment of 8 GPUs serves 8,000 tok/s
    assert (fleet.n_deployments, fleet.n_gpus, fleet.power_w) == (2, 16, 24_000)
    assert fleet.usd_per_hour == pytest.approx(57.6)
    assert fleet.usd_mtok == pytest.approx(16 / 9)


def test_a_load_that_fits_exactly_takes_no_further_deployment():
    assert asked(load_tok_s=16_000).fleet.n_deployments == 2
    assert asked(load_tok_s=16_000.1).fleet.n_deployments == 3


def test_without_a_known_deployment_gpus_are_counted_one_by_one():
    loose = FrontierCurve("", (dataclasses.replace(CURVE.knots[0], n_gpus=None),))
    fleet = answer([loose], dataclasses.replace(ASKED, load_tok_s=9000)).fleet
    assert (fleet.n_deployments, fleet.n_gpus) == (None, 9)


def test_measured_power_comes_before_the_registrys_and_unknown_power_is_none():
    measured = FrontierCurve("", (dataclasses.replace(CURVE.knots[0], power_w_gpu=700.0),))
    fleet = answer([measured], dataclasses.replace(ASKED, load_tok_s=1.0)).fleet
    assert (fleet.power_w, fleet.power_basis) == (5600.0, "measured")
    assert asked(load_tok_s=1.0, all_in_w_gpu=None).fleet.power_w is None


def test_no_load_needs_no_fleet():
    assert asked(load_tok_s=0.0).fleet is None
    assert asked().fleet is None


def test_a_speed_beyond_the_frontier_has_no_answer_but_the_cap_does():
    found = asked(speed_tok_s_user=51, cap_usd_mtok=2.0, load_tok_s=10)
    assert (found.reading, found.costs, found.fleet) == (None, None, None)
    assert found.under_cap.speed_tok_s_user == 50
    assert math.isclose(found.under_cap_usd_mtok, 1.0)
