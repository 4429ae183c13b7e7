"""The scripted server's answers as events with times."""

import json

import pytest

from pipeline.sweep.byte_tokenizer import byte_tokenizer
from pipeline.sweep.scripted import Asked, Fault, Script, answer, asked_of, script_from, script_text

SCRIPT = Script(ttft_s=0.2, tpot_s=0.02)


def times(script, n_tok, ordinal=0):
    return [round(event.at_s, 6) for event in answer(script, Asked(ordinal, 3, n_tok))]


def bodies(script, asked):
    for event in answer(script, asked):
        for line in (event.payload or b"").decode().split("\n\n"):
            if line.startswith("data: {"):
                yield json.loads(line.removeprefix("data: "))


def test_tokens_come_one_by_one_after_the_first():
    assert times(SCRIPT, 3) == [0.2, 0.22, 0.24, 0.24]  # the last event is the end


def test_a_chunk_of_several_tokens_comes_when_the_last_chunk_is_as_old_as_its_tokens():
    assert times(Script(chunk_tok=4), 10) == [0.2, 0.28, 0.36, 0.36]
    assert [event.n_tok for event in answer(Script(chunk_tok=4), Asked(0, 3, 10))] == [4, 4, 2, 0]


def test_the_last_chunk_has_the_finish_then_come_the_counts():
    *_, last, usage = bodies(Script(cached_tok=2), Asked(0, 3, 2))
    assert last["choices"][0]["finish_reason"] == "length"
    assert usage["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "total_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 2},
    }


def test_without_usage_no_counts_come():
    assert all("usage" not in body for body in bodies(Script(usage=False), Asked(0, 3, 2)))


def test_a_request_may_ask_for_the_counts_so_far_with_every_chunk():
    counts = [body["usage"]["completion_tokens"] for body in bodies(SCRIPT, Asked(0, 3, 3, True)) if "usage" in body]
    assert counts == [1, 2, 3, 3]


def test_the_role_comes_at_once_and_carries_no_token():
    first = next(iter(answer(Script(role_chunk=True), Asked(0, 3, 2))))
    assert (first.at_s, first.n_tok) == (0.0, 0)


def test_reasoning_comes_first_and_is_counted_in_the_output():
    deltas = [
        body["choices"][0]["delta"] for body in bodies(Script(reasoning_tok=2), Asked(0, 3, 3)) if body["choices"]
    ]
    assert deltas == [{"reasoning_content": "a"}, {"reasoning_content": "a"}, {"content": "a"}, {}]


@pytest.mark.parametrize(
    ("kind", "ends_with"),
    [("error_in_stream", b"scripted error"), ("no_finish", b'"content":"a"'), ("cut", None)],
)
def test_a_fault_ends_the_answer_after_its_tokens(kind, ends_with):
    events = list(answer(Script(faults=(Fault(kind, after_tok=2),)), Asked(0, 3, 9)))
    assert sum(event.n_tok for event in events) == 2
    assert events[-1].payload is None if ends_with is None else ends_with in events[-1].payload


def test_a_stall_delays_what_comes_after_it():
    script = Script(faults=(Fault("stall", after_tok=2, stall_s=10),))
    assert times(script, 4) == [0.2, 0.22, 10.24, 10.26, 10.26]


def test_a_fault_hits_every_nth_request_from_its_first():
    script = Script(faults=(Fault("cut", every=3, first=1), Fault("http_500", every=2, first=0)))
    assert [fault.kind if fault else None for fault in map(script.fault_of, range(5))] == [
        *("http_500", "cut", "http_500", None, "cut")
    ]


def test_an_input_token_is_one_byte_of_a_message():
    body = {"messages": [{"content": "ab"}, {"content": [{"type": "text", "text": "é"}]}], "max_tokens": 7}
    assert asked_of(body, 5, SCRIPT) == Asked(5, 4, 7)
    assert asked_of({}, 5, Script(output_tok=9)).output_tok == 9


def test_a_script_survives_a_command_line():
    script = Script(chunk_tok=3, faults=(Fault("stall", every=2, stall_s=1.5),))
    assert script_from(script_text(script)) == script


def test_the_byte_tokenizer_has_one_token_for_each_byte():
    vocabulary = json.loads(byte_tokenizer()["tokenizer.json"])["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(256))
    assert vocabulary["a"] == ord("a")
    assert vocabulary["Ġ"] == ord(" ")
