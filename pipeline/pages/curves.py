"""Which series a point belongs to, what the series is called, and what role the point plays on its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.pages.point_record import Role
from pipeline.registry.entries import Workload
from pipeline.registry.registry import Registry
from pipeline.tables.points import IDENTITY

Row = Mapping[str, Any]
SeriesKey = tuple[object, ...]

_KEY_COLUMNS = ("engine", "precision", "disaggregated", "multinode", "kv_offload")


def series_key(row: Row, workload: Workload) -> SeriesKey:
    """What tells the series of one page apart; the speculative method only for fixed-length workloads."""
    key = tuple(row[name] for name in _KEY_COLUMNS)
    return key if workload.kind == "agentic" else (*key, row["spec_method"])


def series_labels(rows: Iterable[Row], workload: Workload, registry: Registry) -> dict[SeriesKey, str]:
    """One label per series: engine, checkpoint format and what departs from a plain deployment.

    Two series that would read alike are told apart by every column, unsaid ones included.
    """
    keys = sorted({series_key(row, workload) for row in rows}, key=repr)
    short = {key: ", ".join(_short_words(key, registry)) for key in keys}
    times = Counter(short.values())
    return {key: text if times[text] == 1 else ", ".join(_full_words(key, registry)) for key, text in short.items()}


def _short_words(key: SeriesKey, registry: Registry) -> list[str]:
    engine, precision, disaggregated, multinode, kv_offload, *spec = key
    words = [f"{engine_name(engine, registry)} {precision or ''}".strip()]
    words += ["disaggregated"] if disaggregated else []
    words += ["multi-node"] if multinode else []
    words += [f"KV cache offloaded to {kv_offload}"] if kv_offload not in (None, "none") else []
    return words + [str(method) for method in spec if method not in (None, "none")]


def _full_words(key: SeriesKey, registry: Registry) -> list[str]:
    engine, precision, disaggregated, multinode, kv_offload, *spec = key
    return [
        f"{engine_name(engine, registry)} {precision or 'format not said'}",
        _said(disaggregated, "disaggregated", "aggregated", "disaggregation not said"),
        _said(multinode, "multi-node", "single node", "node count not said"),
        f"KV offload {kv_offload or 'not said'}",
        *(f"speculation {method or 'not said'}" for method in spec),
    ]


def _said(value: object, yes: str, no: str, unsaid: str) -> str:
    return unsaid if value is None else yes if value else no


def engine_name(slug: object, registry: Registry) -> str:
    """The engine's name; its slug where the registry has no entry of it."""
    entry = registry.engines.get(str(slug))
    return entry.name if entry else str(slug)


def point_roles(points: Sequence[Row], knots: Sequence[Row], workload: Workload) -> dict[str, Role]:
    """The role of every point, by point id. ``knots`` are the newest curves of the page's series."""
    newest = {series_key(knot, workload): (knot["run_date"], knot["run_id"]) for knot in knots}
    on_frontier = {knot["point_id"] for knot in knots}
    replaced = _replaced(points)
    return {
        point["point_id"]: _role(point, newest.get(series_key(point, workload)), on_frontier, replaced)
        for point in points
    }


def _role(point: Row, newest: tuple[Any, str] | None, on_frontier: set[str], replaced: set[str]) -> Role:
    if point["point_id"] in on_frontier:
        return "frontier"
    run = (point["run_date"], point["run_id"])
    if point["point_id"] in replaced or (newest and run != newest and point["run_date"] <= newest[0]):
        return "superseded"
    return "off_frontier" if point["valid"] else "invalid"


def _replaced(points: Sequence[Row]) -> set[str]:
    """Valid points with a later valid attempt at the same configuration in the same run: pareto.sql skips them."""
    standing: dict[tuple[object, ...], Row] = {}
    replaced = set()
    for point in sorted((p for p in points if p["valid"]), key=lambda p: (p["attempt"], p["point_id"])):
        earlier = standing.get(key := (*(point[name] for name in IDENTITY), point["run_id"]))
        if earlier:
            replaced.add(earlier["point_id"])
        standing[key] = point
    return replaced
