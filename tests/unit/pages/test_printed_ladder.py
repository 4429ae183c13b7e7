import dataclasses

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.printed_ladder import misprints
from pipeline.pages.run_page import run_files
from tests.unit.pages.pairs import h100_rows, pair_of, point

REPEATED = {"n_repeats": 3, "throughput_std_tok_s_gpu": 50.0, "interactivity_std_tok_s_user": 0.1}
CASES = {
    "two series": h100_rows(),
    "one knot, and targets that are not reached": [point(60.0, 5000.0)],
    "interpolated": [point(40.0, 10800.0), point(60.0, 7200.0)],
    "repeated": [point(40.0, 10800.0, **REPEATED), point(60.0, 7200.0, **REPEATED)],
}


def printed(rows):
    sections = build_sections(pair_of(rows))
    return run_files(sections, SiteFacts())["index.html"], sections[0]


@pytest.mark.parametrize("rows", CASES.values(), ids=CASES)
def test_a_page_prints_the_numbers_of_its_data(rows):
    assert misprints(*printed(rows)) == []


def test_a_page_without_prices_prints_none():
    (page,) = build_sections(pair_of(h100_rows(), []))
    assert misprints(run_files((page,), SiteFacts())["index.html"], page) == []


@pytest.mark.parametrize(
    ("was", "said", "words"),
    [
        ("≥</abbr> 11,385", "≥</abbr> 11,386", "it prints ≥ 11,386 as tokens/s per GPU, not ≥ 11,385"),
        (">$0.0335<", ">$0.0336<", "at 100 tokens/s per user it prints $0.0336 as $ / 1M tokens, Owning at Large"),
        (">$0.0335<", "><", "at 100 tokens/s per user it prints nothing as $ / 1M tokens, Owning at Large"),
        ('scope="row">100<', 'scope="row">101<', "prints 101 tokens/s per user as target, not 100 tokens/s per user"),
    ],
)  # fmt: skip
def test_a_number_that_is_another_one_is_named_with_both(was, said, words):
    html, page = printed(h100_rows())
    assert was in html
    (found,) = misprints(html.replace(was, said, 1), page)
    assert words in found


def test_a_row_that_is_gone_is_named():
    html, page = printed(h100_rows())
    more = dataclasses.replace(page, ladder=page.ladder * 2)
    assert misprints(html, more) == ["its ladder has 6 rows instead of 12"]
    assert misprints("<h1>x</h1>", page) == ["its ladder has 0 rows instead of 6"]
