"""The curves of a page as they are published in data.json: series, frontier points, and the runs of every series."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

Basis = Literal["measured", "interpolated", "faster_config", "unreachable"]


@dataclass(frozen=True)
class Series:
    """One curve of the page: the newest of its series. ``reason`` says why something is null, if anything is."""

    label: str
    curve_id: str
    engine: str
    precision: str | None
    spec_method: str | None
    disaggregated: bool | None
    multinode: bool | None
    kv_offload: str | None
    run_id: str
    run_date: dt.date
    n_points: int
    reason: str | None


@dataclass(frozen=True)
class CurveReading:
    """One curve at one target, the target taken as a minimum; the spread is over repeats of the raw rows."""

    target_tok_s_user: float
    throughput_tok_s_gpu: float | None
    throughput_std_tok_s_gpu: float | None
    delivered_tok_s_user: float | None
    basis: Basis
    n_repeats: int | None
    engine_builds: tuple[str, ...]
    topologies: tuple[str, ...]
    point_ids: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True)
class CurveHistory:
    """One run of one series; ``in_use``: the newest. The two newest have every target, older ones the primary one."""

    series: str
    curve_id: str
    engine: str
    precision: str | None
    spec_method: str | None
    run_id: str
    run_date: dt.date
    in_use: bool
    readings: tuple[CurveReading, ...]


@dataclass(frozen=True)
class FrontierPoint:
    """One knot: ``slope`` is Steffen's, in tok/s/GPU per tok/s/user, null for a curve of one point.

    ``combined`` is true for a point of the frontier over all series of the page.
    """

    series: str
    interactivity_tok_s_user: float
    throughput_tok_s_gpu: float
    slope: float | None
    point_id: str
    combined: bool
