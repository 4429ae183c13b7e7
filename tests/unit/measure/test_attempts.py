"""Attempts and duplicates within one cell."""

import datetime as dt
import random

from hypothesis import given
from hypothesis import strategies as st

from pipeline.measure.attempts import NOT_MEASURED, number_attempts
from pipeline.tables.points import POINTS


def point(source_row, **changes):
    row = {
        "point_id": f"p{source_row}",
        "model": "opt_125m",
        "gpu": "h100",
        "workload": "fixed_1k1k",
        "engine": "vllm",
        "engine_family": "vllm",
        "precision": "bf16",
        "provenance": "imported",
        "topology": "tp1",
        "concurrency": 4,
        "run_id": "r1",
        "run_date": dt.date(2026, 1, 2),
        "attempt": 1,
        "valid": True,
        "reasons": [],
        "notes": [],
        "declared": [],
        "percentile": 50,
        "throughput_tok_s_gpu": 100.0 + source_row,
        "source_format": "vllm_bench",
        "source_file": "a.json",
        "source_sha256": "00",
        "source_row": source_row,
    }
    return {**row, **changes}


def numbered(rows):
    return {row["point_id"]: row for row in number_attempts(POINTS.from_rows(rows)).to_pylist()}


def test_rows_of_one_identity_are_numbered_by_source():
    found = numbered([point(1), point(0), point(2)])
    assert [found[f"p{i}"]["attempt"] for i in range(3)] == [1, 2, 3]


def test_attempts_of_one_sweep_keep_their_order_whatever_their_hashes_are():
    first = point(0, attempt=1, source_sha256="ff", valid=False, reasons=["engine_ended"])
    second = point(1, attempt=2, source_sha256="00")
    found = numbered([second, first])
    assert (found["p0"]["attempt"], found["p1"]["attempt"]) == (1, 2)


def test_the_start_of_the_run_comes_before_the_source():
    late, early = dt.datetime(2026, 1, 2, 9, tzinfo=dt.UTC), dt.datetime(2026, 1, 2, 8, tzinfo=dt.UTC)
    found = numbered([point(0, run_started_at=late), point(1, run_started_at=early), point(2)])
    assert [found[p]["attempt"] for p in ("p2", "p1", "p0")] == [1, 2, 3]


def test_another_identity_starts_at_one():
    found = numbered([point(0), point(1, concurrency=8), point(2, spec_method="mtp")])
    assert {row["attempt"] for row in found.values()} == {1}


def test_null_equals_null_and_not_a_value():
    found = numbered([point(0, engine_build=None), point(1, engine_build=None), point(2, engine_build="x")])
    assert [found[f"p{i}"]["attempt"] for i in range(3)] == [1, 2, 1]


def test_the_same_measurement_from_another_row_is_invalid():
    found = numbered([point(0), point(1, throughput_tok_s_gpu=100.0)])
    assert (found["p0"]["valid"], found["p0"]["reasons"]) == (True, [])
    assert (found["p1"]["valid"], found["p1"]["reasons"]) == (False, ["duplicate_row"])


def test_a_failed_retry_does_not_replace_a_pass():
    found = numbered([point(0), point(1, reasons=["no_success"], valid=False)])
    assert [found["p0"]["valid"], found["p1"]["valid"]] == [True, False]


def test_no_points_stay_no_points():
    assert number_attempts(POINTS.empty()).num_rows == 0


def test_columns_that_are_not_measured_exist():
    assert set(POINTS.names) >= NOT_MEASURED


rows_of = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([4, 8]), st.sampled_from([1.0, 2.0])), min_size=1, max_size=10
)


@given(rows_of, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_twice_is_once(drawn, shuffler: random.Random):
    rows = [
        point(i, source_file=f"{file}.json", concurrency=c, throughput_tok_s_gpu=y)
        for i, (file, c, y) in enumerate(drawn)
    ]
    once = number_attempts(POINTS.from_rows(rows))
    shuffler.shuffle(rows)
    assert number_attempts(POINTS.from_rows(rows)).equals(once)
    assert number_attempts(once).equals(once)


def test_a_row_like_an_invalid_one_is_no_duplicate():
    broken = point(0, throughput_tok_s_gpu=5.0, valid=False, reasons=["metric_not_finite"])
    found = numbered([broken, point(1, throughput_tok_s_gpu=5.0)])
    assert found["p1"]["valid"]
