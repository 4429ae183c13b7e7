"""Records of a load as rows of REQUESTS by repeat."""

import json

from pipeline.registry.measured import Load
from pipeline.registry.shipped import shipped_registry
from pipeline.sweep.load import Batch, PointLoad
from pipeline.sweep.load_records import Counted, cancelled_records, counted, records_of, repeat_answers

START_NS = 1_800_000_000_000_000_000
POINT = PointLoad("tiny", shipped_registry().workload("random_256_64"), 2, Load(), 7, "folder")
PROMPTS = PointLoad("tiny", shipped_registry().workload("random_256_64"), 2, Load(prompts="file"), 7, "folder")


ALL = Batch(0, 3, 7)


def record(phase, start_ms, n_tok=64, session="s0", **more):
    ms = {"time_to_first_token": 100.0, "request_latency": 730.0, "inter_token_latency": 10.0}
    tokens = {} if n_tok is None else {"input_sequence_length": 256, "output_sequence_length": n_tok}
    metadata = {
        "conversation_id": session,
        "turn_index": 0,
        "request_start_ns": START_NS + start_ms * 10**6,
        "benchmark_phase": "warmup" if phase.startswith("warmup") else "profiling",
        "phase_name": phase,
        "was_cancelled": False,
    }
    metrics = {k: {"value": v, "unit": "ms"} for k, v in ms.items()}
    metrics |= {k: {"value": v, "unit": "tokens"} for k, v in tokens.items()}
    return {"metadata": metadata | more.pop("metadata", {}), "metrics": metrics, **more}


def test_times_are_relative_to_the_repeats_own_start():
    first, second = repeat_answers(
        [
            *(record("repeat_0", 1_000), record("warmup_0", 0)),
            *(record("warmup_1", 5_000), record("repeat_1", 6_500)),
        ],
        POINT,
        ALL,
    )
    assert [(row["phase"], row["start_ns"] // 10**6) for row in first.requests] == [("warmup", 0), ("profiling", 1_000)]
    assert [(row["phase"], row["start_ns"] // 10**6) for row in second.requests] == [
        ("warmup", 0),
        ("profiling", 1_500),
    ]
    assert [row["request_index"] for row in second.requests] == [0, 1]
    assert (second.first_ns, second.last_ns) == (START_NS + 6_500 * 10**6, START_NS + 7_230 * 10**6)
    assert second.started_at.timestamp() == second.first_ns / 1e9


def test_where_a_process_does_one_repeat_all_of_its_records_are_of_it():
    (repeat,) = repeat_answers([record("warmup", 0), record("repeat_2", 1)], POINT, Batch(2, 1, 9))
    assert [row["repeat_index"] for row in repeat.requests] == [2, 2]
    assert repeat.seed == 9


def test_a_repeat_without_a_measured_request_has_no_start():
    (repeat,) = repeat_answers([record("warmup_0", 0)], POINT, ALL)
    assert (repeat.started_at, repeat.first_ns, repeat.last_ns) == (None, 0, 0)


def test_fewer_tokens_than_asked_for_is_a_failure():
    (repeat,) = repeat_answers([record("repeat_0", 0), record("repeat_0", 1, n_tok=4)], POINT, ALL)
    assert [row["outcome"] for row in repeat.requests] == ["ok", "failed"]
    assert repeat.requests[1]["error"] == "the stream ended after 4 of 64 tokens"


def test_missing_usage_is_a_failure_where_other_requests_have_it():
    (repeat,) = repeat_answers([record("repeat_0", 0), record("repeat_0", 1, n_tok=None)], PROMPTS, ALL)
    assert [row["outcome"] for row in repeat.requests] == ["ok", "failed"]


def test_a_server_that_never_says_usage_is_stored_as_one():
    (repeat,) = repeat_answers([record("repeat_0", 0, n_tok=None)], POINT, ALL)
    assert [row["outcome"] for row in repeat.requests] == ["ok"]
    assert counted(POINT, repeat.requests).n_without_usage == 1


def test_failed_and_cancelled_stay_what_they_are():
    records = [
        record("repeat_0", 0, n_tok=None, error={"message": "refused", "code": 500}),
        record("repeat_0", 1, n_tok=9, metadata={"was_cancelled": True}, error={"type": "RequestCancellationError"}),
    ]
    (repeat,) = repeat_answers(records, POINT, ALL)
    assert [(row["outcome"], row["error"]) for row in repeat.requests] == [
        ("failed", "refused"),
        ("cancelled", "RequestCancellationError"),
    ]


def test_what_was_cancelled_at_the_end_of_the_grace_is_counted_by_its_phase():
    log = [
        "12:52 - PhaseRunner - NOTICE - Phase repeat_0 (profiling) complete | completed=9, cancelled=2, errors=0",
        "12:52 - PhaseRunner - NOTICE - Phase warmup_1 (warmup) complete | completed=9, cancelled=0, errors=0",
    ]
    records = [record("repeat_0", 0)]
    (repeat,) = repeat_answers(records + cancelled_records(log, records), POINT, ALL)
    assert [(row["outcome"], row["phase"], row["start_ns"]) for row in repeat.requests] == [
        ("ok", "profiling", 0),
        ("cancelled", "profiling", None),
        ("cancelled", "profiling", None),
    ]
    one_written = [record("repeat_0", 0, metadata={"was_cancelled": True})]
    assert len(cancelled_records(log, one_written)) == 1


def test_the_clients_counts_are_of_successful_measured_requests():
    records = [record("warmup_0", 0), record("repeat_0", 1, session="s1"), record("repeat_0", 2, n_tok=4, session="s2")]
    (repeat,) = repeat_answers(records, POINT, ALL)
    assert counted(POINT, repeat.requests) == Counted(256, 64)


def test_a_prompt_that_was_sent_before_is_counted():
    (repeat,) = repeat_answers([record("repeat_0", 0), record("repeat_0", 1), record("repeat_0", 2)], POINT, ALL)
    assert counted(POINT, repeat.requests).n_reused_prompts == 2


def test_the_client_does_not_know_the_lengths_of_real_prompts():
    (repeat,) = repeat_answers([record("repeat_0", 0)], PROMPTS, ALL)
    assert counted(PROMPTS, repeat.requests) == Counted(None, None)
    assert counted(POINT, []) == Counted(None, None)


def test_of_a_session_only_the_outputs_are_the_clients_own():
    agentic = PointLoad("tiny", shipped_registry().workload("agentic_4k"), 2, Load(), 0, "folder")
    (repeat,) = repeat_answers([record("repeat_0", 0, n_tok=1_000)], agentic, ALL)
    found = counted(agentic, repeat.requests)
    assert found.input_tok is not None  # a first turn is what the client made
    later = [row | {"turn_index": 1} for row in repeat.requests]
    assert counted(agentic, later).input_tok is None
    assert counted(agentic, later).output_tok is not None


def test_a_line_that_was_cut_off_is_no_record():
    whole = json.dumps(record("repeat_0", 0))
    assert len(records_of([whole, whole[:40], "", "[]"])) == 1
