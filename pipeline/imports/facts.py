"""Facts of a point from the file and from what is declared: content wins, a contradiction is a note.

Belongs here: merging, resolving spellings by the registry, and refusing a row that lacks a fact. Not here: lengths
(lengths.py), GPUs and validity (assemble.py).
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import RegistryError
from pipeline.imports import lengths
from pipeline.imports.draft import Draft, Job
from pipeline.imports.outcome import RowRejectedError
from pipeline.imports.source import Declared
from pipeline.registry.entries import Entry
from pipeline.registry.loader import nearest
from pipeline.registry.registry import Registry

PRECISIONS = {
    "nvfp4": "fp4",
    "mxfp4": "fp4",
    "modelopt-fp4": "fp4",
    "float8": "fp8",
    "fp8-e4m3": "fp8",
    "w8a8-fp8": "fp8",
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "w8a8-int8": "int8",
    "awq": "int4",
    "gptq": "int4",
    "w4a16": "int4",
}
KNOWN_PRECISIONS = ("fp4", "fp8", "fp16", "bf16", "fp32", "int4", "int8")
NO_SPECULATION = ("none", "off", "no", "false", "null")
NIGHT = dt.timedelta(1)
"""A declared run date so long before that of a file holds: the file is of a run that went on over midnight."""

RUN_NUMBER = re.compile(r"github\.com/[^/]+/[^/]+/actions/runs/(\d+)")


@dataclass
class Settled:
    """Facts as POINTS columns, which of them are declared, and notes."""

    columns: dict[str, Any] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)


def settle(job: Job, draft: Draft) -> Settled:
    """The facts of one row. Raises RowRejectedError with a code such as gpu_missing or gpu_unknown."""
    merged = _merge(job, draft)
    columns = merged.columns
    columns["gpu"] = _slug(job, columns, "gpu")
    columns["model"] = _slug(job, columns, "model")
    columns["engine"] = _slug(job, columns, "engine")
    columns["engine_family"] = job.registry.engines[columns["engine"]].family
    columns["precision"] = _precision(columns.get("precision"))
    columns["spec_method"] = _spec_method(columns.get("spec_method"))
    _settle_workload(job, draft, merged)
    _settle_run(draft, merged)
    return merged


def refuse_unknown(declared: Declared, registry: Registry, where: str) -> Declared:
    """What is declared, where every word of it is known. Raises RegistryError, which names the nearest known word."""
    for kind in ("gpu", "model", "engine"):
        said = getattr(declared, kind)
        if said is not None and getattr(registry, f"{kind}_slug")(said) is None:
            raise _unknown(kind, said, _hint(said, getattr(registry, f"{kind}s")), where)
    if declared.precision is not None and _known_precision(declared.precision) is None:
        raise _unknown("precision", declared.precision, nearest(declared.precision, KNOWN_PRECISIONS), where)
    said = declared.workload
    if said is not None and not lengths.is_known_workload(registry, said):
        hint = f"{_hint(said, registry.workloads)} Of fixed lengths: random_<input>_<output>."
        raise _unknown("workload", said, hint, where)
    return declared


def _unknown(kind: str, said: str, hint: str, where: str) -> RegistryError:
    return RegistryError(f"unknown {kind} {said!r} is declared", where=where, next_step=hint)


def _hint(said: str, known: Mapping[str, Entry]) -> str:
    """The nearest spelling, or the slugs where none is close or the word is too long to compare."""
    spellings = {word for slug, entry in known.items() for word in (slug, entry.name, *entry.aliases)}
    hint = nearest(said, spellings) if len(said) < 80 else ""
    return hint if hint.startswith("Did") else f"Known: {', '.join(sorted(known))}."


def _merge(job: Job, draft: Draft) -> Settled:
    """Recorded over declared. A value that differs in both is a note; spellings of one thing do not differ.

    The day before a file's own may be declared: a file has the day of its point, a run that of its first one.
    """
    recorded = {**dataclasses.asdict(draft.recorded), "concurrency": draft.columns.get("concurrency")}
    settled = Settled(columns={key: value for key, value in recorded.items() if value is not None})
    for key in Declared.model_fields:
        said = getattr(job.declared, key)
        if said is None:
            continue
        if recorded.get(key) is None:
            settled.columns[key] = said
            settled.declared.add(key)
        elif key == "run_date" and recorded[key] - said == NIGHT:
            settled.columns[key] = said
            settled.declared.add(key)
            settled.notes.add("run_began_the_day_before")
        elif _canonical(job, key, recorded[key]) != _canonical(job, key, said):
            settled.notes.add(f"declared_contradicts_file={key}")
    return settled


def _canonical(job: Job, key: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    if key in ("gpu", "model", "engine", "workload"):
        return job.slug(key, value) or value
    if key == "precision":
        return _known_precision(value) or value
    return _spec_method(value) if key == "spec_method" else value


def _slug(job: Job, columns: Mapping[str, Any], kind: str) -> str:
    """The registry slug of a GPU, model or engine."""
    spelling = columns.get(kind)
    if spelling is None:
        raise RowRejectedError(f"{kind}_missing", f"Neither the file nor a declaration says the {kind}. Add --{kind}.")
    slug = job.slug(kind, spelling)
    if slug is None:
        known: Mapping[str, Entry] = getattr(job.registry, f"{kind}s")
        raise RowRejectedError(
            f"{kind}_unknown",
            f"Unknown {kind} {spelling!r}. {_hint(spelling, known)} A new one is a block in {kind}s.toml.",
        )
    return slug


def _precision(spelling: str | None) -> str:
    if spelling is None:
        raise RowRejectedError(
            "precision_missing", "Neither the file nor a declaration says the precision. Add --precision."
        )
    known = _known_precision(spelling)
    if known is None:
        raise RowRejectedError(
            "precision_unknown", f"Unknown precision {spelling!r}. {nearest(spelling, KNOWN_PRECISIONS)}"
        )
    return known


def _known_precision(spelling: str) -> str | None:
    word = spelling.strip().lower().replace("_", "-")
    word = PRECISIONS.get(word, word)
    return word if word in KNOWN_PRECISIONS else None


def _spec_method(spelling: str | None) -> str | None:
    """On is mtp, InferenceMAX's only method of that time; off is none; null is not said."""
    if spelling is None:
        return None
    word = spelling.strip().lower()
    if word in NO_SPECULATION:
        return "none"
    return "mtp" if word == "on" else word


def _settle_workload(job: Job, draft: Draft, settled: Settled) -> None:
    columns = settled.columns
    recorded = {key: getattr(draft.recorded, key) for key in ("workload", "input_len_tok", "output_len_tok")}
    chosen = lengths.choose(job, recorded, draft.lengths)
    columns["workload"] = chosen.workload
    columns["input_len_tok"], columns["output_len_tok"] = chosen.input_len_tok, chosen.output_len_tok
    columns["percentile"] = job.registry.workload(chosen.workload).percentile
    settled.declared -= {"workload", "input_len_tok", "output_len_tok"}
    settled.declared |= chosen.declared
    settled.notes |= chosen.notes


def _settle_run(draft: Draft, settled: Settled) -> None:
    columns = settled.columns
    if columns.get("run_date") is None:
        raise RowRejectedError(
            "run_date_missing", "Neither the file nor a declaration says the day of the run. Add --run-date."
        )
    number = RUN_NUMBER.search(columns.get("run_url") or "")
    if number and draft.recorded.run_id is None and draft.recorded.run_url:
        columns["run_id"] = number[1]
        settled.declared.discard("run_id")
    columns.setdefault("run_id", number[1] if number else f"imported-{columns['run_date']}")
