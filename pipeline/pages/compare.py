"""Two sides on the same readings: two GPUs, engines, formats, runs or builds. The pages are compare_page.py's.

Only one workload and one provenance is compared at a time. Whether a difference is more than the repeats' own spread is
measure/noise.py's rule; without a spread there is no verdict, only which side reads higher.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.measure.noise import Repeated, noise_verdict
from pipeline.pages.compare_sides import Side, SideReading, curves_side, page_side
from pipeline.pages.curve_record import CurveHistory
from pipeline.pages.page import Page, Provenance

Kind = Literal["gpus", "engines", "formats", "runs", "builds"]
Verdict = Literal["first", "second", "within_noise", "equal", "first_unknown", "second_unknown", "no_value"]
"""first, second: that side is better and the difference is outside the noise of the repeats. first_unknown,
second_unknown: that side reads higher, and the spread of one of them is not known."""


@dataclass(frozen=True)
class ComparedReading:
    """Both sides at one target. Ratios are first over second: tok/s/GPU, and USD per million total tokens."""

    target_tok_s_user: float
    first: SideReading | None
    second: SideReading | None
    ratio: float | None
    cost_ratio: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same on both sides, at the target of the comparison's ``about``."""

    term: str
    first: str
    second: str


@dataclass(frozen=True)
class Comparison:
    """Two sides at every target, and what differs between them at ``about_tok_s_user``, a target that both serve.

    ``about_tok_s_user`` is the primary target where both serve it, else the fastest that both serve.
    """

    kind: Kind
    workload: str
    workload_name: str
    provenance: Provenance
    first: Side
    second: Side
    rows: tuple[ComparedReading, ...]
    about_tok_s_user: float
    differences: tuple[Difference, ...]


def compare_gpus(first: Sequence[Page], second: Sequence[Page]) -> tuple[Comparison, ...]:
    """One comparison for every workload and provenance that both have, if there is a target that both serve."""
    others = {(page.workload.slug, page.provenance): page for page in second}
    pairs = ((page, others.get((page.workload.slug, page.provenance))) for page in first)
    found = (_compared("gpus", page, page_side(page), page_side(other)) for page, other in pairs if other is not None)
    return tuple(comparison for comparison in found if comparison is not None)


def compare_within(page: Page) -> tuple[Comparison, ...]:
    """What there is to compare on one GPU: engines, formats, and of each series its newest run with the one before."""
    found = itertools.chain(
        _grouped(page, "engines", lambda curve: _engine_name(page, curve.engine)),
        _grouped(page, "formats", lambda curve: curve.precision),
        _reruns(page),
    )
    return tuple(comparison for comparison in found if comparison is not None)


def _engine_name(page: Page, slug: str) -> str:
    return next((engine.name for engine in page.engines if engine.slug == slug), slug)


def _grouped(page: Page, kind: Kind, name: Callable[[CurveHistory], str | None]) -> Iterator[Comparison | None]:
    """Every pair of groups of the newest curves, each read at its best curve."""
    groups: dict[str, list[CurveHistory]] = {}
    for curve in page.history:
        if curve.in_use and (label := name(curve)) is not None:
            groups.setdefault(label, []).append(curve)
    for first, second in itertools.combinations(sorted(groups), 2):
        sides = (curves_side(label, groups[label], page) for label in (first, second))
        yield _compared(kind, page, *sides)


def _reruns(page: Page) -> Iterator[Comparison | None]:
    """The newest run of every series against the one before it; ``builds`` where their engine builds differ."""
    for _, curves in itertools.groupby(page.history, key=lambda curve: curve.series):
        runs = sorted(curves, key=lambda curve: (curve.in_use, curve.run_date, curve.run_id))[-2:]
        if len(runs) == 2:
            older, newer = runs
            same = _builds(older) == _builds(newer)
            sides = (
                curves_side(_run_label(run, same=same, other=o), [run], page)
                for run, o in ((newer, older), (older, newer))
            )
            yield _compared("runs" if same else "builds", page, *sides)


def _builds(curve: CurveHistory) -> tuple[str, ...]:
    return tuple(sorted({build for reading in curve.readings for build in reading.engine_builds}))


def _run_label(run: CurveHistory, *, same: bool, other: CurveHistory) -> str:
    words = [run.series, f"run {run.run_date.isoformat()}"]
    words += [] if same else [f"build {' and '.join(_builds(run)) or 'not said'}"]
    words += [run.run_id] if same and run.run_date == other.run_date else []
    return ", ".join(words)


def _compared(kind: Kind, page: Page, first: Side, second: Side) -> Comparison | None:
    targets = sorted({*first.readings, *second.readings})
    rows = tuple(_row(target, first.readings.get(target), second.readings.get(target)) for target in targets)
    both = [row for row in rows if row.first is not None and row.second is not None]
    if not both:
        return None
    about = next((row for row in both if row.target_tok_s_user == page.headline.target_tok_s_user), both[-1])
    return Comparison(
        kind=kind,
        workload=page.workload.slug,
        workload_name=page.workload.name,
        provenance=page.provenance,
        first=first,
        second=second,
        rows=rows,
        about_tok_s_user=about.target_tok_s_user,
        differences=_differences(about, first, second),
    )


def _row(target_tok_s_user: float, first: SideReading | None, second: SideReading | None) -> ComparedReading:
    if first is None or second is None:
        return ComparedReading(target_tok_s_user, first, second, None, None, "no_value")
    costs = (first.cost_usd_mtok, second.cost_usd_mtok)
    return ComparedReading(
        target_tok_s_user=target_tok_s_user,
        first=first,
        second=second,
        ratio=first.throughput_tok_s_gpu / second.throughput_tok_s_gpu,
        cost_ratio=costs[0] / costs[1] if costs[0] and costs[1] else None,
        verdict=verdict(first, second),
    )


def verdict(first: SideReading, second: SideReading) -> Verdict:
    """Which side serves more, and whether the difference is outside the noise of the repeats."""
    if first.throughput_tok_s_gpu == second.throughput_tok_s_gpu:
        return "equal"
    higher: Literal["first", "second"] = "second"
    if first.throughput_tok_s_gpu > second.throughput_tok_s_gpu:
        higher = "first"
    found = noise_verdict(_repeated(second), _repeated(first))
    if found == "within":
        return "within_noise"
    if found == "outside":
        return higher
    return "first_unknown" if higher == "first" else "second_unknown"


def _repeated(reading: SideReading) -> Repeated:
    return Repeated(reading.throughput_tok_s_gpu, reading.throughput_std_tok_s_gpu, reading.n_repeats)


def _differences(row: ComparedReading, first: Side, second: Side) -> tuple[Difference, ...]:
    assert row.first is not None, "the row is one that both sides serve"
    assert row.second is not None, "the row is one that both sides serve"
    facts = [*zip(first.facts, second.facts, strict=True), *zip(row.first.facts, row.second.facts, strict=True)]
    return tuple(Difference(one.term, one.text, two.text) for one, two in facts if one.text != two.text)
