"""One result file to points: the format is told from the content, never from the name.

Belongs here: which importer reads a document. Not here: decoding (document.py), formats that are not read
(refusals.py), and a limit on the size of a file, which is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.imports import (
    aiperf,
    aiperf_records,
    genai_bench,
    guidellm,
    inference_perf,
    inferencex_agentx,
    inferencex_csv,
    inferencex_flat,
    inferencex_rows,
    inferencex_tuned,
    llmperf,
    published_readings,
    sglang_bench,
    tokpos,
    vllm_bench,
)
from pipeline.imports.document import open_document
from pipeline.imports.draft import Job
from pipeline.imports.outcome import Outcome
from pipeline.imports.refusals import refuse_json, refuse_text
from pipeline.imports.source import Declared, SourceFile
from pipeline.imports.text_table import text_table
from pipeline.registry.registry import Registry
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS

IMPORTERS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Job, list[Any]], Outcome]], ...] = (
    (inferencex_agentx.matches, inferencex_agentx.read),
    (inferencex_tuned.matches, inferencex_tuned.read),
    (inferencex_flat.matches, inferencex_flat.read),
    (inferencex_rows.matches, inferencex_rows.read),
    (sglang_bench.matches, sglang_bench.read),
    (tokpos.matches, tokpos.read),
    (vllm_bench.matches, vllm_bench.read),
    (aiperf_records.matches, aiperf_records.read),
    (aiperf.matches, aiperf.read),
    (guidellm.matches, guidellm.read),
    (inference_perf.matches, inference_perf.read),
    (genai_bench.matches, genai_bench.read),
    (genai_bench.describes, genai_bench.pass_over),
    (llmperf.matches, llmperf.read),
    (llmperf.matches_requests, llmperf.read_requests),
    (llmperf.matches_means, llmperf.pass_over_means),
)
"""In order: the first importer that knows the first object of a file reads all of it."""


def read_results(source: SourceFile, declared: Declared, registry: Registry) -> Outcome:
    """Read one result file into points and requests.

    Raises UnreadableFileError for damaged content and UnsupportedFormatError for a tool that is not read. A bad row
    is a Rejected, a bad measurement an invalid point: neither is an error. An empty list is an outcome of 0 rows.
    """
    job = Job(source, declared, registry)
    document = open_document(source)
    if document.values is None:
        return _read_text(job, document.text)
    rows = _rows(document.values)
    if rows == []:
        return _empty()
    first = next((row for row in rows or () if isinstance(row, dict)), None)
    if rows is not None and first is not None:
        for matches, read in IMPORTERS:
            if matches(first):
                return read(job, rows)
    raise refuse_json(source.name, document.values[0])


def _rows(values: tuple[Any, ...]) -> list[Any] | None:
    """The rows of a document: its list, its lines, its one object, or those inside of it. None if none is."""
    if len(values) > 1:
        return list(values)
    value = values[0]
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    if llmperf.matches_table(value):
        return list(value.values())
    return inferencex_rows.flattened(value) if inferencex_rows.matches_history(value) else [value]


def _read_text(job: Job, text: str) -> Outcome:
    table = text_table(text)
    if table is not None:
        for matches, read in (
            (published_readings.matches, published_readings.read),
            (inferencex_csv.matches, inferencex_csv.read),
        ):
            if matches(table.header):
                return read(job, table)
    raise refuse_text(job.source.name, text.lstrip("\ufeff"), table.header if table else ())


def _empty() -> Outcome:
    return Outcome("empty_list", 0, POINTS.empty(), REQUESTS.empty(), (), ("holds an empty list: 0 rows",))
