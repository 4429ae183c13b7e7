"""The four latencies, with instants that can be checked by eye."""

import pytest

from pipeline.measure.latency import e2el_ns, itl_ns, tpot_s, ttft_ns


def test_ttft_is_the_first_token_minus_the_start():
    assert ttft_ns(start_ns=100, first_token_ns=110) == 10


def test_e2el_is_the_end_minus_the_start():
    assert e2el_ns(start_ns=100, end_ns=180) == 80


def test_tpot_divides_by_the_tokens_after_the_first():
    assert tpot_s(first_token_ns=1_000_000_000, end_ns=5_000_000_000, output_tok=5) == 1.0


def test_tpot_divides_by_the_tokens_after_the_first_chunk():
    assert tpot_s(first_token_ns=1_000_000_000, end_ns=5_000_000_000, output_tok=5, first_chunk_tok=3) == 2.0


@pytest.mark.parametrize(("output_tok", "first_chunk_tok"), [(0, 1), (1, 1), (4, 4), (4, 5)])
def test_tpot_is_none_where_no_token_was_timed(output_tok, first_chunk_tok):
    assert tpot_s(0, 100, output_tok, first_chunk_tok) is None


def test_itl_is_the_gap_between_chunks():
    assert itl_ns([100, 110, 135]) == [10, 25]


@pytest.mark.parametrize("chunks", [[], [100]])
def test_itl_is_empty_for_fewer_than_two_chunks(chunks):
    assert itl_ns(chunks) == []
