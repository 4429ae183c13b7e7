"""What another host says is read strictly: files by name and hash, an error as the one that it was over there."""

import json

import pytest

from pipeline.errors import BuildError, EngineError, HostError
from pipeline.hosts.messages import Ended, Failed, Finished, read_message

SHA = "ab" * 32


@pytest.mark.parametrize(
    "message", [Finished({}), Finished({"f1.points.parquet": SHA}), Ended({"r-TP8-x.runs.parquet": SHA}, 3)]
)
def test_a_message_is_read_as_it_was_sent(message):
    assert read_message(json.loads(json.dumps(message.message())), "rack_b") == message


def test_an_error_is_of_its_class_and_names_the_host():
    sent = Failed(BuildError("is not built here", where="vllm_cuda", next_step="Run frontier build vllm_cuda."))
    got = read_message(json.loads(json.dumps(sent.message())), "rack_b")
    assert isinstance(got, Failed)
    assert type(got.error) is BuildError
    assert str(got.error) == "rack_b: vllm_cuda: is not built here. Run frontier build vllm_cuda."


def test_an_engines_error_keeps_its_kind():
    sent = Failed(EngineError("ended", where="x", next_step="y", kind="out_of_memory"))
    assert read_message(sent.message(), "rack_b").error.kind == "out_of_memory"


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {},
        {"finished": {"../f1.points.parquet": SHA}},
        {"finished": {"-C.parquet": SHA}},
        {"finished": {"f1.points.parquet": "ab"}},
        {"finished": {"f1.points.txt": SHA}},
        {"finished": ["f1.points.parquet"]},
        {"ended": {}, "n_points_measured_now": "3"},
        {"failed": "BuildError", "what": 3},
    ],
)
def test_what_no_sweep_says_is_refused(said):
    with pytest.raises(HostError, match="rack_b: said something that no sweep says"):
        read_message(said, "rack_b")


def test_an_error_that_is_unknown_here_is_the_hosts():
    got = read_message({"failed": "SystemExit", "what": "a", "where": "b", "next_step": "c"}, "rack_b")
    assert type(got.error) is HostError
    assert str(got.error) == "rack_b: b: a. c"
