"""One side of a comparison: its reading at every target, and the facts that may differ from the other side's.

A side is a page's section (the best of all its series) or some of its curves (the best of those).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.pages import formats
from pipeline.pages.curve_record import Basis, CurveHistory, CurveReading
from pipeline.pages.method import Fact
from pipeline.pages.page import AtLeast, Page
from pipeline.pages.point_record import PointRecord

NOT_SAID = "not said"


@dataclass(frozen=True)
class SideReading:
    """One side at one target that it serves. The spread is a standard deviation over ``n_repeats``, null if unknown.

    ``facts`` say what served it: every reading has the same terms in the same order.
    """

    throughput_tok_s_gpu: float
    throughput_std_tok_s_gpu: float | None
    n_repeats: int | None
    basis: Basis
    cost_usd_mtok: float | None
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Side:
    """A name, the facts of the whole side, and its readings by target in tok/s/user; a target not served is absent."""

    label: str
    gpu: str
    facts: tuple[Fact, ...]
    readings: Mapping[float, SideReading]


def page_side(page: Page) -> Side:
    """One GPU: the ladder of its section, at the first price tier that it has."""
    points = {point.point_id: point for point in page.points}
    tier = page.costs[0] if page.costs else None
    price = "no price" if tier is None else f"{formats.usd_gpu_hour(tier.usd_per_gpu_hour)} per GPU-hour, {tier.name}"
    readings = {
        row.target_tok_s_user: _of_ladder(row.at_least, row.at_least.throughput_tok_s_gpu, page, points)
        for row in page.ladder
        if row.at_least.throughput_tok_s_gpu is not None
    }
    facts = (Fact("GPU", page.gpu.name), Fact("Architecture", page.gpu.architecture), Fact("Price", price))
    return Side(page.gpu.name, page.gpu.slug, facts, readings)


def _of_ladder(
    reading: AtLeast, throughput_tok_s_gpu: float, page: Page, points: Mapping[str, PointRecord]
) -> SideReading:
    used = [points[point_id] for point_id in reading.point_ids]
    counts = [point.n_repeats for point in used]
    tier = page.costs[0].tier if page.costs else ""
    return SideReading(
        throughput_tok_s_gpu=throughput_tok_s_gpu,
        throughput_std_tok_s_gpu=reading.throughput_std_tok_s_gpu,
        n_repeats=None if None in counts else min((n for n in counts if n is not None), default=None),
        basis=reading.basis,
        cost_usd_mtok=(reading.cost_usd_mtok or {}).get(tier),
        facts=_facts(used),
    )


def curves_side(label: str, curves: Sequence[CurveHistory], page: Page) -> Side:
    """Some curves of one section: at every target the one with the highest throughput, the first of equal ones."""
    best: dict[float, tuple[float, CurveReading, CurveHistory]] = {}
    for curve in curves:
        for reading in curve.readings:
            value, target = reading.throughput_tok_s_gpu, reading.target_tok_s_user
            if value is not None and (target not in best or value > best[target][0]):
                best[target] = (value, reading, curve)
    readings = {t: _of_curve(value, reading, curve, page) for t, (value, reading, curve) in best.items()}
    return Side(label, page.gpu.slug, (), readings)


def _of_curve(value_tok_s_gpu: float, reading: CurveReading, curve: CurveHistory, page: Page) -> SideReading:
    name = next((engine.name for engine in page.engines if engine.slug == curve.engine), curve.engine)
    return SideReading(
        throughput_tok_s_gpu=value_tok_s_gpu,
        throughput_std_tok_s_gpu=reading.throughput_std_tok_s_gpu,
        n_repeats=reading.n_repeats,
        basis=reading.basis,
        cost_usd_mtok=None,
        facts=(
            Fact("Engine", name),
            Fact("Checkpoint", curve.precision or NOT_SAID),
            Fact("Engine build", _listed(reading.engine_builds)),
            Fact("Topology", _listed(reading.topologies)),
            Fact("Run date", curve.run_date.isoformat()),
        ),
    )


def _facts(points: Sequence[PointRecord]) -> tuple[Fact, ...]:
    return (
        Fact("Engine", _listed(point.engine_name for point in points)),
        Fact("Checkpoint", _listed(point.precision for point in points)),
        Fact("Engine build", _listed(point.engine_build for point in points)),
        Fact("Topology", _listed(point.topology for point in points)),
        Fact("Run date", _listed(point.run_date.isoformat() for point in points)),
    )


def _listed(values: Iterable[str | None]) -> str:
    return formats.listed(sorted({value for value in values if value})) or NOT_SAID
