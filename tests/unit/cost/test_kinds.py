"""The cost arithmetic: rate x 1e6 / (throughput x 3600), per kind of token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.units import S_PER_HOUR, TOK_PER_MTOK
from tests.unit.cost.twin import TokenThroughput, token_cost

rates = st.floats(0.01, 1000)
throughputs = st.floats(1e-3, 1e7)


def test_a_gpu_of_3_60_dollars_an_hour_at_1000_tokens_a_second_costs_one_dollar_a_million():
    cost = token_cost(3.60, TokenThroughput(1000, 100, 10))
    assert (cost.total_usd_mtok, cost.computed_input_usd_mtok, cost.output_usd_mtok) == (1, 10, 100)


def test_a_kind_that_is_unknown_or_zero_has_no_cost():
    cost = token_cost(3.60, TokenThroughput(1000, None, 0))
    assert (cost.total_usd_mtok, cost.computed_input_usd_mtok, cost.output_usd_mtok) == (1, None, None)


@given(rate=rates, throughput=throughputs)
def test_cost_times_throughput_is_the_rate(rate, throughput):
    cost = token_cost(rate, TokenThroughput(throughput, None, None)).total_usd_mtok
    assert cost * throughput * S_PER_HOUR / TOK_PER_MTOK == pytest.approx(rate)


@given(rate=rates, throughput=throughputs, share=st.floats(0.001, 1))
def test_every_kind_pays_the_whole_bill(rate, throughput, share):
    cost = token_cost(rate, TokenThroughput(throughput, None, throughput * share))
    assert cost.output_usd_mtok * share == pytest.approx(cost.total_usd_mtok)


@given(rate=rates, slower=throughputs, faster=throughputs)
def test_a_larger_throughput_never_costs_more(rate, slower, faster):
    slower, faster = sorted((slower, faster))
    costs = [token_cost(rate, TokenThroughput(y, None, None)).total_usd_mtok for y in (slower, faster)]
    assert costs[1] <= costs[0]
