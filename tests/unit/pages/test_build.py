import datetime as dt
import json

import pytest

from pipeline.errors import RegistryError
from pipeline.pages.build import build_sections, gpu_ref
from pipeline.pages.page import Page, to_json
from pipeline.registry.shipped import shipped_registry
from tests.unit.pages.pairs import h100_rows, pair_of, point, price


def page_of(rows, prices=None) -> Page:
    return build_sections(pair_of(rows, prices))[0]


def invalid_rows() -> list[dict[str, object]]:
    return [point(None, None, point_id="bad", valid=False, reasons=["n_gpus_unknown", "no_success"])]


def test_the_headline_is_the_reading_at_50_priced_at_the_first_tier():
    head = page_of(h100_rows()).headline
    assert (head.throughput_tok_s_gpu, head.basis, head.delivered_tok_s_user) == (11385.0, "faster_config", 75.0)
    assert (head.price_tier, round(head.cost_usd_mtok, 4)) == ("owning_hyperscaler", 0.0285)
    assert (head.engine, head.precision, head.output_share) == ("vllm", "fp4", pytest.approx(0.0072))
    assert (head.reason, head.cost_reason, head.output_share_reason) == (None, None, None)


def test_the_four_counts_are_of_four_things():
    rows = [*h100_rows(), *invalid_rows(), point(90.0, 4000.0, topology="tp4", concurrency=3)]
    counts = page_of(rows).counts
    assert (counts.n_series, counts.n_configs, counts.n_points, counts.n_invalid_points) == (2, 3, 9, 1)


def test_points_of_an_older_run_are_listed_and_counted_apart():
    older = [point(80.0, 9999999.0, point_id="older", run_id="run_old", run_date=dt.date(2026, 9, 1))]
    page = page_of([*h100_rows(), *older])
    assert (page.counts.n_points, page.counts.n_superseded_points) == (7, 1)
    assert page.peak.throughput_tok_s_gpu == 11385.0
    assert page.run_dates.first == dt.date(2026, 9, 18)
    assert next(p.role for p in page.points if p.point_id == "older") == "superseded"


def test_peak_and_fastest_name_their_point():
    page = page_of(h100_rows())
    assert (page.peak.throughput_tok_s_gpu, page.peak.interactivity_tok_s_user) == (11385.0, 75.0)
    assert page.peak.point_id == "vllm-75.0-run1"
    assert (page.fastest.ttft_s, page.fastest.tpot_s, page.fastest.point_id) == (0.15, 0.005, "vllm-200.0-run1")


def test_fastest_is_decided_by_ttft_and_takes_the_tpot_of_the_same_point():
    rows = [point(50.0, 900.0, ttft_p90_s=0.2, tpot_p90_s=0.02), point(100.0, 500.0, ttft_p90_s=0.4, tpot_p90_s=0.01)]
    fastest = page_of(rows).fastest
    assert (fastest.ttft_s, fastest.tpot_s) == (0.2, 0.02)


def test_a_target_that_nothing_reaches_has_no_engine_precision_or_cost():
    last = page_of([point(50.0, 900.0), point(100.0, 500.0)]).ladder[-1]
    assert last.target_tok_s_user == 200.0
    assert (last.at_least.throughput_tok_s_gpu, last.at_least.engine, last.at_least.precision) == (None, None, None)
    assert (last.at_least.cost_usd_mtok, last.at_least.basis) == (None, "unreachable")
    assert last.at_least.reason.startswith("No series reaches 200 tok/s/user")
    assert (last.at_target.throughput_tok_s_gpu, last.at_target.engine, last.at_target.cost_usd_mtok) == (None,) * 3


def test_a_section_of_invalid_points_is_nothing_but_reasons():
    page = page_of(invalid_rows(), [])
    assert page.headline.reason == "No point of this page is valid."
    assert (page.headline.throughput_tok_s_gpu, page.frontier, page.series, page.costs) == (None, (), (), ())
    assert {row.at_least.basis for row in page.ladder} == {"unreachable"}
    assert (page.peak.reason, page.fastest.reason) == ("No point of this page is valid.",) * 2
    assert page.points[0].reason_sentences == (
        "The number of GPUs held is neither recorded nor declared, so there is no throughput per GPU.",
        "No request succeeded.",
    )
    assert page.costs_reason == "No price of H100 holds on 2026-10-10."


def test_every_tier_of_the_gpu_is_listed_in_rank_order_with_its_price_row():
    costs = page_of(h100_rows(), [price("retail", 2.0), price("owning_hyperscaler", 1.17)]).costs
    assert [cost.tier for cost in costs] == ["owning_hyperscaler", "retail"]
    assert (costs[0].price_id, costs[0].valid_from) == ("h100/owning_hyperscaler/2026-07-31", dt.date(2026, 7, 31))
    assert costs[0].cost_usd_mtok.output == pytest.approx(1.17e6 / (11385 * 0.0072 * 3600))


def test_unknown_kinds_of_tokens_leave_a_cost_null_and_say_why():
    cost = page_of([point(50.0, 900.0)]).costs[0]
    assert cost.cost_usd_mtok.total == pytest.approx(1.17e6 / (900 * 3600))
    assert (cost.cost_usd_mtok.computed_input, cost.cost_usd_mtok.output) == (None, None)
    assert cost.reason == (
        "The source does not say how many of the tokens are output. "
        "The source does not say how many input tokens came from the prefix cache."
    )


def test_provenances_and_workloads_never_mix_and_the_best_comes_first():
    rows = [
        point(50.0, 9.0, point_id="a", workload="fixed_8k1k", percentile=50),
        point(50.0, 8.0, point_id="b", provenance="simulated"),
        point(50.0, 7.0, point_id="c", provenance="imported"),
        point(50.0, 6.0, point_id="d"),
        point(None, None, point_id="e", workload="fixed_1k1k", percentile=50, valid=False, reasons=["no_success"]),
    ]
    pages = build_sections(pair_of(rows))
    assert [(p.workload.slug, p.provenance) for p in pages] == [
        ("agentx", "measured"),
        ("agentx", "imported"),
        ("agentx", "simulated"),
        ("fixed_8k1k", "measured"),
        ("fixed_1k1k", "measured"),
    ]
    assert [p.headline.throughput_tok_s_gpu for p in pages] == [6.0, 7.0, 8.0, 9.0, None]
    assert [p.title for p in pages[:3]] == [
        "Running DeepSeek V4.1 Flash on H100",
        "Running DeepSeek V4.1 Flash on H100 (imported)",
        "Running DeepSeek V4.1 Flash on H100 (simulated)",
    ]


def test_a_published_reading_has_no_topology_and_says_why():
    rows = [
        point(50.0, 900.0, provenance="imported", notes=["published_reading"], topology="not said", concurrency=None)
    ]
    (record,) = page_of(rows).points
    assert (record.topology, record.concurrency, record.published_reading) == (None, None, True)
    assert record.reason == "A value read off a published ladder: a null was not published with it."


def test_the_combined_frontier_is_marked():
    marked = {knot.interactivity_tok_s_user: knot.combined for knot in page_of(h100_rows()).frontier}
    assert marked == {20.0: False, 30.0: False, 60.0: False, 75.0: True, 100.0: True, 150.0: True, 200.0: True}


def test_nan_and_infinity_never_reach_the_json():
    rows = [point(50.0, 900.0, cache_hit_share=float("nan"), power_w_gpu=float("inf"))]
    (record,) = json.loads(to_json(page_of(rows)))["points"]
    assert (record["cache_hit_share"], record["power_w_gpu"]) == (None, None)


def test_the_same_rows_in_another_order_give_the_same_json():
    rows = h100_rows()
    assert to_json(page_of(rows)) == to_json(page_of(rows[::-1]))


def test_an_unknown_gpu_is_named_with_the_nearest_known_one():
    with pytest.raises(RegistryError, match="h1000"):
        gpu_ref("h1000", shipped_registry())
