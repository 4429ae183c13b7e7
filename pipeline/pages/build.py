"""Tables of one model on one GPU to the sections of its page. What a field means is page.py's."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.pages import highlights, wording
from pipeline.pages.curve_history import curve_histories, spread_by_reading
from pipeline.pages.curve_record import FrontierPoint, Series
from pipeline.pages.curves import engine_name, point_roles, series_key, series_labels
from pipeline.pages.faq import faq
from pipeline.pages.freshness import freshness
from pipeline.pages.inputs import PairInput
from pipeline.pages.ladder import Priced, costs_by_reading, headline, ladder, primary_reading, tier_costs
from pipeline.pages.page import (
    PROVENANCE_RANK,
    SCHEMA_VERSION,
    EngineRef,
    GpuRef,
    ModelRef,
    Page,
    Provenance,
    WorkloadRef,
)
from pipeline.pages.point_record import PointRecord
from pipeline.pages.reasons import null_reason
from pipeline.pages.records import finite_rows, point_record
from pipeline.pages.runs import RunRecord, run_record
from pipeline.registry.entries import Workload
from pipeline.registry.registry import Registry, require

Row = Mapping[str, Any]

ROLE_RANK = {"frontier": 0, "off_frontier": 1, "invalid": 2, "superseded": 3}


def build_sections(pair: PairInput) -> tuple[Page, ...]:
    """One Page per workload and provenance with a point; the first one is the page's own section.

    Order: sections with a valid point first, then the workload's rank, then measured, imported, simulated.
    Empty where the pair has no point.
    """
    keys = sorted(set(zip(*(pair.points.column(n).to_pylist() for n in ("workload", "provenance")), strict=True)))
    names = ("points", "knots", "across", "costs", "history", "runs")
    tables = {name: finite_rows(getattr(pair, name)) for name in names}
    prices = finite_rows(pair.prices)
    combined = frozenset(pair.frontier.column("point_id").to_pylist())
    sections = []
    for workload, provenance in keys:
        mine = {name: _of(rows, workload, provenance) for name, rows in tables.items()}
        sections.append(_Section(pair, workload, provenance, combined, prices, **mine))
    return tuple(_worded(_page(section)) for section in sorted(sections, key=_section_order))


def _of(rows: Sequence[Row], workload: str, provenance: str) -> list[Row]:
    return [row for row in rows if (row["workload"], row["provenance"]) == (workload, provenance)]


@dataclass(frozen=True)
class _Section:
    """The rows of one workload and provenance."""

    pair: PairInput
    slug: str
    provenance: Provenance
    combined: frozenset[str]
    prices: Sequence[Row]
    points: Sequence[Row]
    knots: Sequence[Row]
    across: Sequence[Row]
    costs: Sequence[Row]
    history: Sequence[Row]
    runs: Sequence[Row]

    @functools.cached_property
    def workload(self) -> Workload:
        """The workload's entry."""
        return self.pair.registry.workload(self.slug)

    @functools.cached_property
    def labels(self) -> dict[tuple[object, ...], str]:
        """The label of every series."""
        return series_labels([*self.points, *self.knots, *self.history], self.workload, self.pair.registry)

    def label(self, row: Row) -> str:
        """The label of the series of a point or a knot."""
        return self.labels[series_key(row, self.workload)]


def _section_order(section: _Section) -> tuple[object, ...]:
    return (not section.knots, section.workload.rank, PROVENANCE_RANK[section.provenance], section.slug)


def _worded(page: Page) -> Page:
    return dataclasses.replace(page, quick_answer=wording.quick_answer(page), faq=faq(page))


def _page(section: _Section) -> Page:
    registry, priced = section.pair.registry, _priced(section)
    gpu, model = gpu_ref(section.pair.gpu, registry), model_ref(section.pair.model, registry)
    primary, records = primary_reading(section.across), _records(section)
    used = section.knots or section.points
    return Page(
        schema_version=SCHEMA_VERSION,
        title=wording.title(model.name, gpu.name, section.provenance),
        banner=wording.banner(section.provenance),
        quick_answer="",
        model=model,
        gpu=gpu,
        workload=_workload_ref(section.slug, section.workload),
        provenance=section.provenance,
        as_of=section.pair.as_of,
        headline=headline(primary, priced),
        counts=highlights.counts(section.points, records, len({knot["curve_id"] for knot in section.knots})),
        engines=_engines(used, registry),
        precisions=tuple(sorted({row["precision"] for row in used if row["precision"]})),
        run_dates=highlights.run_dates(records),
        freshness=freshness(records, registry.gpus[gpu.slug], section.provenance, section.pair.as_of),
        ladder=ladder(section.across, priced, spread_by_reading(section.history)),
        costs=tier_costs(primary, priced),
        costs_reason=None if section.prices else priced.no_price,
        peak=highlights.peak(records),
        fastest=highlights.fastest(records, section.workload.percentile),
        series=_series(section),
        frontier=_frontier(section),
        history=curve_histories(section.history, section.label),
        points=records,
        runs=_runs(section),
        faq=(),
        corrections_until=section.pair.corrections_until,
    )


def _priced(section: _Section) -> Priced:
    pair = section.pair
    no_price = f"No price of {gpu_ref(pair.gpu, pair.registry).name} holds on {pair.as_of.isoformat()}."
    return Priced(
        costs_by_reading(section.costs), section.prices, pair.registry, no_price, pair.corrections, pair.computed
    )


def _records(section: _Section) -> tuple[PointRecord, ...]:
    roles = point_roles(section.points, section.knots, section.workload)
    registry = section.pair.registry
    records = [point_record(row, roles[row["point_id"]], section.label(row), registry) for row in section.points]
    return tuple(sorted(records, key=_record_order))


def _runs(section: _Section) -> tuple[RunRecord, ...]:
    behind = {point["run_id"] for point in section.points}
    rows = sorted(section.runs, key=lambda row: (row["run_date"], row["run_id"], row["topology"]))
    why, registry = null_reason(section.provenance), section.pair.registry
    return tuple(run_record(row, engine_name(row["engine"], registry), why) for row in rows if row["run_id"] in behind)


def _record_order(record: PointRecord) -> tuple[object, ...]:
    speed = record.interactivity_tok_s_user
    return (
        ROLE_RANK[record.role],
        record.series,
        speed is None,
        speed or 0.0,
        record.concurrency or 0,
        record.point_id,
    )


def gpu_ref(slug: str, registry: Registry) -> GpuRef:
    """The GPU as published. Raises RegistryError for an unknown slug."""
    gpu = registry.gpus[require(registry.gpus, slug, kind="gpu", where="gpus.toml")]
    return GpuRef(slug, gpu.name, gpu.vendor, gpu.architecture, gpu.formats)


def model_ref(slug: str, registry: Registry) -> ModelRef:
    """The model as published. Raises RegistryError for an unknown slug."""
    return ModelRef(slug, registry.models[require(registry.models, slug, kind="model", where="models.toml")].name)


def _workload_ref(slug: str, workload: Workload) -> WorkloadRef:
    return WorkloadRef(
        slug=slug,
        name=workload.name,
        kind=workload.kind,
        percentile=workload.percentile,
        description=workload.description,
        input_len_tok=workload.input_len_tok,
        output_len_tok=workload.output_len_tok,
        rank=workload.rank,
    )


def _engines(rows: Sequence[Row], registry: Registry) -> tuple[EngineRef, ...]:
    engines = {EngineRef(row["engine"], engine_name(row["engine"], registry), row["engine_family"]) for row in rows}
    return tuple(sorted(engines, key=lambda engine: (engine.name.lower(), engine.slug, engine.family)))


def _series(section: _Section) -> tuple[Series, ...]:
    names = [field.name for field in dataclasses.fields(Series) if field.name not in ("label", "reason")]
    curves = {
        knot["curve_id"]: Series(
            label=section.label(knot),
            reason=null_reason(section.provenance) if None in map(knot.get, names) else None,
            **{name: knot[name] for name in names},
        )
        for knot in section.knots
    }
    return tuple(sorted(curves.values(), key=lambda series: series.label))


def _frontier(section: _Section) -> tuple[FrontierPoint, ...]:
    points = [
        FrontierPoint(
            series=section.label(knot),
            interactivity_tok_s_user=knot["interactivity_tok_s_user"],
            throughput_tok_s_gpu=knot["throughput_tok_s_gpu"],
            slope=knot["slope"],
            point_id=knot["point_id"],
            combined=knot["point_id"] in section.combined,
        )
        for knot in section.knots
    ]
    return tuple(sorted(points, key=lambda point: (point.series, point.interactivity_tok_s_user)))
