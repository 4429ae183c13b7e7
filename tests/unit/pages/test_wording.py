import dataclasses

import pytest

from pipeline.pages import basis, wording
from pipeline.pages.build import build_sections
from pipeline.pages.page import Page
from tests.unit.pages.pairs import h100_rows, pair_of, point


def page_of(rows, prices=None) -> Page:
    return build_sections(pair_of(rows, prices))[0]


def answer_to(page: Page, start: str) -> str:
    return next(entry.answer for entry in page.faq if entry.question.startswith(start))


def test_a_faster_configuration_makes_the_headline_a_bound():
    assert page_of(h100_rows()).quick_answer == (
        "DeepSeek V4.1 Flash sustains at least 11,385 tokens/s per GPU on H100 at 50 tokens/s per user (served by a "
        "configuration measured at 75 tokens/s per user), which works out to at most $0.0286 per million total tokens "
        "at the price tier “Owning at Large Hyperscaler Volume” ($1.17 per GPU-hour), served by vLLM from an fp4 "
        "checkpoint."
    )


def test_an_interpolated_headline_is_called_an_estimate():
    page = page_of([point(40.0, 10800.0), point(60.0, 7200.0)])
    assert "sustains an estimated 9,000 tokens/s per GPU" in page.quick_answer
    assert "(interpolated between two measured points)" in page.quick_answer
    assert "an estimated $0.0361 per million" in page.quick_answer


def test_a_measured_headline_is_a_plain_number():
    page = page_of([point(50.0, 9000.0)], [])
    assert page.quick_answer == (
        "DeepSeek V4.1 Flash sustains 9,000 tokens/s per GPU on H100 at 50 tokens/s per user (a measured point), "
        "served by vLLM from an fp4 checkpoint."
    )


@pytest.mark.parametrize(
    ("provenance", "opening"), [("imported", "In imported results, "), ("simulated", "In simulation, ")]
)
def test_imported_and_simulated_numbers_are_never_called_measured(provenance, opening):
    page = page_of([{**row, "provenance": provenance} for row in h100_rows()])
    assert page.quick_answer.startswith(opening)
    assert provenance in page.title
    assert page.banner.lower().startswith(provenance)
    cells = [basis.basis_words(row.at_least, page) for row in page.ladder]
    assert not any("measured" in text for text in (page.quick_answer, *cells))


def test_nothing_that_reaches_the_target_gives_the_fastest_speed_instead():
    page = page_of([point(3.0, 40.0), point(5.0, 20.0)])
    assert page.quick_answer == (
        "No configuration of DeepSeek V4.1 Flash on H100 reaches 50 tokens/s per user: the fastest delivers 5, at 20.0 "
        "tokens/s per GPU."
    )


def test_only_invalid_points_are_counted_and_nothing_is_claimed():
    page = page_of([point(None, None, valid=False, reasons=["no_success"])])
    assert page.quick_answer == (
        "There is no valid point of DeepSeek V4.1 Flash on H100: 1 point recorded, each with the reason why it "
        "does not count."
    )


def test_how_many_tokens_are_output_is_said_or_said_to_be_unknown():
    assert wording.what_counts(page_of(h100_rows())) == (
        "Total tokens are input and output tokens together, input served from the prefix cache included; output is "
        "0.72% of them, and 95% of the input came from the prefix cache."
    )
    assert wording.what_counts(page_of([point(50.0, 9.0)])).endswith(
        "how many of them are output is not known, because the source does not say."
    )


def test_slower_targets_lower_the_cost_only_where_they_do():
    cheaper = page_of([point(30.0, 20000.0), point(50.0, 9000.0)])
    assert wording.lower_cost_at_slower(cheaper) == "Slower targets lower the cost further."
    assert wording.lower_cost_at_slower(page_of(h100_rows())).startswith("Slower targets do not lower the cost")
    assert wording.lower_cost_at_slower(page_of(h100_rows(), [])) is None


def test_the_output_cost_is_stated_or_said_to_be_unknown():
    assert "at most $3.97 per million output tokens" in answer_to(page_of(h100_rows()), "How much")
    assert "The cost per output token is not known" in answer_to(page_of([point(50.0, 9.0)]), "How much")


def test_without_a_price_the_cost_question_says_so():
    assert answer_to(page_of(h100_rows(), []), "How much") == (
        "There is no cost to state. No price of H100 holds on 2026-10-10."
    )


def test_a_format_that_the_hardware_lacks_is_named_as_the_checkpoints():
    assert wording.format_notes(page_of(h100_rows())) == (
        "fp4 is the number format of the checkpoint's weights: H100 has no fp4 arithmetic and computes in another "
        "format.",
    )
    assert wording.format_notes(page_of([point(50.0, 9.0, precision="fp8")])) == ()


def test_fastest_prints_the_unit_of_its_number():
    assert wording.fastest_sentence(page_of(h100_rows())) == (
        "The lowest p90 time to first token is 150 ms; the p90 time per output token of the same point is 5.00 ms."
    )


def test_published_readings_are_named_as_such():
    rows = [point(50.0, 9.0, provenance="imported", notes=["published_reading"])]
    note = wording.published_reading_note(page_of(rows))
    assert note.startswith("1 point is a value read off a published ladder, not a raw point")
    assert note in answer_to(page_of(rows), "How are these")


def test_a_published_reading_is_called_neither_a_point_nor_a_configuration():
    rows = [point(x, 9.0 - x / 50, provenance="imported", notes=["published_reading"]) for x in (40.0, 75.0)]
    page = page_of(rows)
    assert "(interpolated between two published readings)" in page.quick_answer
    assert basis.basis_words(page.ladder[0].at_least, page) == (
        "a published reading of a faster speed, at 40 tokens/s per user"
    )
    assert basis.basis_words(page.ladder[2].at_least, page) == "published reading"
    assert "configuration" not in answer_to(page, "How are these")


@pytest.mark.parametrize(("percentile", "share"), [(50, "half"), (90, "90%")])
def test_the_speed_per_user_says_which_percentile_it_is(percentile, share):
    page = page_of(h100_rows())
    page = dataclasses.replace(page, workload=dataclasses.replace(page.workload, percentile=percentile))
    assert wording.per_user_speed(page) == (
        f"Tokens/s per user is 1 / p{percentile} of the time per output token: {share} of the requests are at least "
        "that fast."
    )


def test_a_target_without_a_value_is_asked_about():
    page = page_of([point(50.0, 9000.0), point(90.0, 4000.0)])
    assert answer_to(page, "Why is there no value at 100, 150 and 200 tokens/s per user?") == (
        "No series of this page reaches that speed: its fastest point runs at 90 tokens/s per user."
    )
