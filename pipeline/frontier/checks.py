"""Promises about knots: pure predicates that return violations, empty where kept."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pyarrow as pa


def frontier_falls(knots: pa.Table) -> list[str]:
    """Within a curve, speed rises strictly and throughput falls strictly."""
    names = ("curve_id", "knot_index", "interactivity_tok_s_user", "throughput_tok_s_gpu")
    rows = sorted(zip(*(knots[n].to_pylist() for n in names), strict=True))
    return [
        f"{curve}: knot {j} ({x2:g}, {y2:g}) after ({x1:g}, {y1:g}) does not fall"
        for (curve, _, x1, y1), (other, j, x2, y2) in itertools.pairwise(rows)
        if curve == other and not (x2 > x1 and y2 < y1)
    ]


def knots_are_rows(knots: pa.Table, points: pa.Table) -> list[str]:
    """Every knot is a valid raw row, to the last digit."""
    names = ("point_id", "interactivity_tok_s_user", "throughput_tok_s_gpu")
    rows = {r[0]: r[1:] for r in _rows(points, (*names, "valid")) if r[-1]}
    return [
        f"{point_id}: the knot ({x:g}, {y:g}) is not a valid raw row"
        for point_id, x, y in _rows(knots, names)
        if rows.get(point_id) != (x, y, True)
    ]


def _rows(table: pa.Table, names: Iterable[str]) -> Iterable[tuple]:  # type: ignore[type-arg]
    return zip(*(table[n].to_pylist() for n in names), strict=True)
