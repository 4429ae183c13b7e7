"""Damaged and hostile files: a refusal or a rejected row, never a traceback."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import FrontierError, UnreadableFileError, UnsupportedFormatError
from pipeline.imports.reader import read_results
from pipeline.imports.source import Declared, SourceFile
from tests.unit.imports.foreign import (
    FLAT_FACTS,
    FLAT_NAME,
    VLLM_FACTS,
    agentx_row,
    aiperf_record,
    aiperf_row,
    api_row,
    flat_row,
    sglang_row,
    tokpos_row,
    tuned_row,
    vllm_detailed,
    vllm_row,
)
from tests.unit.imports.foreign_tools import (
    genai_result,
    guidellm_benchmark,
    guidellm_report,
    inference_perf_stage,
    llmperf_request,
    llmperf_summary,
)

EVERYTHING_DECLARED = {**VLLM_FACTS, **FLAT_FACTS, "engine": "vllm", "model": "gpt2", "workload": "fixed_1k1k"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b'{"a": 1', "damaged or truncated JSON"),
        (json.dumps([flat_row()]).encode()[:-20], "damaged or truncated JSON"),
        (b'{"a": 1}\n{"a": ', "line 2 is damaged or truncated JSON"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "UTF-16"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": 1}\x00\x01', "binary"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
        (b"PAR1\x15\x04\x00\x00PAR1", "binary"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"a": 1, "a": 2}', "'a' occurs twice"),
    ],
)
def test_content_that_cannot_be_read_says_why(read, content, message):
    with pytest.raises(UnreadableFileError, match=message):
        read(content)


@pytest.mark.parametrize(
    "content", [b"{}", b"3", b'"text"', b"null", b"[1, 2]", b"[[[]]]", b"hello", b'{"a": {"b": []}}']
)
def test_content_of_no_known_tool_is_refused(read, content):
    with pytest.raises(UnsupportedFormatError, match="no known tool"):
        read(content)


def test_an_empty_list_is_an_outcome_of_no_rows(read):
    outcome = read(b"[]")
    assert (outcome.n_rows_read, outcome.points.num_rows) == (0, 0)
    assert outcome.notes == ("holds an empty list: 0 rows",)


def test_pretty_json_in_a_jsonl_file_and_a_byte_order_mark(read):
    pretty = json.dumps(vllm_row(), indent=2).encode("utf-8-sig")
    assert read(pretty, "x.jsonl", **VLLM_FACTS).n_valid == 1


def test_blank_lines_between_json_lines_are_no_rows(read):
    lines = f"{json.dumps(vllm_row())}\n\n{json.dumps(vllm_row())}\n"
    assert read(lines, **VLLM_FACTS).n_rows_read == 2


def test_the_name_does_not_decide_the_format(read):
    assert (
        read(vllm_row(), "sglang_profile_export_aiperf.csv", **VLLM_FACTS).points["source_format"][0].as_py()
        == "vllm_bench"
    )


def test_reading_twice_gives_the_same(read):
    first, second = (read(vllm_detailed(), **VLLM_FACTS) for _ in range(2))
    assert first.points.equals(second.points)
    assert first.requests.equals(second.requests)


@pytest.mark.parametrize("text", ["\x00", "\ud800", "a\nb\tc", "x" * 10_000, "<script>alert(1)</script>"])
def test_hostile_text_in_a_row_is_kept_harmless(point, text):
    build = point([api_row(image=text)])["engine_build"]
    assert build is None or (build.isprintable() and len(build) <= 300)


@pytest.mark.parametrize("value", ["12", True, None, [], {}, 10**400, -1, 1e308, float("nan"), float("inf")])
@pytest.mark.parametrize(
    "key", ["median_tpot_ms", "duration", "completed", "num_prompts", "max_concurrency", "total_output_tokens"]
)
def test_a_value_of_the_wrong_kind_is_null_or_a_reason(read, key, value):
    outcome = read(vllm_row(**{key: value}), **EVERYTHING_DECLARED)
    assert outcome.n_rows_read == outcome.n_valid + outcome.n_invalid + outcome.n_rejected == 1


@pytest.mark.parametrize(
    "value", [None, "x", 3, [], {}, [None], [[None]], [{"a": 1}], [float("nan")], [1e300], [-1.0], [10**400]]
)
@pytest.mark.parametrize("key", ["ttfts", "itls", "start_times", "input_lens", "output_lens", "errors", "latencies"])
def test_an_array_of_the_wrong_kind_is_no_traceback(read, key, value):
    outcome = read(vllm_detailed(**{key: value}), **EVERYTHING_DECLARED)
    assert outcome.n_rows_read == 1


def test_sums_over_hostile_requests_fit(read):
    n = 1500
    arrays = {"ttfts": [9e8] * n, "itls": [[9e8] * 20] * n, "input_lens": [2**53] * n, "output_lens": [10**9] * n}
    assert read(vllm_detailed(**arrays), **EVERYTHING_DECLARED).n_invalid == 1


ROWS = [
    vllm_row(),
    vllm_detailed(),
    sglang_row(),
    flat_row(),
    api_row(),
    agentx_row(),
    tuned_row(),
    tokpos_row(),
    aiperf_row(),
    aiperf_record(0),
]
REPORTS = [
    guidellm_report(guidellm_benchmark(), guidellm_benchmark({"type_": "throughput"})),
    inference_perf_stage(),
    genai_result(),
    llmperf_summary(),
    {"1": llmperf_summary(), "2": llmperf_summary()},
    [llmperf_request(), llmperf_request()],
]
"""Files of several points, or of none: how many rows they hold is part of what can be damaged."""
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["inf", "8", "h100"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def paths(value, prefix=()):
    """The path of every value in a row."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, one in inner for path in ((*prefix, key), *paths(one, (*prefix, key)))]


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@st.composite
def damaged(draw, rows):
    row = draw(st.sampled_from(rows))
    for _ in range(draw(st.integers(1, 3))):
        row = replaced(row, draw(st.sampled_from(paths(row))), draw(junk))
        if not paths(row):
            break
    return row


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(row=damaged(ROWS))
def test_any_damage_to_any_row_is_counted_or_refused(read, row):
    try:
        outcome = read(json.dumps([row]), FLAT_NAME, **EVERYTHING_DECLARED)
    except FrontierError:
        return
    assert outcome.n_valid + outcome.n_invalid + outcome.n_rejected == outcome.n_rows_read == 1


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(report=damaged(REPORTS))
def test_any_damage_to_any_report_is_counted_or_refused(read, report):
    try:
        outcome = read(json.dumps(report), **EVERYTHING_DECLARED)
    except FrontierError:
        return
    assert outcome.n_valid + outcome.n_invalid + outcome.n_rejected == outcome.n_rows_read
    assert outcome.passed_over == (outcome.n_rows_read == 0)


@pytest.mark.parametrize("report", REPORTS)
def test_what_is_declared_beside_a_report_may_be_anything(registry, report):
    others = {"a": b"[]", "b": b"{}", "c": b'[{"ttft_s": {}}]', "d": b"plain text"}
    source = SourceFile("x", json.dumps(report).encode(), others)
    outcome = read_results(source, Declared(**EVERYTHING_DECLARED), registry)
    assert outcome.n_valid + outcome.n_invalid + outcome.n_rejected == outcome.n_rows_read
