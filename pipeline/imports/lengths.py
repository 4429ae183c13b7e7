"""Which workload a row is of, and its nominal lengths.

Belongs here: the order of evidence. Recorded lengths, then declared ones, then the load client's options, then a
pattern in the file name that the content does not contradict, then the rounded means over requests.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipeline.errors import RegistryError
from pipeline.imports.draft import Job, Lengths
from pipeline.imports.names import lengths_in_name
from pipeline.imports.outcome import RowRejectedError
from pipeline.registry.registry import Registry

FROM_MEANS = "lengths_from_means"
"""The note of lengths that are rounded means."""

MEAN_OF_NOMINAL = (0.4, 1.1)
"""A random dataset draws lengths up to the nominal one: their mean is at least about half of it."""
RATIO_TOLERANCE = 1.35
ROUND_SIZES_TOK = tuple(1 << k for k in range(4, 18))


@dataclass(frozen=True)
class Chosen:
    """A workload slug with nominal lengths [tok], None for agentic ones; which of the three a person declared."""

    workload: str
    input_len_tok: int | None = None
    output_len_tok: int | None = None
    notes: frozenset[str] = frozenset()
    declared: frozenset[str] = field(default_factory=frozenset)


def choose(job: Job, recorded: dict[str, Any], lengths: Lengths) -> Chosen:
    """The workload of a row. Raises RowRejectedError workload_unknown or workload_missing."""
    named = recorded.get("workload") or job.declared.workload
    both = (recorded.get("input_len_tok"), recorded.get("output_len_tok"))
    if named is None and both[0] and both[1]:
        return _checked_by_name(job, both[0], both[1])
    if named is not None:
        by_whom = frozenset() if recorded.get("workload") else frozenset({"workload"})
        return _named(job, named, both if by_whom else (None, None), by_whom, lengths)
    return _from_evidence(job, lengths)


def is_known_workload(registry: Registry, spelling: str) -> bool:
    """Whether a workload can be declared by this name: one of the registry, or random_<in>_<out>."""
    try:
        registry.workload(registry.workload_slug(spelling) or spelling.strip().lower())
    except RegistryError:
        return False
    return True


def guessed_workloads(points: pa.Table) -> list[str]:
    """Workloads of points (POINTS) whose nominal lengths are only their mean lengths, rounded; sorted."""
    rows = points.select(["workload", "notes"]).to_pylist()
    return sorted({row["workload"] for row in rows if FROM_MEANS in row["notes"]})


def guess_words(workloads: Collection[str]) -> str:
    """The sentence on workloads that were guessed from means; "" for none."""
    if not workloads:
        return ""
    return (
        f"Workloads from mean lengths, rounded, because no file says nominal ones: {', '.join(sorted(workloads))} "
        f"({len(workloads)}); where several are one sweep, or another was meant, import again with "
        "--declare workload=random_<input>_<output>."
    )


def _named(job: Job, spelling: str, both: tuple[Any, Any], by_whom: frozenset[str], lengths: Lengths) -> Chosen:
    """A workload said by name; recorded lengths that contradict it win over it."""
    slug = job.slug("workload", spelling) or spelling.strip().lower()
    try:
        workload = job.registry.workload(slug)
    except RegistryError as error:
        raise RowRejectedError("workload_unknown", f"{error.what}: {error.next_step}") from None
    nominal = (workload.input_len_tok, workload.output_len_tok)
    if all(both) and both != nominal:
        return _fixed(job, *both, notes=frozenset({f"lengths_differ_from_workload={slug}"}))
    options = (lengths.dataset_input_tok, lengths.dataset_output_tok)
    differ = (all(options) and options != nominal) or _means_disagree(nominal, lengths)
    notes = frozenset({f"lengths_differ_from_workload={slug}"}) if differ else frozenset()
    return Chosen(slug, *nominal, notes, by_whom)


def _means_disagree(nominal: tuple[int | None, int | None], lengths: Lengths) -> bool:
    """Whether a known mean length could not come from its nominal one."""
    pairs = zip(nominal, (lengths.mean_input_tok, lengths.mean_output_tok), strict=True)
    low, high = MEAN_OF_NOMINAL
    return any(n is not None and mean is not None and not low <= mean / n <= high for n, mean in pairs)


def _from_evidence(job: Job, lengths: Lengths) -> Chosen:
    said = (job.declared.input_len_tok, job.declared.output_len_tok)
    if said[0] and said[1]:
        chosen = _fixed(job, said[0], said[1])
        return Chosen(chosen.workload, *said, declared=frozenset({"workload", "input_len_tok", "output_len_tok"}))
    if lengths.dataset_input_tok and lengths.dataset_output_tok:
        return _checked_by_name(job, lengths.dataset_input_tok, lengths.dataset_output_tok)
    named = lengths_in_name(job.source.name)
    if named and _agrees(named, lengths):
        return _fixed(job, *named, notes=frozenset({"lengths_from_file_name"}))
    if lengths.mean_input_tok and lengths.mean_output_tok:
        rounded = (rounded_length(lengths.mean_input_tok), rounded_length(lengths.mean_output_tok))
        doubt = {f"name_says_lengths={named[0]}/{named[1]}"} if named else set()
        return _fixed(job, *rounded, notes=frozenset({FROM_MEANS, *doubt}))
    raise RowRejectedError(
        "workload_missing", "Neither the file nor a declaration says the workload or its lengths. Add --workload."
    )


def _checked_by_name(job: Job, input_tok: int, output_tok: int) -> Chosen:
    named = lengths_in_name(job.source.name)
    differs = named is not None and named != (input_tok, output_tok)
    notes = frozenset({f"name_says_lengths={named[0]}/{named[1]}"}) if named and differs else frozenset()
    return _fixed(job, input_tok, output_tok, notes=notes)


def _fixed(job: Job, input_tok: int, output_tok: int, notes: frozenset[str] = frozenset()) -> Chosen:
    return Chosen(job.registry.fixed_workload(input_tok, output_tok), input_tok, output_tok, notes)


def _agrees(named: tuple[int, int], lengths: Lengths) -> bool:
    """Whether nothing in the content speaks against lengths that only the name has."""
    means = ((lengths.mean_input_tok, named[0]), (lengths.mean_output_tok, named[1]))
    for mean, nominal in means:
        if mean and not MEAN_OF_NOMINAL[0] <= mean / nominal <= MEAN_OF_NOMINAL[1]:
            return False
    if lengths.input_per_output:
        off = lengths.input_per_output / (named[0] / named[1])
        return 1 / RATIO_TOLERANCE <= off <= RATIO_TOLERANCE
    return True


def rounded_length(mean_tok: float) -> int:
    """A mean length as a nominal one: a power of two where it is within 1 %, else two significant digits.

    128.2 is 128 (a chat template adds a few tokens), 7197 is 7200.
    """
    for size_tok in ROUND_SIZES_TOK:
        if abs(mean_tok - size_tok) <= 0.01 * size_tok:
            return size_tok
    if mean_tok < 10:
        return max(1, round(mean_tok))
    step_tok = 10.0 ** (math.floor(math.log10(mean_tok)) - 1)
    return round(round(mean_tok / step_tok) * step_tok)
