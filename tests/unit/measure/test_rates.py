"""Tokens, seconds and GPUs to throughputs; TPOT to a speed."""

import pytest

from pipeline.measure.rates import cache_hit_share, interactivity, throughputs

ROW = {"input_tok": 800, "output_tok": 200, "cached_input_tok": 400, "window_s": 10.0, "n_gpus": 2, "n_successful": 5}


def test_throughputs_are_tokens_by_seconds_by_gpus_held():
    assert throughputs(ROW) == pytest.approx(
        {
            "throughput_tok_s_gpu": 50.0,
            "input_throughput_tok_s_gpu": 40.0,
            "output_throughput_tok_s_gpu": 10.0,
            "computed_input_throughput_tok_s_gpu": 20.0,
        }
    )


def test_a_throughput_whose_tokens_are_not_known_is_left_out():
    assert set(throughputs(ROW | {"cached_input_tok": None, "input_tok": None})) == {"output_throughput_tok_s_gpu"}


@pytest.mark.parametrize("changes", [{"window_s": None}, {"window_s": 0.0}, {"n_gpus": None}, {"n_successful": 0}])
def test_without_window_gpus_or_success_there_is_none(changes):
    assert throughputs(ROW | changes) == {}


def test_the_share_of_cached_input():
    assert cache_hit_share(ROW) == 0.5
    assert cache_hit_share(ROW | {"cached_input_tok": 0}) == 0.0
    assert cache_hit_share(ROW | {"cached_input_tok": None}) is None
    assert cache_hit_share(ROW | {"input_tok": 0}) is None


def test_speed_is_read_at_the_rows_percentile():
    row = {"tpot_p50_s": 0.01, "tpot_p90_s": 0.02}
    assert interactivity(row | {"percentile": 50}) == 100.0
    assert interactivity(row | {"percentile": 90}) == 50.0
    assert interactivity({"percentile": 90, "tpot_p50_s": 0.01}) is None
