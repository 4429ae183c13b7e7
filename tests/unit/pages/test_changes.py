"""The log of changes: what counts as one, and why it happened."""

import dataclasses
import datetime as dt

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.changes import (
    ABSENT,
    STATE_FIELDS,
    LastStates,
    Publication,
    appended,
    change_between,
    corrected_prices,
    page_states,
)
from pipeline.tables.changes import CHANGES
from tests.unit.pages.pairs import h100_rows, pair_of, point, price

KEY = ("deepseek_v4_1_flash", "h100", "agentx", "measured", 50.0)
DAY = dt.date(2026, 10, 10)
NEXT_DAY = dt.date(2026, 10, 11)


def publish(log, *pairs, day=DAY):
    """The log after the pages of these pairs were published, and the changes of that publication."""
    publication = Publication(LastStates(log))
    for pair in pairs:
        publication.add(build_sections(pair))
    changes = list(publication.finished())
    return appended(log, changes, day), changes


def one(x=50.0, y=9000.0, **columns):
    columns = {"run_id": "run1", "engine_build": "build-1"} | columns
    return pair_of([point(x, y, **columns)])


FIRST_LOG, _ = publish(CHANGES.empty(), one())


def reasons_of(*pairs):
    _, changes = publish(FIRST_LOG, *pairs, day=NEXT_DAY)
    return {change.key[-1]: change.reasons for change in changes}


def test_a_new_page_is_one_entry_for_every_reading_with_a_value():
    log, changes = publish(CHANGES.empty(), one())
    assert [(c.key[-1], c.reasons, c.noise) for c in changes] == [(30.0, ("first",), None), (50.0, ("first",), None)]
    assert log["sequence"].to_pylist() == [0, 1]
    assert log["published_on"].to_pylist() == [DAY, DAY]
    assert CHANGES.violations(log) == []


def test_the_same_pages_give_no_new_entry_and_the_same_log():
    log, changes = publish(FIRST_LOG, one(), day=NEXT_DAY)
    assert changes == []
    assert log is FIRST_LOG


def test_another_build_of_a_newer_run_is_named_as_the_reason():
    later = {"run_id": "run2", "run_date": dt.date(2026, 9, 30)}
    assert reasons_of(one(y=9900.0, engine_build="build-2", **later))[50.0] == ("new_build",)
    assert reasons_of(one(y=9900.0, **later))[50.0] == ("new_run",)
    assert reasons_of(one(y=9900.0, topology="tp4", **later))[50.0] == ("new_recipe",)
    both = one(y=9900.0, topology="tp4", engine_build="build-2", **later)
    assert reasons_of(both)[50.0] == ("new_build", "new_recipe")


def test_the_same_run_read_differently_is_a_correction():
    assert reasons_of(one(y=9900.0))[50.0] == ("correction",)


def test_a_new_price_changes_every_reading_and_no_throughput():
    row = point(50.0, 9000.0, run_id="run1", engine_build="build-1")
    newer = {**price("owning_hyperscaler", 1.20), "price_id": "h100/owning_hyperscaler/2026-10-01"}
    found = reasons_of(pair_of([row], [newer, price("retail", 2.0)]))
    assert found == {30.0: ("new_price",), 50.0: ("new_price",)}
    corrected = reasons_of(pair_of([row], [price("owning_hyperscaler", 1.18), price("retail", 2.0)]))
    assert corrected[50.0] == ("price_correction",)


def test_price_rows_in_another_order_are_no_new_price():
    row = point(50.0, 9000.0, run_id="run1", engine_build="build-1")
    assert reasons_of(pair_of([row], [price("retail", 2.0), price("owning_hyperscaler", 1.17)])) == {}


def test_only_a_price_row_of_both_sides_with_another_rate_is_corrected():
    assert corrected_prices({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 2.5, "d": 4.0}) == ("b",)


def test_a_page_that_is_gone_is_withdrawn_once_and_may_come_back():
    log, changes = publish(FIRST_LOG, day=NEXT_DAY)
    assert {change.reasons for change in changes} == {("withdrawn",)}
    again, none = publish(log, day=NEXT_DAY)
    assert (none, again) == ([], log)
    _, back = publish(log, one(), day=NEXT_DAY)
    assert {change.reasons for change in back} == {("first",)}


def test_a_newer_run_that_no_longer_reaches_a_target_is_another_run_and_no_other_configuration():
    assert reasons_of(one(x=40.0, run_id="run2", run_date=dt.date(2026, 9, 30)))[50.0] == ("new_run",)


def test_a_reading_that_is_no_longer_reached_keeps_what_it_was():
    _, changes = publish(FIRST_LOG, one(x=40.0, y=9500.0), day=NEXT_DAY)
    lost = next(change for change in changes if change.key[-1] == 50.0)
    assert (lost.old.throughput_tok_s_gpu, lost.new.throughput_tok_s_gpu, lost.new.basis) == (
        9000.0,
        None,
        "unreachable",
    )


def test_the_last_digit_of_a_double_is_no_change():
    assert reasons_of(one(y=9000.0 * (1 + 1e-13))) == {}


@pytest.mark.parametrize(("y", "verdict"), [(9010.0, "within"), (9900.0, "outside")])
def test_a_difference_is_judged_against_the_spread_of_the_repeats(y, verdict):
    spread = {"throughput_std_tok_s_gpu": 30.0, "n_repeats": 3}
    log, _ = publish(CHANGES.empty(), one(**spread))
    _, changes = publish(log, one(y=y, run_id="run2", run_date=dt.date(2026, 9, 30), **spread))
    assert {change.noise for change in changes} == {verdict}
    assert {change.noise for change in publish(log, one(y=y))[1]} == {"unknown"}


def test_a_state_survives_the_log_to_the_last_field():
    (page,) = build_sections(one(throughput_std_tok_s_gpu=30.0, n_repeats=3))
    written = dict(page_states(page))[KEY]
    log, _ = publish(CHANGES.empty(), one(throughput_std_tok_s_gpu=30.0, n_repeats=3))
    assert LastStates(log).take(KEY[:-1])[KEY] == written
    assert {f"new_{name}" for name in STATE_FIELDS} <= set(CHANGES.names)


def test_the_order_of_pages_does_not_change_the_log():
    b300 = pair_of([point(50.0, 300000.0, gpu="b300")], [])
    assert publish(CHANGES.empty(), one(), b300)[0] == publish(CHANGES.empty(), b300, one())[0]


def test_nothing_and_nothing_is_no_change():
    unreached = dataclasses.replace(ABSENT, basis="unreachable")
    assert change_between(KEY, ABSENT, ABSENT) is None
    assert change_between(KEY, ABSENT, unreached) is None


def test_every_reading_of_a_page_has_a_state():
    (page,) = build_sections(pair_of(h100_rows()))
    assert [key[-1] for key, _ in page_states(page)] == [30.0, 50.0, 75.0, 100.0, 150.0, 200.0]
