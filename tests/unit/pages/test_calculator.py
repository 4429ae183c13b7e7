"""The page's script against the Python that the terminal uses: same numbers, same words."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from pipeline.cost.frontier_reading import FrontierCurve, Knot
from pipeline.cost.what_if import Question, Weights, answer
from pipeline.errors import PriceError
from pipeline.pages import formats
from pipeline.pages.build import build_sections
from pipeline.pages.calculator import (
    CalculatorData,
    answer_lines,
    calculator_data,
    calculator_json,
    ladder_lines,
    rate_of,
)
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.run_page import run_files
from pipeline.pages.templates_engine import template_text
from tests.unit.pages.pairs import h100_rows, pair_of, renamed
from tests.unit.pages.test_build import page_of


@pytest.fixture(scope="module")
def script():
    engine = MiniRacer()
    engine.eval(template_text("calculator.js"))

    def call(name: str, *arguments: object) -> object:
        texts = [value if isinstance(value, str) else json.dumps(value) for value in arguments]
        return json.loads(
            engine.eval(f"JSON.stringify(frontierCalculator.{name}({', '.join(texts)}))"), parse_int=float
        )

    return call


DATA = calculator_data(page_of(h100_rows()))
ASKED = Question(1.17, 50.0, 0.03, 1e6, Weights(1, 0.1, 5), DATA.all_in_w_gpu)


def assert_equal(script, data: CalculatorData, question: Question) -> None:
    embedded = calculator_json(data)
    asked = dataclasses.asdict(question)
    assert script("answer", f"{embedded}.curves", asked) == dataclasses.asdict(answer(data.curves, question))
    assert script("answerLines", embedded, asked) == [list(line) for line in answer_lines(data, question)]
    lines = ladder_lines(data, question.usd_per_gpu_hour)
    assert script("ladderLines", embedded, question.usd_per_gpu_hour) == [list(line) for line in lines]


@pytest.mark.parametrize("speed", [0.0, 30.0, 50.0, 75.0, 99.9, 120.0, 200.0, 201.0])
def test_browser_and_terminal_agree_on_a_page(script, speed):
    assert_equal(script, DATA, dataclasses.replace(ASKED, speed_tok_s_user=speed))


def test_browser_and_terminal_agree_where_no_token_of_a_kind_is_served(script):
    none_out = FrontierCurve("none", (Knot(50.0, 1000.0, None, 0.0, 0.0, 8, 700.0),))
    data = CalculatorData((none_out,), (), (50.0,), 50.0, None)
    assert_equal(script, data, ASKED)
    assert_equal(script, data, dataclasses.replace(ASKED, weights=Weights(0, 0, 1)))


def test_the_price_of_the_page_gives_the_costs_of_the_page():
    page = page_of(h100_rows())
    rate = rate_of(DATA, "retail", "")
    published = [row.at_least.cost_usd_mtok for row in page.ladder]
    expected = [formats.usd_mtok(costs["retail"]) if costs else "–" for costs in published]
    assert [line[2].removeprefix("at most ") for line in ladder_lines(DATA, rate)][2:] == expected[2:]
    # 2.00 x 1e6 / (11385 x 3600) = 0.048797, a bound at 30 and 50
    assert ladder_lines(DATA, rate)[1] == ("50", "at least 11,385", "at most $0.0488")


positive = st.floats(1e-3, 1e6, allow_nan=False)
share = st.none() | st.floats(1e-3, 0.5)


@st.composite
def curves(draw):
    n = draw(st.integers(1, 5))
    speeds = sorted(draw(st.lists(st.floats(1, 300), min_size=n, max_size=n, unique=True)))
    tokens = sorted(draw(st.lists(positive, min_size=n, max_size=n, unique=True)), reverse=True)
    slopes = st.none() if n == 1 else st.floats(-1e4, 0)
    knots = [
        Knot(
            x,
            y,
            draw(slopes),
            draw(share),
            draw(share),
            draw(st.none() | st.integers(1, 72)),
            draw(st.none() | positive),
        )
        for x, y in zip(speeds, tokens, strict=True)
    ]
    return FrontierCurve(draw(st.text(max_size=5)), tuple(knots))


@settings(max_examples=150, deadline=None)
@given(
    found=st.lists(curves(), max_size=3),
    question=st.builds(
        Question,
        positive,
        st.floats(0, 320),
        st.none() | st.floats(1e-6, 100),
        st.none() | st.floats(1e-3, 1e9),
        st.builds(Weights, *[st.just(0.0) | st.floats(0.001, 100)] * 3),
        st.none() | positive,
    ),
)
def test_browser_and_terminal_agree_on_anything(script, found, question):
    data = CalculatorData(tuple(found), (), (30.0, 50.0, 200.0), 50.0, question.all_in_w_gpu)
    assert_equal(script, data, question)


@settings(max_examples=300, deadline=None)
@given(value=positive | st.integers(0, 4000).map(lambda n: n / 8))
def test_both_format_numbers_alike_halves_included(script, value):
    assert script("throughput", value) == formats.throughput(value)
    assert script("usdMtok", value) == formats.usd_mtok(value)


def test_a_tier_that_the_page_has_no_price_of_is_refused_by_name():
    assert rate_of(DATA, "", "h100") == 1.17
    with pytest.raises(PriceError, match="no price of the tier 'spot'; expected owning_hyperscaler and retail"):
        rate_of(DATA, "spot", "h100")
    with pytest.raises(PriceError, match="--usd"):
        rate_of(dataclasses.replace(DATA, tiers=()), "", "h100")


def test_the_form_is_hidden_until_its_script_runs_and_the_data_cannot_end_its_element():

    html = run_files(build_sections(renamed(pair_of(h100_rows()), "</script><b>x")), SiteFacts())["index.html"]
    assert "<div data-live hidden>" in html
    assert '<script src="../../calculator.js" defer></script>' in html
    assert "</script><b>" not in html
