"""LLMPerf's two files of one run: X_summary.json is the point, X_individual_responses.json beside it its requests.

What is converted, because LLMPerf means something else by it:

* Its inter_token_latency is the sum of a request's gaps, the first token's among them, over its tokens: neither TPOT
  nor ITL. It is not read. TPOT is computed from requests, (end − first token) / (tokens − 1); of a summary without
  them it is null, and so is the interactivity. ITL is always null.
* Its standard deviation is a sample's, ours the population's: × sqrt((n − 1) / n).
* Tokens are counted by one tokenizer for all models, a start token a request included; input tokens are those that
  were asked for. Where all outputs had one limit and their mean is above it, the count is not the model's.

Its first token is the first of the answer: what a model reasons before it is in TTFT. The window is requests / requests
a minute. The day is that of the time stamp, written at the end of the run. Requests have no starts. Also read: one
object with a summary for each of several concurrencies, as scripts around LLMPerf write it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.document import open_document
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import (
    count,
    duration_ns,
    mapping,
    moment_from_unix,
    number,
    positive,
    request_tokens,
    size,
    text,
)
from pipeline.imports.latencies import collected
from pipeline.imports.outcome import Outcome, RowRejectedError, passed_over
from pipeline.imports.recompute import compare_and_fill
from pipeline.imports.source import SourceFile

SOURCE_FORMAT = "llmperf"

LATENCY_KEYS = {"ttft": "results_ttft_s", "e2el": "results_end_to_end_latency_s"}
COMPARED = ("n_requested", "n_successful", "n_failed", "input_tok", "output_tok")
COUNT_TOLERANCE = 1.02
START_TOK = 1


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is a summary."""
    return "num_concurrent_requests" in row and "results_num_completed_requests" in row


def matches_table(value: Mapping[str, Any]) -> bool:
    """Whether a document is one object of summaries, by concurrency."""
    return bool(value) and all(isinstance(row, dict) and matches(row) for row in value.values())


def matches_requests(row: Mapping[str, Any]) -> bool:
    """Whether a row is a request."""
    return {"inter_token_latency_s", "ttft_s", "error_code"} <= row.keys()


def matches_means(row: Mapping[str, Any]) -> bool:
    """Whether a document holds means that a script drew from summaries."""
    return any("first-time-to-token_mean_in_ms" in mapping(value) for value in row.values())


def read(job: Job, rows: list[Any]) -> Outcome:
    """All summaries of a file; with the requests beside it where it is one."""
    requests = _requests_beside(job) if len(rows) == 1 else []
    return read_rows(job, SOURCE_FORMAT, rows, lambda _, row: _draft(row, requests))


def read_requests(job: Job, rows: list[Any]) -> Outcome:
    """Requests are read with their summary; without it no load, window, model and day is known of them."""
    if any(matches(found) for found in map(mapping, _documents_beside(job))):
        return passed_over(
            SOURCE_FORMAT, "requests of an LLMPerf run: 0 rows; they are read with the summary beside it"
        )
    return read_rows(job, SOURCE_FORMAT, [rows], _refuse)


def pass_over_means(job: Job, rows: list[Any]) -> Outcome:
    """Means of each concurrency have no percentile, and their source has them all."""
    return passed_over(SOURCE_FORMAT, "means drawn from LLMPerf's summaries: 0 rows; import those summaries")


def _refuse(job: Job, row: object) -> Draft:
    raise RowRejectedError(
        "summary_missing",
        "LLMPerf's requests name neither model, load, window nor day. Put the …_summary.json of their run beside them.",
    )


def _documents_beside(job: Job) -> list[Any]:
    """What is in the files beside this one. Raises UnreadableFileError for a damaged one."""
    opened = (open_document(SourceFile(name, content)) for name, content in job.source.beside.items())
    return [document.values[0] for document in opened if document.values]


def _requests_beside(job: Job) -> list[Mapping[str, Any]]:
    for found in _documents_beside(job):
        if isinstance(found, list) and found and all(isinstance(row, dict) and matches_requests(row) for row in found):
            return found
    return []


def _draft(row: Any, requests: list[Mapping[str, Any]]) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no num_concurrent_requests and results of a run.")
    written = moment_from_unix(row.get("timestamp"))
    draft = Draft(Recorded(model=text(row.get("model")), run_date=written.date() if written else None))
    draft.columns |= without_nulls({"concurrency": size(row.get("num_concurrent_requests")), **_totals(row)})
    draft.notes.add("tokens_of_another_tokenizer")
    if draft.columns.get("n_successful"):
        draft.columns |= _latencies(row, draft.columns["n_successful"])
    if _counts_above_limit(row):
        draft.reasons.add("token_count_mismatch")
    draft.requests = [_request(index, request) for index, request in enumerate(requests)]
    compare_and_fill(draft, COMPARED)
    asked = (size(row.get("mean_input_tokens")), size(row.get("mean_output_tokens")))
    draft.lengths = Lengths(
        *asked, *(positive(row.get(f"results_number_{way}_tokens_mean")) for way in ("input", "output"))
    )
    return draft


def _totals(row: Mapping[str, Any]) -> dict[str, Any]:
    n_successful = count(row.get("results_num_completed_requests"))
    per_minute = positive(row.get("results_num_completed_requests_per_min"))
    return {
        "n_requested": count(row.get("results_num_requests_started")),
        "n_successful": n_successful,
        "n_failed": count(row.get("results_number_errors")),
        "window": "whole_run",
        "window_s": n_successful / per_minute * 60 if n_successful and per_minute else None,
        "input_tok": _total(row.get("results_number_input_tokens_mean"), n_successful),
        "output_tok": _total(row.get("results_number_output_tokens_mean"), n_successful),
    }


def _total(mean_tok: object, n_requests: int | None) -> int | None:
    """A mean over whole numbers times their count is whole."""
    found = number(mean_tok)
    return None if found is None or n_requests is None else count(round(found * n_requests))


def _latencies(row: Mapping[str, Any], n: int) -> dict[str, float]:
    def lookup(latency: str, statistic: str) -> object:
        key = LATENCY_KEYS[latency]
        return row.get(f"{key}_quantiles_{statistic}", row.get(f"{key}_{statistic}"))

    found = collected(lookup, tuple(LATENCY_KEYS), 1.0)
    population = math.sqrt((n - 1) / n)
    return {key: value * population if key.endswith("_std_s") else value for key, value in found.items()}


def _counts_above_limit(row: Mapping[str, Any]) -> bool:
    """Whether the mean count is over 2 % above the limit that all requests were sent with, a start token aside."""
    limit_tok, mean_tok = positive(row.get("mean_output_tokens")), number(row.get("results_number_output_tokens_mean"))
    if limit_tok is None or mean_tok is None or number(row.get("stddev_output_tokens")) != 0:
        return False
    return mean_tok > limit_tok * COUNT_TOLERANCE + START_TOK


def _request(index: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """One request. An error has a code; a first token at 0 s is none."""
    code = request.get("error_code")
    return {
        "request_index": index,
        "phase": "profiling",
        "outcome": "ok" if code is None else "failed",
        "error": None if code is None else text(request.get("error_msg")) or f"error {text(str(code))}",
        "ttft_ns": duration_ns(positive(request.get("ttft_s"))),
        "e2el_ns": duration_ns(positive(request.get("end_to_end_latency_s"))),
        "input_tok": request_tokens(request.get("number_input_tokens")),
        "output_tok": request_tokens(request.get("number_output_tokens")),
        "first_chunk_tok": 1,
    }
