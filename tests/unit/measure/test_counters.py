"""The engine's counters before and after, beside the client's requests."""

import pytest

from pipeline.measure.counters import Counters, Rise, disagreement, read_counters, rise, unexpected_hits

VLLM = """# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="small"} 1000.0
vllm:prompt_tokens_total{engine="1",model_name="small"} 200.0
# TYPE vllm:prompt_tokens_created gauge
vllm:prompt_tokens_created{engine="0",model_name="small"} 1.7960264214274943e+09
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="small"} 300.0
# TYPE vllm:prompt_tokens_cached_total counter
vllm:prompt_tokens_cached_total{engine="0",model_name="small"} 64.0
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="small"} 2.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="small"} 7.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="small"} 7.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="small"} 1.5
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="small"} 3.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="small"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="small"} 0.75
"""

SGLANG = """# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{is_streaming="true",model_name="small"} 500.0
sglang:prompt_tokens_total{is_streaming="false",model_name="small"} 20.0
# TYPE sglang:generation_tokens_total counter
sglang:generation_tokens_total{is_streaming="true",model_name="small"} 80.0
# TYPE sglang:cached_tokens_total counter
sglang:cached_tokens_total{cache_source="device",model_name="small"} 40.0
sglang:cached_tokens_total{cache_source="host",model_name="small"} 2.0
# TYPE sglang:num_requests_total counter
sglang:num_requests_total{is_streaming="true",model_name="small"} 5.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="small",tp_rank="0"} 4.0
# TYPE sglang:token_usage gauge
sglang:token_usage{model_name="small",tp_rank="0"} 0.5
"""


def ended(outcome="ok", input_tok=100, output_tok=10):
    return {"outcome": outcome, "input_tok": input_tok, "output_tok": output_tok}


def test_vllms_counters_are_summed_over_engines_and_the_fullest_cache_counts():
    assert read_counters(VLLM) == Counters(1200, 300, 64, 2, n_waiting=3, kv_usage_share=0.75, n_requests=7)


def test_sglangs_counters_are_summed_over_labels_and_an_absent_one_has_not_counted_yet():
    assert read_counters(SGLANG) == Counters(520, 80, 42, 0, n_waiting=4, kv_usage_share=0.5, n_requests=5)


def test_vllm_before_the_cached_counter_is_read_by_its_cache_hits():
    assert read_counters('vllm:prefix_cache_hits_total{engine="0"} 128.0\n').cached_input_tok == 128


@pytest.mark.parametrize("text", ["", "not { a metrics text", "other:prompt_tokens_total 5\n"])
def test_a_text_that_says_nothing_gives_nulls_and_not_zeros(text):
    assert read_counters(text) == Counters(None, None, None, None, None, None)


def test_the_rise_is_after_minus_before():
    before = Counters(100, 10, 0, 1, 0, 0.0)
    assert rise(before, Counters(350, 60, 40, 3, 0, 0.0)) == Rise(250, 50, 40, 2)


def test_a_counter_that_fell_is_of_another_start_and_nothing_is_known_without_both_readings():
    full = Counters(100, 10, 5, 1, 0, 0.0)
    assert rise(full, Counters(90, 10, 5, 1, 0, 0.0)) == Rise(None, 0, 0, 0)
    assert rise(None, full) == rise(full, None) == Rise()


@pytest.mark.parametrize(("input_tok", "reasons"), [(1020, set()), (1021, {"counters_disagree"}),
                                                    (980, set()), (979, {"counters_disagree"})])  # fmt: skip
def test_where_all_requests_ended_well_two_percent_are_borne(input_tok, reasons):
    assert disagreement(Rise(input_tok, 100), [ended()] * 10) == (reasons, set())


def test_requests_that_did_not_end_make_the_clients_sum_a_lower_bound():
    rows = [*[ended()] * 10, ended("cancelled", None, None)]
    assert disagreement(Rise(1100, 100), rows) == (set(), {"counters_above_requests=10%"})
    assert disagreement(Rise(900, 100), rows) == ({"counters_disagree"}, set())


def test_requests_that_the_client_did_not_record_make_its_sum_a_lower_bound_too():
    more = Rise(1100, 110, n_requests=11)
    assert disagreement(more, [ended()] * 10) == (set(), {"requests_unrecorded=1", "counters_above_requests=10%"})
    assert disagreement(Rise(1000, 100, n_requests=10), [ended()] * 10) == (set(), set())
    assert disagreement(Rise(900, 100, n_requests=11), [ended()] * 10) == (
        {"counters_disagree"},
        {"requests_unrecorded=1"},
    )


def test_what_the_engine_does_not_say_contradicts_nothing():
    assert disagreement(Rise(), [ended()]) == (set(), set())
    assert disagreement(Rise(500, 50), []) == (set(), set())


def test_more_cached_than_sent_is_a_contradiction():
    assert disagreement(Rise(1000, 100, cached_input_tok=1001), [ended()] * 10) == ({"counters_disagree"}, set())


def test_hits_are_unexpected_above_two_percent_and_a_template_of_32_tokens_a_request():
    # 10 requests of 1,000 tokens: 320 for the template, 200 for 2 %
    assert not unexpected_hits(10_000, 520, 10)
    assert unexpected_hits(10_000, 521, 10)
    assert not unexpected_hits(None, 521, 10)
    assert not unexpected_hits(10_000, None, 10)
