"""summary.sql and summary_itl.sql, against numbers checked by eye and against a pure twin on random requests."""

import math

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.measure.summary import SUMMARY, summarize
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS

MS = 1_000_000


def request(index, **changes):
    row = {
        "point_id": "a",
        "request_index": index,
        "phase": "profiling",
        "outcome": "ok",
        "start_ns": index * 1000 * MS,
        "ttft_ns": 100 * MS,
        "e2el_ns": 500 * MS,
        "input_tok": 10,
        "output_tok": 5,
        "first_chunk_tok": 1,
        "itl_ns": [100 * MS] * 4,
    }
    return {**row, **changes}


def summary_of(connection, rows):
    connection.register("requests", REQUESTS.from_rows(rows))
    return {row["point_id"]: row for row in summarize(connection, "requests").to_pylist()}


def test_one_request_is_its_own_statistic(connection):
    row = summary_of(connection, [request(0)])["a"]
    assert (row["ttft_mean_s"], row["ttft_p50_s"], row["ttft_p99_s"], row["ttft_std_s"]) == (0.1, 0.1, 0.1, 0.0)
    assert row["tpot_p50_s"] == pytest.approx(0.1)
    assert row["e2el_p50_s"] == 0.5
    assert (row["itl_mean_s"], row["itl_p90_s"]) == pytest.approx((0.1, 0.1))
    assert (row["n_requested"], row["n_successful"], row["input_tok"], row["output_tok"]) == (1, 1, 10, 5)


def test_percentiles_are_interpolated_linearly(connection):
    rows = [request(i, ttft_ns=(i + 1) * 100 * MS) for i in range(5)]  # 0.1 … 0.5 s
    row = summary_of(connection, rows)["a"]
    assert row["ttft_p50_s"] == pytest.approx(0.3)
    assert row["ttft_p90_s"] == pytest.approx(0.46)  # rank 3.6


def test_failed_and_cancelled_requests_count_but_are_in_no_statistic(connection):
    rows = [request(0), request(1, outcome="failed", ttft_ns=9000 * MS), request(2, outcome="cancelled")]
    row = summary_of(connection, rows)["a"]
    assert (row["n_requested"], row["n_successful"], row["n_failed"], row["n_cancelled"]) == (3, 1, 1, 1)
    assert row["ttft_p99_s"] == 0.1
    assert row["output_tok"] == 5


def test_warmup_is_counted_and_excluded(connection):
    row = summary_of(connection, [request(0), request(1, phase="warmup", ttft_ns=9000 * MS)])["a"]
    assert (row["n_requested"], row["n_warmup"], row["ttft_p99_s"]) == (1, 1, 0.1)


def test_a_point_with_warmup_only_has_zero_counts_and_no_statistic(connection):
    row = summary_of(connection, [request(0, phase="warmup")])["a"]
    assert (row["n_requested"], row["n_warmup"]) == (0, 1)
    assert row["ttft_mean_s"] is None
    assert row["itl_mean_s"] is None


def test_fewer_than_two_output_tokens_have_no_tpot(connection):
    rows = [request(0, output_tok=1, itl_ns=None), request(1, output_tok=4, first_chunk_tok=4)]
    row = summary_of(connection, rows)["a"]
    assert row["tpot_mean_s"] is None
    assert row["ttft_mean_s"] == pytest.approx(0.1)


def test_tokens_of_the_first_chunk_are_not_timed(connection):
    assert summary_of(connection, [request(0, first_chunk_tok=3)])["a"]["tpot_p50_s"] == pytest.approx(0.2)


def test_the_window_is_from_the_first_start_to_the_last_end(connection):
    assert summary_of(connection, [request(0), request(1)])["a"]["window_s"] == 1.5


def test_gaps_of_all_requests_are_one_pool(connection):
    rows = [request(0, itl_ns=[100 * MS] * 3), request(1, itl_ns=[200 * MS])]
    assert summary_of(connection, rows)["a"]["itl_mean_s"] == pytest.approx(0.125)


def test_no_requests_give_no_rows(connection):
    connection.register("requests", REQUESTS.empty())
    assert summarize(connection, "requests").num_rows == 0


def test_columns_of_a_summary_are_named_as_in_points():
    own = {"point_id", "first_start_ns", "last_end_ns"}
    assert set(SUMMARY.names) - own <= set(POINTS.names)


def twin(rows):
    """The same law in plain Python."""
    ok = [r for r in rows if r["phase"] == "profiling" and r["outcome"] == "ok"]
    timed = [r for r in ok if r["output_tok"] >= 2 and r["output_tok"] > r["first_chunk_tok"]]
    values = {
        "ttft": [r["ttft_ns"] / 1e9 for r in ok],
        "e2el": [r["e2el_ns"] / 1e9 for r in ok],
        "tpot": [(r["e2el_ns"] - r["ttft_ns"]) / 1e9 / (r["output_tok"] - r["first_chunk_tok"]) for r in timed],
        "itl": [gap / 1e9 for r in ok for gap in r["itl_ns"] or []],
    }
    return {f"{k}_{name}_s": f(v) if v else None for k, v in values.items() for name, f in STATISTICS.items()}


def percentile(p):
    def of(values):
        ranked, rank = sorted(values), (len(values) - 1) * p / 100
        low, high = ranked[math.floor(rank)], ranked[math.ceil(rank)]
        return low + (high - low) * (rank - math.floor(rank))

    return of


def mean(values):
    return sum(values) / len(values)


def deviation(values):
    return math.sqrt(mean([(v - mean(values)) ** 2 for v in values]))


STATISTICS = {"mean": mean, "std": deviation, **{f"p{p}": percentile(p) for p in (50, 75, 90, 95, 99)}}

some_requests = st.lists(
    st.builds(
        request,
        st.just(0),
        point_id=st.sampled_from("ab"),
        phase=st.sampled_from(["profiling", "warmup"]),
        outcome=st.sampled_from(["ok", "ok", "ok", "failed", "cancelled"]),
        ttft_ns=st.integers(1, 10**10),
        e2el_ns=st.integers(10**10, 10**12),
        output_tok=st.integers(0, 6),
        first_chunk_tok=st.integers(1, 3),
        itl_ns=st.none() | st.lists(st.integers(0, 10**10), max_size=4),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(rows=some_requests)
def test_sql_and_its_pure_twin_agree(rows):
    with duckdb.connect(":memory:") as connection:
        found = summary_of(connection, rows)
    assert set(found) == {row["point_id"] for row in rows}
    for point_id, row in found.items():
        expected = twin([r for r in rows if r["point_id"] == point_id])
        there = {key: value for key, value in expected.items() if value is not None}
        assert {key for key in expected if row[key] is not None} == set(there)
        assert {key: row[key] for key in there} == pytest.approx(there, rel=1e-9, abs=1e-12)
