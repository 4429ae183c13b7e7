"""A measurement as stored rows: repeats, counters and samples of one point to POINTS, REPEATS, REQUESTS and SAMPLES,
and a run's points to its RUNS row.

Belongs here: which column comes from where, and what speaks against the point. Not here: the load (load.py), the
statistics (pipeline/measure) and the simulator's points (simulated.py). A measurement that failed is a row with
reasons: no request that succeeded, no repeat at all and a server that ended in the middle are all rows.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.measure.client import ClientFacts, client_bound, counts_mismatch, in_bursts, is_bimodal, too_slow
from pipeline.measure.counters import Counters, Rise, disagreement, rise, unexpected_hits
from pipeline.measure.device import DeviceIdentity, MeasuredWindow, device_columns, device_findings
from pipeline.measure.identity import point_id
from pipeline.measure.repeats import Repeat, over_repeats, repeat_rows
from pipeline.measure.requests import tpots_s
from pipeline.measure.target import Target, off_target
from pipeline.measure.validity import reasons_for
from pipeline.registry.entries import Workload
from pipeline.registry.measured import MeasuredRecipe, Topology
from pipeline.sweep.measured_plan import deployment
from pipeline.sweep.stop_rule import Stopped
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.samples import SAMPLES
from pipeline.tables.series import SERIES

Row = dict[str, Any]

SOURCE_FORMAT = "sweep"
MIN_DIFFERING = 0.05


@dataclass(frozen=True)
class PointFacts:
    """What is known of a point before it is measured. ``engine_build``: "<slug> <version> <hash>".

    ``fingerprint`` names this attempt and no other: two that recorded nothing are still two rows.
    """

    recipe_slug: str
    recipe: MeasuredRecipe
    topology: Topology
    workload: Workload
    concurrency: int
    run_id: str
    run_date: dt.date
    run_started_at: dt.datetime
    engine_build: str
    fingerprint: str
    device: DeviceIdentity
    attempt: int = 1


@dataclass(frozen=True)
class Measurement:
    """What was seen of a point. ``samples`` are SAMPLES rows without point_id; ``before`` and ``after`` of the engine.

    ``engine_ended`` is why the server ended, ``load_ended`` why the load stopped early, also for that; None otherwise.
    """

    repeats: Sequence[Repeat]
    samples: Sequence[Mapping[str, Any]] = ()
    before: Counters | None = None
    after: Counters | None = None
    client: ClientFacts = ClientFacts()
    engine_ended: str | None = None
    load_ended: str | None = None


@dataclass(frozen=True)
class MeasuredPoint:
    """One point with everything that it was computed from; every row carries its point_id."""

    point: Row
    repeats: pa.Table
    requests: pa.Table
    samples: pa.Table


def measured_point(connection: duckdb.DuckDBPyConnection, facts: PointFacts, measurement: Measurement) -> MeasuredPoint:
    """The rows of one measured point.

    Its statistics are means over the repeats and its counts sums; ``window_s`` is the sum of the repeats' windows.
    """
    row = _identity(facts)
    target = Target(facts.concurrency, facts.workload, row["n_gpus"])
    repeats = repeat_rows(connection, measurement.repeats, target)
    requests = _numbered(measurement.repeats)
    counted = rise(measurement.before, measurement.after)
    row |= over_repeats(repeats, target)
    windows = _windows(repeats)
    row |= _engine_columns(counted) | _client_columns(measurement.client)
    row |= device_columns(measurement.samples, windows, target.n_gpus)
    row["device_name"] = facts.device.name
    row["source_sha256"] = _hash(facts, requests)
    row["point_id"] = point_id(row)
    reasons, notes = _findings(facts, measurement, row, target, requests)
    on_device, of_device = device_findings(measurement.samples, windows, target.n_gpus)
    row["notes"] = sorted(notes | of_device)
    row["reasons"] = reasons_for({**row, "reasons": reasons | on_device})
    row["valid"] = not row["reasons"]
    return _with_tables(row, facts, repeats, requests, measurement.samples)


def run_row(
    facts: PointFacts, points: Sequence[Mapping[str, Any]], stopped: Stopped, launch_line: Sequence[str], wall_s: float
) -> Row:
    """One row of RUNS: one topology of a recipe with its POINTS rows, of which ``facts`` are those of any.

    ``launch_line`` are the server's arguments; a key among them is left out. ``measured_s`` are the windows' seconds.
    """
    identity = _identity(facts)
    series = {column.name: identity.get(column.name) for column in SERIES}
    return {
        **series,
        **{name: identity[name] for name in ("run_id", "topology", "engine_build", "run_date")},
        "recipe": facts.recipe_slug,
        "started_at": min([point["run_started_at"] for point in points], default=facts.run_started_at),
        "device_name": facts.device.name,
        "driver": facts.device.driver,
        "launch_line": shlex.join(_without_key(launch_line)),
        "stopped_below": stopped.below,
        "stopped_above": stopped.above,
        "n_points": len(points),
        "measured_s": float(sum(point["window_s"] or 0 for point in points)),
        "wall_s": wall_s,
    }


def _without_key(arguments: Sequence[str]) -> list[str]:
    """The arguments without the server's key, given as one word (--api-key=…) or as two."""
    kept = [word for word in arguments if not word.startswith("--api-key=")]
    if "--api-key" in kept:
        at = kept.index("--api-key")
        del kept[at : at + 2]
    return kept


def _identity(facts: PointFacts) -> Row:
    recipe, deployed = facts.recipe, deployment(facts.topology)
    columns: Row = {
        **{name: getattr(recipe, name) for name in ("model", "gpu", "workload", "engine", "precision", "provenance")},
        **{name: getattr(recipe, name) for name in ("spec_method", "kv_offload")},
        **deployed,
        "multinode": None if deployed["disaggregated"] else False,
        "engine_family": recipe.engine,
        "engine_build": facts.engine_build,
        "input_len_tok": facts.workload.input_len_tok,
        "output_len_tok": facts.workload.output_len_tok,
        "percentile": facts.workload.percentile,
        **{name: getattr(facts, name) for name in ("concurrency", "run_id", "run_date", "run_started_at", "attempt")},
        "declared": [],
        "source_format": SOURCE_FORMAT,
        "source_row": 0,
    }
    spelled = deployed["topology"].replace(" ", "_")
    return {**columns, "source_file": f"{facts.recipe_slug}.{spelled}.c{facts.concurrency}"}


def _numbered(repeats: Sequence[Repeat]) -> list[Row]:
    """The requests of all repeats, with their repeat and an index that no other request of the point has."""
    rows = [{**row, "repeat_index": index} for index, repeat in enumerate(repeats) for row in repeat.requests]
    return [{**row, "request_index": index} for index, row in enumerate(rows)]


def _windows(repeats: Sequence[Mapping[str, Any]]) -> list[MeasuredWindow]:
    return [
        MeasuredWindow(row["started_at"], row["window_s"], row["output_tok"] or 0)
        for row in repeats
        if row["started_at"] is not None and row["window_s"]
    ]


def _engine_columns(counted: Rise) -> Row:
    tokens = {f"server_{name}": getattr(counted, name) for name in ("input_tok", "output_tok", "cached_input_tok")}
    return {**tokens, "n_preemptions": counted.n_preemptions}


def _client_columns(client: ClientFacts) -> Row:
    return {"client_error_share": client.error_share, "client_cpu_cores": client.cpu_cores}


def _hash(facts: PointFacts, requests: Sequence[Mapping[str, Any]]) -> str:
    """Hash of what the row was computed from: the requests, and of which point they are."""
    canonical = json.dumps([facts.fingerprint, list(requests)], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _findings(
    facts: PointFacts, measurement: Measurement, row: Row, target: Target, requests: Sequence[Row]
) -> tuple[set[str], set[str]]:
    """Reasons and notes that only requests, counters and the client show."""
    counted = rise(measurement.before, measurement.after)
    reasons, notes = disagreement(counted, requests)
    found = {
        "engine_ended": measurement.engine_ended is not None,
        "load_ended": measurement.load_ended is not None and measurement.engine_ended is None,
        "client_bound": client_bound(tpots_s(requests)),
        "token_count_mismatch": counts_mismatch(row, measurement.client),
        "off_target_concurrency": any(off_target(repeat.requests, target) for repeat in measurement.repeats),
        "unexpected_cache_hits": target.is_fixed_length and _has_hits(row, counted, requests),
    }
    reasons |= {code for code, is_so in found.items() if is_so}
    if "client_bound" not in reasons and in_bursts(row["itl_p50_s"], row["tpot_p50_s"]):
        notes.add("output_in_bursts")
    return reasons, notes | _notes(facts, measurement, row)


def _has_hits(row: Row, counted: Rise, requests: Sequence[Row]) -> bool:
    """By the requests where the usage says it, else by the engine's counters, which hold the warm-up too."""
    if row["cached_input_tok"] is not None:
        return unexpected_hits(row["input_tok"], row["cached_input_tok"], row["n_successful"])
    return unexpected_hits(counted.input_tok, counted.cached_input_tok, len(requests))


def _notes(facts: PointFacts, measurement: Measurement, row: Row) -> set[str]:
    spread, mean = row["throughput_std_tok_s_gpu"], row.get("throughput_tok_s_gpu")
    differing = spread / mean if spread and mean else 0.0
    error_share = measurement.client.error_share or 0.0
    found = {
        "one_repeat": row["n_repeats"] == 1,
        f"repeats_differ={differing:.0%}": differing > MIN_DIFFERING,
        f"preempted={row['n_preemptions']}": bool(row["n_preemptions"]),
        f"client_too_slow={error_share:.0%}": too_slow(measurement.client),
        f"prompts_reused={measurement.client.n_reused_prompts}": measurement.client.n_reused_prompts > 0,
        f"usage_missing={measurement.client.n_without_usage}": measurement.client.n_without_usage > 0,
        "bimodal_tpot": _is_bimodal(measurement.repeats),
        "not_agentx_scenario": facts.recipe.workload == "agentx" and facts.recipe.load.scenario != "agentx",
    }
    return {note for note, is_so in found.items() if is_so}


def _is_bimodal(repeats: Sequence[Repeat]) -> bool:
    """Within a repeat, or because repeats differ from each other: one may report the other mode."""
    by_repeat = [tpots_s(repeat.requests) for repeat in repeats]
    return any(map(is_bimodal, [*by_repeat, [value for values in by_repeat for value in values]]))


def _with_tables(
    row: Row,
    facts: PointFacts,
    repeats: Sequence[Row],
    requests: Sequence[Row],
    samples: Sequence[Mapping[str, Any]],
) -> MeasuredPoint:
    own = {"point_id": row["point_id"]}
    started = [{**repeat, "started_at": repeat["started_at"] or facts.run_started_at} for repeat in repeats]
    return MeasuredPoint(
        row,
        REPEATS.from_rows([{**repeat, **own} for repeat in started]),
        REQUESTS.from_rows([{**request, **own} for request in requests]),
        SAMPLES.from_rows([{**sample, **own} for sample in samples]),
    )
