"""What many requests show about the client."""

import pytest

from pipeline.measure.client import (
    ClientFacts,
    client_bound,
    counts_mismatch,
    in_bursts,
    is_bimodal,
    one_read_share,
    too_slow,
)

US, MS = 1e-6, 1e-3


def test_requests_delivered_in_one_read_are_far_below_the_median():
    assert one_read_share([20 * MS] * 8 + [0.5 * MS] * 2) == 0.2


def test_without_requests_there_is_no_share():
    assert one_read_share([]) is None
    assert not client_bound([])


def test_a_fifth_of_the_outputs_in_one_read_is_client_bound():
    assert client_bound([20 * MS] * 8 + [0.5 * MS] * 2)
    assert not client_bound([20 * MS] * 9 + [0.5 * MS])


def test_a_median_below_ten_microseconds_is_client_bound():
    assert client_bound([3 * US] * 9 + [1 * MS])


def test_an_ordinary_spread_is_not_client_bound():
    assert not client_bound([10 * MS, 15 * MS, 20 * MS, 40 * MS, 60 * MS])


def test_gaps_of_microseconds_with_a_sound_tpot_are_bursts():
    assert in_bursts(itl_p50_s=4 * US, tpot_p50_s=12 * MS)
    assert not in_bursts(itl_p50_s=11 * MS, tpot_p50_s=12 * MS)
    assert not in_bursts(itl_p50_s=4 * US, tpot_p50_s=4 * US)
    assert not in_bursts(None, 12 * MS)


def test_two_groups_of_requests_are_bimodal():
    assert is_bimodal([10 * MS, 11 * MS, 12 * MS, 13 * MS, 14 * MS, 40 * MS, 41 * MS, 42 * MS, 43 * MS, 44 * MS])


def test_one_straggler_is_not_a_second_group():
    assert not is_bimodal([10 * MS] * 9 + [90 * MS])


def test_few_or_equal_requests_are_not_bimodal():
    assert not is_bimodal([10 * MS, 90 * MS])
    assert not is_bimodal([10 * MS] * 20)


@pytest.mark.parametrize(("server_tok", "mismatch"), [(980, False), (979, True), (1340, False), (1341, True)])
def test_the_server_may_count_a_template_of_32_tokens_a_request_more_in_the_input(server_tok, mismatch):
    client = ClientFacts(input_tok=1000)
    assert counts_mismatch({"n_successful": 10, "input_tok": server_tok}, client) is mismatch


@pytest.mark.parametrize(("server_tok", "mismatch"), [(102, False), (103, True), (97, True)])
def test_output_may_differ_by_two_percent(server_tok, mismatch):
    client = ClientFacts(output_tok=100)
    assert counts_mismatch({"n_successful": 10, "output_tok": server_tok}, client) is mismatch


def test_more_cached_than_sent_is_a_mismatch_and_unknown_counts_are_none():
    assert counts_mismatch({"input_tok": 10, "cached_input_tok": 11}, ClientFacts())
    assert not counts_mismatch({"input_tok": 10, "output_tok": 10}, ClientFacts())


def test_a_client_that_adds_over_three_percent_is_too_slow():
    assert too_slow(ClientFacts(error_share=0.031))
    assert not too_slow(ClientFacts(error_share=0.03))
    assert not too_slow(ClientFacts())
