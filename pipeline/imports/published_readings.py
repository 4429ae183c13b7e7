"""Published speed ladders. published_readings.csv is transcribed from the three public pages.

A row is a value read off a page, itself possibly interpolated there, and not a raw point. The page names no
concurrency, topology, build or date of a reading; run_date is the last day of the page's range. Each speed was served
by a configuration of its own that the page does not name, so the speed stands in the topology: without it all
readings of a page would be attempts at one point. A peak has no speed and no engine on the page and is rejected.
Not here: how our own readings are made.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from pipeline.errors import UnreadableFileError
from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, Recorded, without_nulls
from pipeline.imports.fields import day, text
from pipeline.imports.outcome import Outcome, RowRejectedError
from pipeline.imports.source import SourceFile
from pipeline.imports.text_table import TextTable, number_in

SOURCE_FORMAT = "published_readings"
FILE = "published_readings.csv"
HEADER = (
    *("model", "gpu", "workload", "engine", "precision", "target_tok_s_user", "throughput_tok_s_gpu"),
    *("run_date", "source"),
)


def shipped_readings() -> SourceFile:
    """The transcription that ships beside this module."""
    return SourceFile(FILE, resources.files("pipeline.imports").joinpath(FILE).read_bytes())


def matches(header: tuple[str, ...]) -> bool:
    """Whether a table claims to be of this format; read then insists on the exact header."""
    return {"target_tok_s_user", "throughput_tok_s_gpu"} <= set(header)


def read(job: Job, table: TextTable) -> Outcome:
    """All rows of a file. Raises UnreadableFileError for another header."""
    if table.header != HEADER:
        raise UnreadableFileError(
            "wrong header",
            where=job.source.name,
            expected=",".join(HEADER),
            found=",".join(table.header),
            next_step="Restore the header line.",
        )
    return read_rows(job, SOURCE_FORMAT, table.rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if len(row) != len(HEADER) or None in row.values():
        raise RowRejectedError("not_a_row", f"Expected {len(HEADER)} fields.")
    throughput, target = number_in(row["throughput_tok_s_gpu"]), number_in(row["target_tok_s_user"])
    if throughput is None or throughput <= 0:
        raise RowRejectedError("throughput_unreadable", "throughput_tok_s_gpu is not a number above 0.")
    if target is None:
        peak = f"{throughput:,.0f} tok/s/GPU is a published peak: its page names no speed and no engine of it."
        raise RowRejectedError("published_peak", peak)
    recorded = Recorded(
        run_date=day(row["run_date"]),
        **{key: text(row[key]) for key in ("model", "gpu", "workload", "engine", "precision")},  # type: ignore[arg-type]
    )
    draft = Draft(recorded, {"throughput_tok_s_gpu": throughput})
    draft.notes |= {"reading_published_without_date", "published_reading"}
    draft.columns["topology"] = f"unknown (read at {target:g} tok/s/user)"
    draft.columns |= without_nulls({"interactivity_tok_s_user": target, "interactivity_source": "published_reading"})
    return draft
