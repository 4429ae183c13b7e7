"""AIPerf's records of a measured point, as rows of REQUESTS by repeat, and whether both sides count the same tokens.

Belongs here: which repeat a record is of, and the client's own counts. Not here: the mapping of one record
(pipeline/imports/aiperf_records.py), and running AIPerf (resources/load_generator.py).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.imports.aiperf_records import record_start_ns, request_row
from pipeline.imports.fields import mapping, moment_from_unix, text
from pipeline.sweep.load import Batch, PointLoad, made_trace

UNKNOWN_LAST_NS = 2**63
PHASE_ENDED = re.compile(r"Phase (\S+) \((\w+)\) complete \| completed=\d+, cancelled=(\d+)")

Lengths = Callable[[Mapping[str, Any]], tuple[int | None, int | None] | None]
"""A request row to the input and output tokens that the client made or asked for; None where it does not know."""


@dataclass(frozen=True)
class RepeatAnswer:
    """One repeat: rows of REQUESTS without point_id, warm-up included, and the start of its first measured request.

    ``seed`` made the data set. Times are relative to the earliest start of the repeat. ``started_at`` is None where
    no measured request was recorded. ``first_ns`` and ``last_ns`` are the first start and the last end [ns since
    1970] of measured requests, 0 without any.
    """

    seed: int
    requests: list[dict[str, Any]]
    started_at: dt.datetime | None
    first_ns: int
    last_ns: int


@dataclass(frozen=True)
class Counted:
    """What the client itself knows of the successful measured requests' tokens, to hold against the server's usage.

    Its output is what it asked for (the end of text is ignored), its input what it made; None where it does not know
    them for every request: real prompts, and the inputs of sessions, which hold the server's own answers.
    ``n_without_usage``: whose server said nothing of tokens. ``n_reused_prompts``: requests, warm-up included, whose
    prompt was sent before; none in a scenario, which marks every session.
    """

    input_tok: int | None = None
    output_tok: int | None = None
    n_without_usage: int = 0
    n_reused_prompts: int = 0


def records_of(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The records of a file's lines. A last line that was cut off is none."""
    found = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("metadata"), dict):
            found.append(record)
    return found


def cancelled_records(log_lines: Iterable[str], records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A record for each request cancelled at the end of a grace, of which AIPerf only says how many, in its log.

    Nothing is known of them but their phase: requested = successful + failed + cancelled needs no more.
    """
    written = Counter(
        mapping(record["metadata"]).get("phase_name")
        for record in records
        if mapping(record["metadata"]).get("was_cancelled")
    )
    found = []
    for name, kind, n_cancelled in PHASE_ENDED.findall("\n".join(log_lines)):
        metadata = {"phase_name": name, "benchmark_phase": kind, "was_cancelled": True}
        record = {"metadata": metadata, "metrics": {}, "error": {"message": "in flight at the end of the grace"}}
        found += [record] * (int(n_cancelled) - written[name])
    return found


def repeat_answers(records: Sequence[Mapping[str, Any]], point: PointLoad, batch: Batch) -> list[RepeatAnswer]:
    """The repeats that the records show, in order, warm-up and measured phase of each together.

    AIPerf records a stream that ends in an error or without a finish as a success. Where the length is known, such a
    request got fewer tokens than it asked for, as the end of text is ignored; elsewhere it alone has no usage.
    """
    by_repeat: dict[int, list[Mapping[str, Any]]] = {}
    for record in records:
        by_repeat.setdefault(_repeat_index(record, batch), []).append(record)
    asked = _made_lengths(point)
    answers = [_repeat_answer(index, by_repeat[index], asked, batch.seed) for index in sorted(by_repeat)]
    if any(row["output_tok"] is not None for answer in answers for row in answer.requests):
        return [replace(answer, requests=[_without_usage(row) for row in answer.requests]) for answer in answers]
    return answers


def counted(point: PointLoad, rows: Sequence[Mapping[str, Any]]) -> Counted:
    """The client's counts over the rows of all repeats."""
    made = _made_lengths(point)
    measured = [row for row in rows if row["outcome"] == "ok" and row["phase"] == "profiling"]
    lengths = [made(row) or (None, None) for row in measured]
    named = [row for row in rows if row["session_id"] is not None and point.load.scenario is None]
    sent = Counter((row["session_id"], row["turn_index"]) for row in named)
    return Counted(
        input_tok=_sum(length for length, _ in lengths),
        output_tok=_sum(length for _, length in lengths),
        n_without_usage=sum(row["output_tok"] is None for row in measured),
        n_reused_prompts=sum(n - 1 for n in sent.values()),
    )


def _sum(lengths: Iterable[int | None]) -> int | None:
    """None where one is not known, or there are none."""
    known = list(lengths)
    return sum(length or 0 for length in known) if known and None not in known else None


def _repeat_answer(index: int, records: Sequence[Mapping[str, Any]], asked: Lengths, seed: int) -> RepeatAnswer:
    records = sorted(records, key=lambda record: record_start_ns(record) or UNKNOWN_LAST_NS)
    starts = [start for start in map(record_start_ns, records) if start is not None]
    first_ns = min(starts, default=0)
    rows = []
    for position, record in enumerate(records):
        start = record_start_ns(record)
        row = request_row(position, record, None if start is None else start - first_ns)
        rows.append(_cut_short(row, asked(row)) | {"repeat_index": index})
    measured = [row for row in rows if row["phase"] == "profiling" and row["start_ns"] is not None]
    if not measured:
        return RepeatAnswer(seed, rows, None, 0, 0)
    start_ns = first_ns + min(row["start_ns"] for row in measured)
    end_ns = first_ns + max(row["start_ns"] + (row["e2el_ns"] or 0) for row in measured)
    return RepeatAnswer(seed, rows, moment_from_unix(start_ns / 1e9), start_ns, end_ns)


def _cut_short(row: dict[str, Any], asked: tuple[int | None, int | None] | None) -> dict[str, Any]:
    asked_tok, got_tok = asked[1] if asked else None, row["output_tok"]
    if row["outcome"] != "ok" or asked_tok is None or got_tok is None or got_tok >= asked_tok:
        return row
    return row | {"outcome": "failed", "error": f"the stream ended after {got_tok} of {asked_tok} tokens"}


def _without_usage(row: dict[str, Any]) -> dict[str, Any]:
    """A request of a server that says its tokens, which were not said."""
    if row["outcome"] != "ok" or row["output_tok"] is not None:
        return row
    return row | {"outcome": "failed", "error": "the stream ended without usage"}


def _repeat_index(record: Mapping[str, Any], batch: Batch) -> int:
    """The number behind the phase's name; a process of one repeat is all of it: a scenario names its phases itself."""
    number = (text(mapping(record["metadata"]).get("phase_name")) or "").rpartition("_")[2]
    return int(number) if batch.n_repeats > 1 and number.isdecimal() else batch.first_repeat


def _made_lengths(point: PointLoad) -> Lengths:
    if point.load.prompts is not None or point.load.scenario is not None:
        return lambda row: None
    if point.workload.kind == "fixed_length":
        lengths = (point.workload.input_len_tok, point.workload.output_len_tok)
        return lambda row: lengths
    made: dict[tuple[str, int], tuple[int | None, int]] = {}
    turns: Counter[str] = Counter()
    for line in map(json.loads, made_trace(point)):
        turn = turns[line["session_id"]]
        turns[line["session_id"]] += 1
        made[line["session_id"], turn] = (line["input_length"] if turn == 0 else None, line["output_length"])
    return lambda row: made.get((row["session_id"], row["turn_index"]))
