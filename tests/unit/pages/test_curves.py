import datetime as dt

from pipeline.pages.curves import point_roles, series_key, series_labels
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.points import POINTS
from tests.unit.pages.pairs import point

AGENTIC = shipped_registry().workload("agentx")
FIXED = shipped_registry().workload("fixed_8k1k")
REST = {"disaggregated": None, "multinode": None, "kv_offload": None}


def row(**columns: object) -> dict[str, object]:
    return {**dict.fromkeys(POINTS.names), **REST, **point(50.0, 1000.0), **columns}


def labels(*rows: dict[str, object]) -> set[str]:
    return set(series_labels(rows, AGENTIC, shipped_registry()).values())


def test_the_speculative_method_is_part_of_a_fixed_length_series_only():
    plain, mtp = row(), row(spec_method="mtp")
    assert series_key(plain, AGENTIC) == series_key(mtp, AGENTIC)
    assert series_key(plain, FIXED) != series_key(mtp, FIXED)


def test_a_label_names_the_engine_the_format_and_what_is_not_plain():
    assert labels(row(), row(engine="sglang", disaggregated=True, multinode=True, kv_offload="dram")) == {
        "vLLM fp4",
        "SGLang fp4, disaggregated, multi-node, KV cache offloaded to dram",
    }


def test_series_that_would_read_alike_are_told_apart_by_what_is_not_said():
    assert labels(row(disaggregated=None), row(disaggregated=False)) == {
        "vLLM fp4, disaggregation not said, node count not said, KV offload not said",
        "vLLM fp4, aggregated, node count not said, KV offload not said",
    }


def test_an_earlier_valid_attempt_is_superseded_and_a_failed_retry_replaces_nothing():
    first, second = row(point_id="first", attempt=1), row(point_id="second", attempt=2)
    failed = row(point_id="failed", attempt=3, valid=False)
    roles = point_roles([first, second, failed], [second], AGENTIC)
    assert roles == {"first": "superseded", "second": "frontier", "failed": "invalid"}


def test_an_older_run_is_superseded_and_a_newer_invalid_one_is_invalid():
    newest = row(point_id="knot", run_id="run2")
    points = [
        newest,
        row(point_id="below", run_id="run2", concurrency=64),
        row(point_id="older", run_id="run1", run_date=dt.date(2026, 9, 1)),
        row(point_id="failed_later", run_id="run3", run_date=dt.date(2026, 10, 1), valid=False),
        row(point_id="failed", run_id="run2", valid=False),
    ]
    assert point_roles(points, [newest], AGENTIC) == {
        "knot": "frontier",
        "below": "off_frontier",
        "older": "superseded",
        "failed_later": "invalid",
        "failed": "invalid",
    }
