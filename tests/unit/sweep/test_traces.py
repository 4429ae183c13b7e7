import json
from statistics import median

from pipeline.registry.shipped import shipped_registry
from pipeline.sweep.traces import AGENTIC, BLOCK_TOK, LogNormal, agentic_trace, fixed_trace, trace_lines

WORKLOADS = shipped_registry().workloads


def parsed(lines):
    return [json.loads(line) for line in lines]


def sessions(lines):
    found = {}
    for line in parsed(lines):
        found.setdefault(line["session_id"], []).append(line)
    return found


def test_a_fixed_trace_is_single_requests_that_share_no_block():
    a, b = parsed(fixed_trace(2, 1024, 64))
    assert a == {"session_id": "r0", "input_length": 1024, "output_length": 64, "hash_ids": [1_000_000, 1_000_001]}
    assert not set(a["hash_ids"]) & set(b["hash_ids"])


def test_a_trace_is_the_same_every_time_and_a_longer_one_begins_with_it():
    assert agentic_trace(20)[: len(agentic_trace(5))] == agentic_trace(5)


def test_sessions_share_the_system_prompt_and_nothing_else():
    first = [turns[0]["hash_ids"] for turns in sessions(agentic_trace(8)).values()]
    shared = set.intersection(*map(set, first))
    assert shared == set(range(AGENTIC.shared_tok // BLOCK_TOK))
    own = [block for line in parsed(agentic_trace(8)) for block in line["hash_ids"] if block not in shared]
    assert len(own) == len(set(own))


def test_a_turn_has_one_block_id_for_every_512_tokens_that_it_adds():
    for line in parsed(agentic_trace(8)):
        assert len(line["hash_ids"]) == -(-line["input_length"] // BLOCK_TOK)


def test_a_context_never_grows_beyond_the_longest():
    for turns in sessions(agentic_trace(64)).values():
        assert sum(t["input_length"] + t["output_length"] for t in turns) <= AGENTIC.longest_tok


def test_later_turns_wait_for_a_tool_and_the_first_does_not():
    for turns in sessions(agentic_trace(8)).values():
        assert "delay" not in turns[0]
        assert all(AGENTIC.tool_ms.low <= t["delay"] <= AGENTIC.tool_ms.high for t in turns[1:])


def test_the_statistics_are_those_of_the_shape():
    found = sessions(agentic_trace(256))
    turns = [turn for lines in found.values() for turn in lines]
    assert 12 <= median(len(lines) for lines in found.values()) <= 16
    assert 900 <= median(t["input_length"] for t in turns if "delay" in t) <= 1150
    assert 180 <= median(t["output_length"] for t in turns) <= 220
    reused = total = 0
    for lines in found.values():
        context = 0
        for turn in lines:
            reused += context or AGENTIC.shared_tok
            total += context + turn["input_length"]
            context += turn["input_length"] + turn["output_length"]
    assert 0.93 <= reused / total <= 0.95


def test_a_draw_stays_within_its_bounds():
    class Extreme:
        def __init__(self, value):
            self.value = value

        def uniform(self, low, high):
            return low if self.value == 0 else high

    assert LogNormal(100, 5.0, 10, 1000).draw(Extreme(0)) == 10
    assert LogNormal(100, 5.0, 10, 1000).draw(Extreme(1)) == 1000


def test_every_lane_gets_eight_sessions_or_ten_requests():
    assert len(trace_lines(WORKLOADS["fixed_8k1k"], 64)) == 640
    assert len(trace_lines(WORKLOADS["fixed_8k1k"], 1)) == 32
    assert len(sessions(trace_lines(WORKLOADS["agentic_synthetic"], 8))) == 64
