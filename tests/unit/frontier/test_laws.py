"""The laws of frontier and ladder on random curves: SQL against the plain twins, and what must hold for any input.

The strongest true form of two laws is narrower than it sounds; the counterexamples are tests too. An estimate is not a
bound: a new measurement may lower an interpolated reading, and one series' estimate may lie above another's knot.
"""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.frontier.across import read_across
from tests.unit.frontier import twins
from tests.unit.frontier.pages import FEW_LARGE, TARGETS, a_curve, a_page, a_point, page_rows, pages, read_pages
from tests.unit.frontier.point_rows import curve, derived, reading_of


def same(found, expected, rel=1e-9, abs_=0.0):
    """Equal, or both null."""
    return found is expected if None in (found, expected) else found == pytest.approx(expected, rel=rel, abs=abs_)


def curves_of(connection, drawn):
    """(points as drawn, page, engine) for every curve of every page."""
    for curves, page in zip(drawn, read_pages(connection, drawn), strict=True):
        for pairs, engine in zip(curves, ("vllm", "sglang", "trtllm"), strict=False):
            yield pairs, page, engine


@FEW_LARGE
@given(drawn=pages)
def test_the_sql_frontier_equals_the_twin_s(connection, drawn):
    for pairs, page, engine in curves_of(connection, drawn):
        assert page.knots[engine] == twins.pareto(pairs)
        slopes = twins.steffen(page.knots[engine])
        assert all(same(m, expected) for m, expected in zip(page.slopes[engine], slopes, strict=True))


@FEW_LARGE
@given(drawn=pages)
def test_the_sql_ladder_equals_the_twin_s(connection, drawn):
    for pairs, page, engine in curves_of(connection, drawn):
        knots = twins.pareto(pairs)
        for target in TARGETS:
            y, basis = twins.at_least(knots, target)
            row = page.at_least[engine][target]
            assert same(row["throughput_tok_s_gpu"], y)
            assert row["basis"] == basis
            y, basis = twins.at_target(knots, target)
            row = page.at_target[engine][target]
            assert same(row["throughput_tok_s_gpu"], y, abs_=1.001e-3)
            assert row["basis"] == basis


@FEW_LARGE
@given(drawn=pages)
def test_the_sql_reading_across_series_equals_the_twin_s(connection, drawn):
    for curves, page in zip(drawn, read_pages(connection, drawn), strict=True):
        knots = [twins.pareto(pairs) for pairs in curves]
        assert all(same(page.f[target], twins.across_at_least(knots, target)) for target in TARGETS)


@FEW_LARGE
@given(drawn=pages)
def test_the_frontier_falls_strictly_as_speed_rises(connection, drawn):
    for _, page, engine in curves_of(connection, drawn):
        assert all(a[0] < b[0] and a[1] > b[1] for a, b in itertools.pairwise(page.knots[engine]))


@FEW_LARGE
@given(drawn=pages)
def test_every_point_is_a_knot_or_dominated_by_one(connection, drawn):
    for pairs, page, engine in curves_of(connection, drawn):
        assert all(any(x >= p[0] and y >= p[1] for x, y in page.knots[engine]) for p in pairs)


@FEW_LARGE
@given(drawn=pages)
def test_f_never_rises_with_the_target_and_never_comes_back(connection, drawn):
    for page in read_pages(connection, drawn):
        falling = [page.f[target] for target in TARGETS]
        assert all(b is None or (a is not None and b <= a * (1 + 1e-12)) for a, b in itertools.pairwise(falling))


@FEW_LARGE
@given(drawn=pages)
def test_the_measured_only_reading_never_exceeds_f(connection, drawn):
    for page in read_pages(connection, drawn):
        for target, y in page.f.items():
            measured = twins.measured_only([page.all_knots], target)
            assert (y is None) == (measured is None)
            assert measured is None or measured <= y


@FEW_LARGE
@given(drawn=st.lists(a_page, min_size=1, max_size=3))
def test_f_is_never_below_a_knot_of_the_combined_frontier_and_m_is_on_it(connection, drawn):
    speeds = [x for page in read_pages(connection, drawn) for x, _ in page.combined]
    for page in read_pages(connection, drawn, targets=speeds):
        for x, y in page.combined:
            assert page.f[x] >= y
            assert twins.measured_only([page.all_knots], x) == y


@FEW_LARGE
@given(drawn=st.lists(a_curve.map(lambda pairs: [pairs]), min_size=1, max_size=4))
def test_f_of_one_series_touches_every_knot_of_its_frontier(connection, drawn):
    speeds = [x for (pairs,) in drawn for x, _ in pairs]
    for page in read_pages(connection, drawn, targets=speeds):
        assert all(page.f[x] == y for x, y in page.combined)


def test_f_may_lie_above_a_knot_where_another_series_is_estimated_higher(connection):
    # No measured point dominates (50, 85), but halfway between (40, 100) and (60, 80) the chord says 90.
    (page,) = read_pages(connection, [[[(40, 100), (60, 80)], [(50, 85)]]], targets=(50,))
    assert (page.f[50], page.combined) == (90, [(40, 100), (50, 85), (60, 80)])


def before_and_after(connection, drawn):
    """at_least rows of a curve, and of the same curve with one more point, at every target."""
    for pairs, new in drawn:
        before, after = (page.at_least["vllm"] for page in read_pages(connection, [[pairs], [[*pairs, new]]]))
        yield from ((pairs, before[target], after[target]) for target in TARGETS)


one_more_point = st.lists(st.tuples(a_curve, a_point), min_size=1, max_size=3)


@FEW_LARGE
@given(drawn=one_more_point)
def test_adding_a_point_never_lowers_a_reading_below_what_was_measured_before(connection, drawn):
    for pairs, _, after in before_and_after(connection, drawn):
        measured = twins.measured_only([pairs], after["target_tok_s_user"])
        assert measured is None or after["throughput_tok_s_gpu"] >= measured


@FEW_LARGE
@given(drawn=one_more_point)
def test_adding_a_point_never_lowers_a_reading_that_is_not_interpolated(connection, drawn):
    for _, before, after in before_and_after(connection, drawn):
        if before["basis"] in ("measured", "faster_config"):
            assert after["throughput_tok_s_gpu"] >= before["throughput_tok_s_gpu"]


@pytest.mark.parametrize(
    ("new", "reading", "basis"),
    [((50, 6), 6, "measured"), ((39, 100), 6.5625, "interpolated")],
    ids=["a measurement below the estimate", "a steep new neighbour"],
)
def test_a_new_point_may_lower_an_interpolated_reading(connection, new, reading, basis):
    chord = [(40, 10), (60, 5)]
    assert reading_of(derived(connection, curve(*chord), (50,)).readings, "at_least", 50)["throughput_tok_s_gpu"] == 7.5
    row = reading_of(derived(connection, curve(*chord, new), (50,)).readings, "at_least", 50)
    assert (row["throughput_tok_s_gpu"], row["basis"]) == (reading, basis)


@FEW_LARGE
@given(drawn=st.lists(st.tuples(a_page, a_curve), min_size=1, max_size=5))
def test_adding_a_series_never_lowers_f(connection, drawn):
    without = read_pages(connection, [page[:2] for page, _ in drawn])
    with_more = read_pages(connection, [[*page[:2], more] for page, more in drawn])
    for fewer, more in zip(without, with_more, strict=True):
        assert all(y is None or more.f[target] >= y for target, y in fewer.f.items())


@FEW_LARGE
@given(drawn=st.lists(a_curve, min_size=1, max_size=5))
def test_a_dominated_point_changes_no_reading(connection, drawn):
    slowest = [twins.pareto(pairs)[0] for pairs in drawn]
    more = [[*pairs, (x / 2, y / 2)] for pairs, (x, y) in zip(drawn, slowest, strict=True)]
    plain, dominated = (read_pages(connection, [[pairs] for pairs in curves]) for curves in (drawn, more))
    assert plain == dominated


@FEW_LARGE
@given(drawn=pages, seed=st.integers(0, 2**32))
def test_the_order_of_the_rows_changes_nothing(connection, drawn, seed):
    rows = page_rows(drawn)
    first = derived(connection, rows, TARGETS)
    random.Random(seed).shuffle(rows)
    assert derived(connection, rows, TARGETS) == first
    knots, readings = (
        table.take(random.Random(seed).sample(range(table.num_rows), table.num_rows))
        for table in (first.knots, first.readings)
    )
    assert read_across(connection, knots, readings) == read_across(connection, first.knots, first.readings)
