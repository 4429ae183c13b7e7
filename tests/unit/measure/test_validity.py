"""Every reason code, by the smallest row that earns it."""

import pytest

from pipeline.measure.validity import REASONS, reasons_for, sentence


def row(**changes):
    good = {
        "percentile": 50,
        "n_requested": 100,
        "n_successful": 100,
        "n_failed": 0,
        "n_cancelled": 0,
        "n_gpus": 8,
        "throughput_tok_s_gpu": 1000.0,
        "interactivity_tok_s_user": 50.0,
        "ttft_p50_s": 0.2,
        "tpot_p50_s": 0.02,
        "reasons": [],
    }
    return {**good, **changes}


def test_a_sound_row_has_no_reason():
    assert reasons_for(row()) == []


def test_counts_that_are_not_said_are_no_reason():
    assert reasons_for(row(n_requested=None, n_successful=None, n_failed=None)) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"n_requested": 101}, "outcome_sum"),
        ({"interactivity_tok_s_user": None, "tpot_p50_s": None}, "interactivity_missing"),
        ({"interactivity_tok_s_user": None, "tpot_p50_s": None, "tpot_mean_s": 0.02}, "percentile_missing"),
        ({"throughput_tok_s_gpu": None, "n_gpus": None}, "n_gpus_unknown"),
        ({"throughput_tok_s_gpu": None}, "throughput_missing"),
        ({"ttft_p50_s": 0.00009}, "implausible_ttft"),
        ({"ttft_p99_s": 3601.0}, "implausible_ttft"),
        ({"tpot_p50_s": 0.000009}, "implausible_tpot"),
        ({"tpot_mean_s": 10.1}, "implausible_tpot"),
        ({"interactivity_tok_s_user": 100_001.0}, "implausible_tpot"),
        ({"throughput_tok_s_gpu": 2_000_001.0}, "implausible_throughput"),
        ({"throughput_tok_s_gpu": -1.0}, "implausible_throughput"),
    ],
)
def test_one_fault_gives_one_reason(changes, code):
    assert reasons_for(row(**changes)) == [code]


@pytest.mark.parametrize(("n_failed", "reasons"), [(5, []), (6, ["too_many_failed"])])
def test_fixed_length_bears_five_percent_of_requested_failing(n_failed, reasons):
    assert reasons_for(row(n_successful=100 - n_failed, n_failed=n_failed)) == reasons


@pytest.mark.parametrize(("n_failed", "reasons"), [(10, []), (11, ["too_many_failed"])])
def test_agentic_bears_ten_percent_of_completed_failing(n_failed, reasons):
    agentic = row(percentile=90, n_requested=200, n_successful=100 - n_failed, n_failed=n_failed, n_cancelled=100)
    assert reasons_for(agentic) == reasons


def test_where_nothing_succeeded_absent_metrics_need_no_further_reason():
    nothing = row(n_successful=0, n_failed=100, throughput_tok_s_gpu=None, interactivity_tok_s_user=None)
    assert reasons_for(nothing) == ["no_success", "too_many_failed"]


def test_cancelled_requests_are_part_of_the_sum():
    assert reasons_for(row(n_successful=60, n_cancelled=40)) == []


def test_reasons_that_only_the_source_shows_are_kept():
    assert reasons_for(row(reasons={"client_bound"}, throughput_tok_s_gpu=None)) == [
        "client_bound",
        "throughput_missing",
    ]


def test_every_code_has_one_sentence():
    assert all(text.endswith(".") for text in REASONS.values())
    assert sentence("no_success") == "No request succeeded."
