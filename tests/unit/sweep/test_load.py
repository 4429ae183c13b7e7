"""What the load generator is asked for one point."""

import json

import pytest

from pipeline.registry.measured import Load
from pipeline.registry.shipped import shipped_registry
from pipeline.sweep.load import (
    Batch,
    Places,
    PointLoad,
    aiperf_config,
    aiperf_variables,
    batches,
    made_trace,
    n_prompts,
    trace_format,
)

REGISTRY = shipped_registry()


def point(workload="random_256_64", concurrency=8, **fields) -> PointLoad:
    load = Load(repeats=3, warmup_s=3, window_s=12, grace_s=15, **fields)
    return PointLoad("tiny", REGISTRY.workload(workload), concurrency, load, 7, "folder")


def places(**fields) -> Places:
    return Places("http://127.0.0.1:1", "key", "local/tokenizer", True, "out", **fields)


def config(asked: PointLoad, where: Places | None = None) -> dict:
    return aiperf_config(asked, batches(asked)[0], where or places())


def test_one_process_does_a_warm_up_and_a_window_for_each_repeat():
    phases = config(point())["benchmark"]["phases"]
    assert [(phase["name"], phase["kind"], phase["duration"]) for phase in phases] == [
        ("warmup_0", "warmup", 3),
        ("repeat_0", "profiling", 12),
        ("warmup_1", "warmup", 3),
        ("repeat_1", "profiling", 12),
        ("warmup_2", "warmup", 3),
        ("repeat_2", "profiling", 12),
    ]
    assert {(phase["concurrency"], phase["gracePeriod"]) for phase in phases} == {(8, 15)}
    assert {(phase["type"], phase["rate"]) for phase in phases} == {("constant", 1_000)}


def test_the_load_generator_looks_for_a_free_lane_more_often_where_there_are_many():
    phases = config(point(concurrency=500))["benchmark"]["phases"]
    assert {(phase["type"], phase["rate"], phase["concurrency"]) for phase in phases} == {("constant", 5_000, 500)}


def test_prompts_of_a_fixed_length_are_never_used_twice():
    # 45 s of 8 lanes, 138 ms a request at 2 ms a token: 326 a lane, and 6 more for the phases' ends
    assert n_prompts(point()) == 32 + 2657
    dataset = config(point())["benchmark"]["dataset"]
    assert dataset["prompts"] == {"isl": 256, "osl": 64}
    assert dataset["sampling"] == "sequential"


def test_long_prompts_are_bounded_in_tokens_but_there_is_one_for_each_lane_and_phase():
    assert n_prompts(point("fixed_8k1k", 100_000)) == 600_000
    assert n_prompts(point("fixed_8k1k", 512)) * 8_192 <= 48_000_000


def test_answers_have_the_length_that_was_asked_for_and_the_server_counts_them():
    endpoint = config(point())["benchmark"]["endpoint"]
    assert endpoint["extra"] == {"ignore_eos": True}
    assert endpoint["useServerTokenCount"] is True
    assert endpoint["perChunkUsage"] is True
    assert endpoint["timeout"] == 45


def test_an_agentic_load_is_a_trace_that_differs_from_seed_to_seed():
    asked = point("agentic_4k")
    other = PointLoad("tiny", asked.workload, 8, asked.load, 8, "folder")
    lines, others = ([json.loads(line) for line in made_trace(p)] for p in (asked, other))
    assert not {line["session_id"] for line in lines} & {line["session_id"] for line in others}
    assert len({line["session_id"] for line in lines}) == 32 + 8 * 45
    dataset = config(asked, places(trace="t.jsonl", trace_format="mooncake_trace"))["benchmark"]["dataset"]
    assert dataset["blockSize"] == 64
    assert dataset["prompts"] == {"corpus": "coding"}


def test_fixed_lengths_and_real_prompts_need_no_made_trace():
    assert made_trace(point()) == []
    assert made_trace(point("agentic_4k", prompts="file")) == []


def test_the_published_scenario_is_one_process_a_repeat_with_a_seed_of_its_own():
    asked = PointLoad("m", REGISTRY.workload("agentx"), 8, Load(window_s=900, scenario="agentx"), 7, "folder")
    assert batches(asked) == [Batch(0, 1, 7), Batch(1, 1, 8), Batch(2, 1, 9)]
    benchmark = config(asked)["benchmark"]
    assert benchmark["scenario"] == "inferencex-agentx-mvp"
    assert [(phase["name"], phase["type"]) for phase in benchmark["phases"]] == [("repeat_0", "concurrency")]
    assert "unsafeOverride" not in benchmark
    assert aiperf_variables(asked)["HF_HUB_OFFLINE"] == "0"


def test_a_scenario_below_its_own_least_window_says_so():
    asked = PointLoad("m", REGISTRY.workload("agentx"), 8, Load(window_s=60, scenario="agentx"), 7, "folder")
    assert config(asked)["benchmark"]["unsafeOverride"] is True


def test_connections_are_never_fewer_than_requests_in_flight():
    assert aiperf_variables(point())["AIPERF_HTTP_CONNECTION_LIMIT"] == "2500"
    assert aiperf_variables(point(concurrency=4_000))["AIPERF_HTTP_CONNECTION_LIMIT"] == "8000"


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ({"session_id": "s", "input_length": 3, "output_length": 2}, "mooncake_trace"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "mooncake_trace"),
        ({"id": "t", "requests": []}, "weka_trace"),
        ({"text": "hi"}, "single_turn"),
        ({"turns": [{"text": "hi"}]}, "multi_turn"),
        ({"prompt": "hi"}, ""),
        ([1], ""),
    ],
)
def test_a_file_of_prompts_is_known_by_its_first_line(line, form):
    assert trace_format(json.dumps(line)) == form
    assert trace_format("no json") == ""


def test_real_prompts_end_where_the_model_ends_them():
    endpoint = config(point(prompts="f"), places(trace="f", trace_format="single_turn"))["benchmark"]["endpoint"]
    assert endpoint["extra"] == {}
    assert endpoint["perChunkUsage"] is False
