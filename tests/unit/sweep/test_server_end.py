import pytest

from pipeline.sweep.server_end import FAILURES, ending, failure, last_words, phase

WORDS = [
    ("wrong_flag", 2, "launch_server.py: error: unrecognized arguments: --max-runing-requests 3"),
    ("wrong_flag", 2, "api_server.py: error: argument --dtype: invalid choice: 'float99'"),
    ("port_taken", 1, "OSError: [Errno 98] error while attempting to bind on address: address already in use"),
    (
        "port_taken",
        125,
        "docker: Error response: Bind for 127.0.0.1:8000 failed: port is already allocated",
    ),
    ("out_of_memory", 1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
    ("out_of_memory", 1, "ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization"),
    ("out_of_memory", 1, "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."),
    (
        "out_of_memory",
        1,
        "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=-1",
    ),
    ("out_of_memory", -9, "DefaultCPUAllocator: can't allocate memory: cannot allocate memory"),
    ("killed", -9, "INFO: Application startup complete."),
    ("killed", -15, ""),
    ("crashed", 1, "KeyError: 'model.layers.3'"),
    ("stopped", 0, "INFO: Finished server process"),
]


@pytest.mark.parametrize(("kind", "code", "line"), WORDS)
def test_exit_code_and_last_words_tell_the_class(kind, code, line):
    assert failure(code, ["Loading weights", line]) == kind
    assert kind in FAILURES


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Capturing CUDA graphs: 20%", "graph_capture"),
        ("Available KV cache memory: -0.2 GiB", "kv_cache"),
        ("Loading safetensors checkpoint shards", "load"),
        ("Prefill batch, #new-seq: 1", "run"),
    ],
)
def test_the_phase_is_the_latest_that_the_log_spoke_of(line, name):
    assert phase([line]) == name
    assert phase(["Loading weights", "Capturing CUDA graphs"]) == "graph_capture"


def test_an_ending_is_one_line_with_the_lines_that_name_an_error():
    lines = [
        "Loading weights",
        "Traceback (most recent call last):",
        "  File x",
        "RuntimeError:   no such\tkernel",
        "bye",
    ]
    assert ending(1, lines) == "crashed, exit code 1: RuntimeError: no such kernel"
    assert ending(1, ["Loading", "OutOfMemoryError: no"]) == (
        "ran out of memory (load), exit code 1: OutOfMemoryError: no"
    )


def test_without_an_error_the_last_lines_are_told_and_silence_is_said():
    assert last_words(["a", "b", "", "c", "d", "e"]) == "b / c / d / e"
    assert last_words([" ", ""]) == "it said nothing"
