"""Single facts picked from a section's points: counts, run dates, the peak and the fastest point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.pages.page import Counts, Fastest, Peak, RunDates
from pipeline.pages.point_record import PointRecord
from pipeline.pages.records import latency_at

NO_VALID_POINT = "No point of this page is valid."

_CONFIG_COLUMNS = (
    "engine",
    "engine_build",
    "precision",
    "spec_method",
    "disaggregated",
    "multinode",
    "kv_offload",
    "input_len_tok",
    "output_len_tok",
    "topology",
)


def counts(rows: Sequence[Mapping[str, Any]], records: Sequence[PointRecord], n_series: int) -> Counts:
    """What the section stands on; points of superseded runs are counted apart and in nothing else.

    A published reading does not say its configuration and counts for none.
    """
    superseded = {record.point_id for record in records if record.role == "superseded"}
    current = [row for row in rows if row["point_id"] not in superseded]
    published = {record.point_id for record in records if record.published_reading}
    known = [row for row in current if row["point_id"] not in published]
    return Counts(
        n_series=n_series,
        n_configs=len({tuple(row[name] for name in _CONFIG_COLUMNS) for row in known}),
        n_points=len(current),
        n_invalid_points=sum(not row["valid"] for row in current),
        n_superseded_points=len(superseded),
    )


def in_use(records: Sequence[PointRecord]) -> list[PointRecord]:
    """The valid points of the newest curves: those that the section's numbers come from."""
    return [record for record in records if record.role in ("frontier", "off_frontier")]


def run_dates(records: Sequence[PointRecord]) -> RunDates:
    """First and last day of the points in use; of all points where none is valid."""
    days = [record.run_date for record in in_use(records) or records]
    return RunDates(first=min(days), last=max(days))


def peak(records: Sequence[PointRecord]) -> Peak:
    """The point in use with the highest throughput in tok/s/GPU; the faster of two equal ones."""
    known = [r for r in in_use(records) if r.throughput_tok_s_gpu is not None]
    if not known:
        return Peak(None, None, None, reason=NO_VALID_POINT)
    best = max(known, key=lambda r: (r.throughput_tok_s_gpu, r.interactivity_tok_s_user or 0.0, r.point_id))
    reason = None if best.interactivity_tok_s_user is not None else "The speed of this point was not recorded."
    return Peak(best.throughput_tok_s_gpu, best.interactivity_tok_s_user, best.point_id, reason)


def fastest(records: Sequence[PointRecord], percentile: int) -> Fastest:
    """The point in use with the lowest TTFT at the percentile, in s, and the TPOT of that same point."""
    known = [(ttft_s, r) for r in in_use(records) if (ttft_s := latency_at(r.latency.ttft, percentile)) is not None]
    if not known:
        reason = f"No valid point recorded a p{percentile} time to first token." if in_use(records) else NO_VALID_POINT
        return Fastest(None, None, percentile, None, reason)
    ttft_s, best = min(known, key=lambda pair: (pair[0], pair[1].point_id))
    tpot_s = latency_at(best.latency.tpot, percentile)
    reason_tpot = None if tpot_s is not None else f"The p{percentile} time per output token was not recorded."
    return Fastest(ttft_s, tpot_s, percentile, best.point_id, reason_tpot)
