import datetime as dt
import re

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.chart_data import charts_of
from pipeline.pages.charts import drawn_charts
from tests.unit.pages.pairs import h100_rows, pair_of, point


def page_of(rows, prices=None):
    return build_sections(pair_of(rows, prices))[0]


def chart(rows, kind: str, prices=None):
    return next(c for c in charts_of(page_of(rows, prices)) if c.kind == kind)


def kinds(rows, prices=None) -> list[str]:
    return [c.kind for c in charts_of(page_of(rows, prices))]


def test_the_frontier_comes_first_and_a_chart_without_data_is_not_there():
    assert kinds([point(50.0, 900.0, ttft_p90_s=None, tpot_p90_s=None, concurrency=None)], []) == ["frontier"]
    latencies = {"ttft_p90_s": 0.5, "e2el_p90_s": 9.0}
    assert kinds([point(x, 1000 - x, **latencies, output_throughput_tok_s_gpu=9.0) for x in (50.0, 80.0)]) == [
        "frontier",
        "cost",
        "decode",
        "ttft",
        "e2el",
        "ttft-by-concurrency",
        "tpot-by-concurrency",
    ]


def test_cost_is_the_price_over_the_tokens_of_an_hour():
    found = chart([point(50.0, 1000.0), point(100.0, 500.0)], "cost")
    assert [mark.y for mark in found.marks] == pytest.approx([1.17e6 / 3.6e6, 1.17e6 / 1.8e6])
    assert [y for _, y in found.lines[0].xy][:: len(found.lines[0].xy) - 1] == pytest.approx([0.325, 0.65])
    assert "Owning at Large Hyperscaler Volume" in found.caption


def test_prefill_and_decode_are_shown_apart_where_the_source_says_them():
    rows = [point(50.0, 1000.0, computed_input_throughput_tok_s_gpu=60.0, output_throughput_tok_s_gpu=9.0)]
    assert [mark.y for kind in ("prefill", "decode") for mark in chart(rows, kind).marks] == [60.0, 9.0]
    assert not {"prefill", "decode"} & set(kinds([point(50.0, 1000.0)]))


def test_the_line_against_a_latency_joins_what_no_point_beats_on_both():
    rows = [point(50.0, 1000.0, ttft_p90_s=2.0), point(60.0, 800.0, ttft_p90_s=3.0), point(70.0, 600.0, ttft_p90_s=1.0)]
    assert chart(rows, "ttft").lines[0].xy == ((1.0, 600.0), (2.0, 1000.0))


def test_concurrency_lines_hold_one_configuration_each():
    rows = [
        point(50.0, 900.0),
        point(80.0, 500.0),
        point(60.0, 850.0, topology="tp4"),
        point(90.0, 450.0, topology="tp4"),
    ]
    assert sorted(len(line.xy) for line in chart(rows, "tpot-by-concurrency").lines) == [2, 2]


def test_error_bars_are_there_where_a_point_was_repeated():
    rows = [
        point(50.0, 900.0, n_repeats=3, throughput_std_tok_s_gpu=20.0, interactivity_std_tok_s_user=1.0),
        point(80.0, 500.0, n_repeats=1, throughput_std_tok_s_gpu=20.0),
    ]
    assert [(m.x_std, m.y_std) for m in chart(rows, "frontier").marks] == [(1.0, 20.0), (None, None)]
    assert drawn_charts(page_of(rows))[0].svg.count('stroke-width="1.5"') == 1


def test_history_has_a_mark_a_run_with_its_spread_and_needs_two_days():
    newer = point(50.0, 990.0, run_id="run2", run_date=dt.date(2026, 10, 2), n_repeats=3, throughput_std_tok_s_gpu=9.0)
    found = chart([point(50.0, 900.0), newer], "history")
    assert [(m.y, m.y_std) for m in found.marks] == [(900.0, None), (990.0, 9.0)]
    assert "history" not in kinds([point(50.0, 900.0), point(50.0, 990.0, run_id="run2")])


def test_days_are_spread_over_the_width_of_the_drawing():
    rows = [point(50.0, 900.0 + n, run_id=f"r{n}", run_date=dt.date(2026, 9, 1 + 10 * n)) for n in range(3)]
    svg = next(d.svg for d in drawn_charts(page_of(rows)) if d.chart.kind == "history")
    xs = [float(x) for x in re.findall(r'<use href="[^"]+" x="([\d.]+)"', svg)]
    assert xs == pytest.approx([25.1, 276.0, 526.9], abs=0.1)


def test_every_chart_says_in_words_what_it_shows():
    for found in charts_of(page_of(h100_rows())):
        assert "vLLM fp4" in found.alternative
        assert found.title.endswith("DeepSeek V4.1 Flash on H100, AgentX agentic coding")


def test_invalid_and_superseded_points_are_in_no_chart():
    rows = [*h100_rows(), point(90.0, 4000.0, point_id="bad", valid=False, reasons=["no_success"])]
    rows.append(point(80.0, 9e6, point_id="old", run_id="run_old", run_date=dt.date(2026, 9, 1)))
    page = page_of(rows)
    drawn = {mark.point for c in charts_of(page) for mark in c.marks if mark.point is not None}
    assert {page.points[n].role for n in drawn} == {"frontier"}


def test_hundreds_of_faint_points_are_one_path_a_series():
    rows = [point(50.0, 9000.0, concurrency=999)] + [
        point(20.0 + n / 10, 100.0 + n, concurrency=n + 1) for n in range(200)
    ]
    svg = drawn_charts(page_of(rows))[0].svg
    assert svg.count("h0") == 200
    assert svg.count("<path") < 10
    assert len(svg) < 12_000


@pytest.mark.parametrize(("provenance", "hollow"), [("measured", False), ("imported", True), ("simulated", True)])
def test_marks_of_data_that_was_not_measured_are_hollow(provenance, hollow):
    svg = drawn_charts(page_of([{**row, "provenance": provenance} for row in h100_rows()]))[0].svg
    assert ('fill="#ffffff"' in svg) is hollow


def test_one_request_in_flight_is_singular_in_the_alternative_text():
    rows = [point(x, 9000.0 - 10 * x, concurrency=n) for x, n in ((90.0, 1), (60.0, 8))]
    text = chart(rows, "ttft-by-concurrency").alternative
    assert "at 1 request in flight" in text
    assert "1 requests" not in text
