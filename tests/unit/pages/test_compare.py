import datetime as dt

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.compare import compare_gpus, compare_within
from pipeline.pages.compare_page import compare_files, compare_pages, sentence, verdict_words
from pipeline.pages.inputs import SiteFacts
from tests.unit.pages.pairs import h100_rows, pair_of, point, price, renamed

LATER = dt.date(2026, 10, 2)


def on(gpu: str, *pairs: tuple[float, float], usd: float = 2.0, **columns: object):
    rows = [point(x, y, gpu=gpu, **columns) for x, y in pairs]
    return build_sections(pair_of(rows, [price("owning_hyperscaler", usd, gpu)]))


def repeated(std: float, n: int = 3) -> dict[str, object]:
    return {"n_repeats": n, "throughput_std_tok_s_gpu": std}


def only(found):
    (comparison,) = found
    return comparison


def at_50(comparison):
    return next(row for row in comparison.rows if row.target_tok_s_user == 50.0)


def test_two_gpus_are_read_at_the_same_targets_with_both_ratios():
    found = only(compare_gpus(on("b300", (50.0, 6000.0), usd=4.0), on("h100", (50.0, 2000.0), usd=2.0)))
    row = at_50(found)
    assert (row.ratio, row.cost_ratio) == (pytest.approx(3.0), pytest.approx(2 / 3))
    assert sentence(found) == (
        "At 50 tokens/s per user, B300 serves 3.00 times the tokens per GPU of H100, at 0.667 times the cost per "
        "token: B300 is higher, spread unknown."
    )


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ((6000.0, repeated(10.0)), (2000.0, repeated(10.0)), "first"),
        ((2000.0, repeated(10.0)), (6000.0, repeated(10.0)), "second"),
        ((2010.0, repeated(100.0)), (2000.0, repeated(100.0)), "within_noise"),
        ((2000.0, {}), (2000.0, {}), "equal"),
        ((2010.0, repeated(1.0)), (2000.0, {}), "first_unknown"),
        ((2000.0, repeated(0.0, n=1)), (2010.0, repeated(1.0)), "second_unknown"),
    ],
)
def test_a_verdict_needs_repeats_on_both_sides_and_a_difference_outside_their_noise(first, second, verdict):
    sides = [on(gpu, (50.0, y), **more) for gpu, (y, more) in (("b300", first), ("h100", second))]
    assert at_50(only(compare_gpus(*sides))).verdict == verdict


def test_a_target_that_one_side_does_not_reach_has_no_ratio():
    found = only(compare_gpus(on("b300", (100.0, 6000.0)), on("h100", (50.0, 2000.0))))
    row = found.rows[-1]
    assert (row.target_tok_s_user, row.second, row.ratio, row.verdict) == (100.0, None, None, "no_value")
    assert verdict_words(row, found).startswith("not comparable")


def test_data_of_different_workloads_or_provenance_is_never_compared():
    simulated = on("b300", (50.0, 6000.0), provenance="simulated")
    other = on("b300", (50.0, 6000.0), workload="fixed_8k1k", percentile=50)
    assert compare_gpus(simulated, on("h100", (50.0, 2000.0))) == ()
    assert compare_gpus(other, on("h100", (50.0, 2000.0))) == ()


def test_what_differs_is_named_and_what_is_the_same_is_not():
    sides = on("b300", (50.0, 6000.0), topology="tp4"), on("h100", (50.0, 2000.0), topology="tp8")
    assert [(d.term, d.first, d.second) for d in only(compare_gpus(*sides)).differences] == [
        ("GPU", "B300", "H100"),
        ("Architecture", "Blackwell Ultra", "Hopper"),
        ("Topology", "tp4", "tp8"),
    ]


def test_engines_on_one_gpu_are_each_read_at_their_best_series():
    (page,) = build_sections(pair_of(h100_rows()))
    (found,) = compare_within(page)
    assert (found.kind, found.first.label, found.second.label) == ("engines", "SGLang", "vLLM")
    assert [(row.target_tok_s_user, row.verdict) for row in found.rows[:3]] == [
        (30.0, "second_unknown"),
        (50.0, "second_unknown"),
        (75.0, "no_value"),
    ]


def test_checkpoint_formats_are_compared_and_unsaid_ones_are_not():
    rows = [point(50.0, 900.0, precision=p, run_id=f"run-{p}") for p in ("fp4", "fp8", None)]
    (page,) = build_sections(pair_of(rows))
    assert [(c.kind, c.first.label, c.second.label) for c in compare_within(page)] == [("formats", "fp4", "fp8")]


def test_the_newest_run_of_a_series_is_compared_with_the_one_before():
    rows = [point(50.0, 900.0), point(50.0, 990.0, run_id="run2", run_date=LATER)]
    found = only(compare_within(build_sections(pair_of(rows))[0]))
    assert (found.kind, found.first.label) == ("runs", "vLLM fp4, run 2026-10-02")
    assert at_50(found).ratio == pytest.approx(1.1)
    assert [d.term for d in found.differences] == ["Run date"]


def test_runs_of_two_builds_are_a_comparison_of_builds():
    rows = [
        point(50.0, 900.0, engine_build="v0.32", **repeated(5.0)),
        point(50.0, 990.0, engine_build="v0.33", run_id="run2", run_date=LATER, **repeated(5.0)),
    ]
    found = only(compare_within(build_sections(pair_of(rows))[0]))
    assert (found.kind, found.second.label) == ("builds", "vLLM fp4, run 2026-09-24, build v0.32")
    assert at_50(found).verdict == "first"


def test_a_model_has_a_page_for_every_pair_of_gpus_with_something_to_compare_and_a_list():
    model = [on("h100", (50.0, 2000.0)), on("b300", (50.0, 6000.0)), on("h200", (3.0, 9.0))]
    assert [page.path for page in compare_pages(model)] == ["compare/deepseek_v4_1_flash/b300-vs-h100/"]
    files = compare_files(model, SiteFacts())
    assert sorted(files) == [
        "compare/deepseek_v4_1_flash/b300-vs-h100/index.html",
        "compare/deepseek_v4_1_flash/index.html",
    ]
    assert "3.00" in files["compare/deepseek_v4_1_flash/b300-vs-h100/index.html"]


def test_nothing_to_compare_is_said():
    files = compare_files([on("h100", (50.0, 2000.0))], SiteFacts())
    assert list(files) == ["compare/deepseek_v4_1_flash/index.html"]
    assert "There is nothing to compare yet" in files["compare/deepseek_v4_1_flash/index.html"]


def test_a_name_with_markup_stays_text():
    rows = [point(50.0, 900.0), point(50.0, 990.0, engine="<b>", run_id="run2")]
    files = compare_files([build_sections(renamed(pair_of(rows), "<script>x"))], SiteFacts())
    assert len(files) == 2
    assert not [text for text in files.values() if "<script>x" in text or "<b>" in text]
