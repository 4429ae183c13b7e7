"""One draft to one row of POINTS: facts, GPUs held, throughput per GPU, interactivity, identity and validity.

Belongs here: what every format needs alike. Not here: what a foreign key means (the importers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pipeline.imports.draft import Draft, Job
from pipeline.imports.facts import Settled, settle
from pipeline.imports.fields import has_non_finite
from pipeline.imports.names import contradictions
from pipeline.imports.outcome import Outcome, Rejected, RowRejectedError
from pipeline.measure.client import in_bursts
from pipeline.measure.identity import point_id
from pipeline.measure.rates import cache_hit_share, interactivity, throughputs, tpot_column
from pipeline.measure.topology import UNKNOWN, n_gpus_held, topology, unknown_topology
from pipeline.measure.validity import reasons_for
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS

ToDraft = Callable[[Job, Any], Draft]


def read_rows(job: Job, source_format: str, rows: Sequence[object], to_draft: ToDraft) -> Outcome:
    """Every row by one importer. A row that is no point is rejected; none is dropped."""
    points: list[dict[str, Any]] = []
    requests: list[dict[str, Any]] = []
    rejected: list[Rejected] = []
    for index, row in enumerate(rows):
        try:
            draft = _draft(job, row, to_draft)
            point = assemble(job, draft, source_format, index)
        except RowRejectedError as refusal:
            rejected.append(Rejected(index, refusal.code, refusal.detail))
            continue
        points.append(point)
        requests += [{**request, "point_id": point["point_id"]} for request in draft.requests]
    return Outcome(
        source_format, len(rows), POINTS.from_rows(points), REQUESTS.from_rows(requests), tuple(rejected), ()
    )


def _draft(job: Job, row: object, to_draft: ToDraft) -> Draft:
    draft = to_draft(job, row)
    if isinstance(row, dict) and has_non_finite(row):
        draft.reasons.add("metric_not_finite")
    return draft


def assemble(job: Job, draft: Draft, source_format: str, source_row: int) -> dict[str, Any]:
    """The finished row. Raises RowRejectedError where a fact is missing or unknown."""
    settled = settle(job, draft)
    row: dict[str, Any] = {**draft.columns, **settled.columns}
    row["provenance"] = "imported"
    row["topology"] = row.get("topology") or topology(row)
    _settle_gpus(row, settled)
    if row["topology"] == UNKNOWN:
        row["topology"] = unknown_topology(row, job.source.name)
    _settle_throughput(row)
    if draft.steady_tok_s is not None and row["n_gpus"]:
        row["steady_throughput_tok_s_gpu"] = draft.steady_tok_s / row["n_gpus"]
    _settle_interactivity(row)
    if "client_bound" not in draft.reasons and in_bursts(row.get("itl_p50_s"), row.get("tpot_p50_s")):
        draft.notes.add("output_in_bursts")
    row["attempt"] = 1
    row["source_format"], row["source_file"] = source_format, job.source.name
    row["source_sha256"], row["source_row"] = job.source.sha256, source_row
    row["point_id"] = point_id(row)
    row["declared"] = sorted(settled.declared)
    row["notes"] = sorted(draft.notes | settled.notes | contradictions(job.name_says, row))
    row["reasons"] = reasons_for({**row, "reasons": draft.reasons})
    row["valid"] = not row["reasons"]
    return row


def _settle_gpus(row: dict[str, Any], settled: Settled) -> None:
    """A recorded count, then a product of sizes that are all recorded, then what is declared."""
    declared = settled.declared
    sizes_declared = declared & {"tp", "pp", "n_workers"}
    if "n_gpus" in declared and row.get("tp") and not sizes_declared:
        recorded = n_gpus_held({**row, "n_gpus": None})
        if recorded is not None and recorded != row["n_gpus"]:
            row["n_gpus"] = recorded
            declared.discard("n_gpus")
            settled.notes.add("declared_contradicts_file=n_gpus")
    if not row.get("n_gpus"):
        row["n_gpus"] = n_gpus_held(row)
        declared |= {"n_gpus"} if row["n_gpus"] and sizes_declared else set()


def _settle_throughput(row: dict[str, Any]) -> None:
    """Throughputs per GPU held from tokens and window, where the row does not bring them."""
    computed = throughputs(row)
    for key, value in computed.items():
        if row.get(key) is None:
            row[key] = value
    if row.get("cache_hit_share") is None and computed and (share := cache_hit_share(row)) is not None:
        row["cache_hit_share"] = share


def _settle_interactivity(row: dict[str, Any]) -> None:
    """1 / TPOT at the workload's percentile, where the importer has no better source."""
    if row.get("interactivity_tok_s_user") is not None:
        return
    speed = interactivity(row)
    if speed is not None:
        row["interactivity_tok_s_user"] = speed
        row.setdefault("interactivity_source", tpot_column(row["percentile"]))
    else:
        row.pop("interactivity_source", None)
