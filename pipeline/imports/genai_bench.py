"""GenAI-Bench's results, one file a traffic scenario and concurrency: statistics, and every request without its start.

Its TPOT is (end − first token) / (output tokens − 1), as ours, and its statistics are computed as ours are. Its
error_rate is 0 whatever failed, and is not read. Where answers were not streamed it writes a placeholder of 1 ms, or
the end, as the first token: TTFT and TPOT are left out then.

experiment_metadata.json in the same folder says model, engine, GPU and their number, and the name of the experiment,
which is taken as the run; the name may end in the client's local time. Without starts there is no achieved concurrency
and no steady state; ITL is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.document import open_document
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import (
    count,
    day,
    duration_ns,
    items,
    mapping,
    number,
    positive,
    request_tokens,
    size,
    text,
)
from pipeline.imports.latencies import nested_latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError, passed_over
from pipeline.imports.recompute import compare_and_fill
from pipeline.imports.source import SourceFile

SOURCE_FORMAT = "genai_bench"

LATENCY_KEYS = {"ttft": "ttft", "tpot": "tpot", "e2el": "e2e_latency"}
TOKEN_KEYS = {"input_tok": "num_input_tokens", "output_tok": "num_output_tokens"}
S_PER_UNIT = {"s": 1.0, "ms": 1e-3}
COMPARED = ("n_requested", "n_successful", "n_failed", "input_tok", "output_tok")
KEPT_CONCURRENCY = (None, "num_concurrency", "batch_size")
PLACEHOLDER_NS = 1_000_000
SAME_NS = 1_000
SCENARIO = re.compile(r"([DNU])\((\d{1,9}),(\d{1,9})\)(?:/\((\d{1,9}),(\d{1,9})\))?")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a document is a result."""
    return isinstance(row.get("aggregated_metrics"), dict) and "individual_request_metrics" in row


def describes(row: Mapping[str, Any]) -> bool:
    """Whether a document is the description of an experiment."""
    return {"cmd", "benchmark_version", "api_backend"} <= row.keys()


def read(job: Job, rows: list[Any]) -> Outcome:
    """All results of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def pass_over(job: Job, rows: list[Any]) -> Outcome:
    """A description has no points: what it says goes to the results beside it."""
    why = "describes a GenAI-Bench experiment: 0 rows; what it says goes to the results in its folder"
    return passed_over(SOURCE_FORMAT, why)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no aggregated_metrics and individual_request_metrics.")
    totals, described = row["aggregated_metrics"], _description(job)
    unit = text(row.get("_time_unit")) or text(described.get("metrics_time_unit")) or "s"
    if unit not in S_PER_UNIT:
        raise RowRejectedError("unit_unknown", f"The latencies are in {unit!r}; s and ms are read.")
    draft = Draft(_recorded(job, described))
    _fill_totals(draft, totals)
    if _is_local_time(described):
        draft.notes.add("local_time_date")
    stats = mapping(totals.get("stats"))
    draft.requests = _requests(row, S_PER_UNIT[unit])
    if draft.requests and _leaves_out(draft, stats):
        draft.notes.add("summary_of_fewer_requests")
    elif draft.columns.get("n_successful") != 0:
        draft.columns |= without_nulls({column: _sum(stats, key) for column, key in TOKEN_KEYS.items()})
        draft.columns |= nested_latency_columns(stats, LATENCY_KEYS, S_PER_UNIT[unit])
    if _is_not_streamed(draft, described):
        _leave_out_first_token(draft)
    compare_and_fill(draft, COMPARED)
    draft.lengths = _lengths(totals, draft.columns)
    return draft


def _description(job: Job) -> Mapping[str, Any]:
    """The description beside the file, empty without one. Raises UnreadableFileError for a damaged one."""
    for name, content in job.source.beside.items():
        found = mapping((open_document(SourceFile(name, content)).values or (None,))[0])
        if describes(found):
            return found
    return {}


def _recorded(job: Job, described: Mapping[str, Any]) -> Recorded:
    """A version that is the name of an engine is one where no engine is named."""
    engine, version = text(described.get("server_engine")), text(described.get("server_version"))
    if engine is None and version and job.slug("engine", version):
        engine, version = version, None
    experiment = _experiment(described)
    return Recorded(
        gpu=text(described.get("server_gpu_type")),
        n_gpus=size(described.get("server_gpu_count")),
        engine=engine,
        engine_build=version,
        model=text(described.get("model")) or text(described.get("api_model_name")),
        run_id=experiment,
        run_date=day(experiment[-15:]) if experiment and _is_local_time(described) else None,
    )


def _experiment(described: Mapping[str, Any]) -> str | None:
    folder = text(described.get("experiment_folder_name"))
    return re.split(r"[/\\]", folder.rstrip("/\\"))[-1] or None if folder else None


def _is_local_time(described: Mapping[str, Any]) -> bool:
    """Whether the experiment's name ends in a time, as GenAI-Bench names it by itself: …_20260106_003622."""
    return re.search(r"_\d{8}_\d{6}$", _experiment(described) or "") is not None


def _fill_totals(draft: Draft, totals: Mapping[str, Any]) -> None:
    kept = totals.get("iteration_type") in KEPT_CONCURRENCY
    draft.columns |= without_nulls(
        {
            "concurrency": size(totals.get("num_concurrency")) if kept else None,
            "n_requested": count(totals.get("num_requests")),
            "n_successful": count(totals.get("num_completed_requests")),
            "n_failed": count(totals.get("num_error_requests")),
            "window": "whole_run",
            "window_s": positive(totals.get("run_duration")),
        }
    )


def _sum(stats: Mapping[str, Any], key: str) -> int | None:
    return count(mapping(stats.get(key)).get("sum"))


def _leaves_out(draft: Draft, stats: Mapping[str, Any]) -> bool:
    """Whether the statistics are over fewer requests than succeeded: warm-up and cool-down, which no request names."""
    tokens = mapping(stats.get("total_tokens"))
    total, mean = number(tokens.get("sum")), positive(tokens.get("mean"))
    n_successful = draft.columns.get("n_successful")
    return bool(total and mean and n_successful and total / mean < n_successful - 0.5)


def _requests(row: Mapping[str, Any], s_per_unit: float) -> list[dict[str, Any]]:
    return [
        {
            "request_index": index,
            "phase": "profiling",
            "outcome": "failed" if request.get("error_code") else "ok",
            "error": _error(request),
            "ttft_ns": _ns(request.get("ttft"), s_per_unit),
            "e2el_ns": _ns(request.get("e2e_latency"), s_per_unit),
            "input_tok": request_tokens(request.get("num_input_tokens")),
            "output_tok": request_tokens(request.get("num_output_tokens")),
            "first_chunk_tok": 1,
        }
        for index, request in enumerate(map(mapping, items(row.get("individual_request_metrics"))))
    ]


def _error(request: Mapping[str, Any]) -> str | None:
    code = request.get("error_code")
    return (text(request.get("error_message")) or f"error {text(str(code))}") if code else None


def _ns(value: object, s_per_unit: float) -> int | None:
    found = number(value)
    return None if found is None else duration_ns(found * s_per_unit)


def _is_not_streamed(draft: Draft, described: Mapping[str, Any]) -> bool:
    """Whether streaming was off: by the command, or because every first token is one placeholder or the end."""
    if re.search(r"--disable-streaming(?!\s+False)", str(described.get("cmd"))):
        return True
    times = [(r["ttft_ns"], r["e2el_ns"]) for r in draft.requests if r["outcome"] == "ok" and r["ttft_ns"] is not None]
    if not times:
        return False
    firsts = [first for first, _ in times]
    is_one_value = max(firsts) - min(firsts) < SAME_NS
    return (is_one_value and (len(firsts) > 1 or abs(firsts[0] - PLACEHOLDER_NS) < SAME_NS)) or all(
        first == end for first, end in times
    )


def _leave_out_first_token(draft: Draft) -> None:
    draft.notes.add("not_streamed")
    draft.requests = [{**request, "ttft_ns": None} for request in draft.requests]
    draft.columns = {key: value for key, value in draft.columns.items() if not key.startswith(("ttft_", "tpot_"))}


def _lengths(totals: Mapping[str, Any], columns: Mapping[str, Any]) -> Lengths:
    """Of a scenario: D(in,out) all alike, N(mean,std)/(mean,std), U(max,max) or U(min,max)/(min,max); and the means."""
    n_successful = columns.get("n_successful") or 0
    means = [
        columns.get(key, 0) / n_successful or None if n_successful else None for key in ("input_tok", "output_tok")
    ]
    said = SCENARIO.fullmatch(text(totals.get("scenario")) or "")
    if said is None:
        return Lengths(None, None, *means)
    kind, *numbers = said.groups()
    one, two, three, four = (size(value) for value in numbers)
    if numbers[2] is None:
        return Lengths(one, two, *means) if kind in "DU" else Lengths(None, None, *means)
    return Lengths(*((one, three) if kind == "N" else (two, four)), *means)
