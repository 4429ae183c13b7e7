"""Tables of one GPU to its VERDICTS rows and back to what a reader of them asks. The rule is verdicts.py's."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.frontier.across import whole_history
from pipeline.frontier.verdicts import CurveRun, Judged, judged_on, window
from pipeline.measure.noise import Repeated
from pipeline.sweep.stop_rule import UNFINISHED
from pipeline.tables.knots import CURVE
from pipeline.tables.verdicts import VERDICTS

Row = Mapping[str, Any]

CURVE_NAMES = tuple(column.name for column in CURVE)
SIDE = ("throughput_tok_s_gpu", "throughput_std_tok_s_gpu", "n_repeats", "engine_builds")


@dataclass(frozen=True)
class Curves:
    """What ran on one GPU over some run dates: KNOTS, READINGS, POINTS and RUNS."""

    knots: pa.Table
    readings: pa.Table
    points: pa.Table
    runs: pa.Table


def verdict_table(
    connection: duckdb.DuckDBPyConnection, curves: Curves, days: Sequence[dt.date], wanted: Iterable[dt.date]
) -> pa.Table:
    """VERDICTS of the curves of the wanted days. ``days`` are all run dates of the GPU; ``curves`` hold every window.

    One day's rows depend on its window alone, so days judged together or one by one give the same rows.
    """
    history: dict[str, list[Row]] = {}
    for row in whole_history(connection, curves.knots, curves.readings, curves.points).to_pylist():
        history.setdefault(row["curve_id"], []).append(row)
    swept = _swept(curves.runs)
    by_day: dict[dt.date, list[CurveRun]] = {}
    for run in _curve_runs(history, _fastest(curves), swept):
        by_day.setdefault(run.run_date, []).append(run)
    rows: list[dict[str, object]] = []
    for day in wanted:
        for judged in judged_on([run for past in window(days, day) for run in by_day.get(past, ())], day):
            rows += _rows(judged, history, swept)
    return VERDICTS.from_rows(rows)


def _fastest(curves: Curves) -> dict[str, Repeated]:
    """The speed of every curve's fastest knot over the repeats of its point, in tok/s/user."""
    names = ("point_id", "interactivity_std_tok_s_user", "n_repeats")
    spread = {row["point_id"]: row for row in curves.points.select(names).to_pylist()}
    found: dict[str, Repeated] = {}
    for knot in curves.knots.sort_by("knot_index").to_pylist():
        point = spread.get(knot["point_id"], {})
        speed, std = knot["interactivity_tok_s_user"], point.get("interactivity_std_tok_s_user")
        found[knot["curve_id"]] = Repeated(speed, std, point.get("n_repeats"))
    return found


def _swept(runs: pa.Table) -> dict[str, Row]:
    """By run: its recipe, the build that it was swept with, and whether it came to its end."""
    found: dict[str, Row] = {}
    for row in runs.to_pylist():
        ended = UNFINISHED.above not in (row["stopped_above"], row["stopped_below"])
        earlier = found.get(row["run_id"], {"finished": True})
        about = {"recipe": row["recipe"], "sweep_build": row["engine_build"]}
        found[row["run_id"]] = {**about, "finished": ended and earlier["finished"]}
    return found


def _curve_runs(
    history: Mapping[str, Sequence[Row]], fastest: Mapping[str, Repeated], swept: Mapping[str, Row]
) -> list[CurveRun]:
    found = []
    for curve_id, rows in history.items():
        about = swept.get(rows[0]["run_id"], {})
        names = ("curve_id", "series_key", "run_id", "run_date", "run_started_at")
        readings = {
            row["target_tok_s_user"]: Repeated(
                row["throughput_tok_s_gpu"], row["throughput_std_tok_s_gpu"], row["n_repeats"]
            )
            for row in rows
            if row["throughput_tok_s_gpu"] is not None
        }
        run = CurveRun(
            **{name: rows[0][name] for name in names},
            recipe=about.get("recipe"),
            fastest=fastest[curve_id],
            readings=readings,
            finished=about.get("finished", True),
        )
        found.append(run)
    return found


def _rows(
    judged: Judged, history: Mapping[str, Sequence[Row]], swept: Mapping[str, Row]
) -> Iterator[dict[str, object]]:
    mine, about = history[judged.run.curve_id], swept.get(judged.run.run_id, {})
    against = judged.against
    shared = {
        **{name: mine[0][name] for name in CURVE_NAMES},
        **{name: about.get(name) for name in ("recipe", "sweep_build")},
        "repetition": judged.repetition,
        "against_curve_id": against.curve_id if against else None,
        "against_run_id": against.run_id if against else None,
        "against_run_date": against.run_date if against else None,
        "verdict": judged.verdict,
        "state": judged.state,
    }
    new, old = _by_target(mine), _by_target(history[against.curve_id] if against else ())
    for target, at in judged.targets.items():
        values = {"target_tok_s_user": target, "target_verdict": at.verdict, "ratio": at.ratio, "p_value": at.p_value}
        yield {**shared, **values, **_side("", new.get(target)), **_side("against_", old.get(target))}


def _by_target(rows: Iterable[Row]) -> dict[float, Row]:
    return {row["target_tok_s_user"]: row for row in rows}


def _side(prefix: str, row: Row | None) -> dict[str, object]:
    return {f"{prefix}{name}": row[name] if row else [] if name == "engine_builds" else None for name in SIDE}


@dataclass(frozen=True)
class CurveVerdict:
    """One judged curve with its VERDICTS rows, one a target; ``first`` holds what all of them share."""

    first: Row
    targets: tuple[Row, ...]

    @property
    def state(self) -> str | None:
        """suspected, confirmed, not_confirmed, recovered or None."""
        state: str | None = self.first["state"]
        return state

    @property
    def is_regression(self) -> bool:
        """A suspected or a confirmed one."""
        return self.state in ("suspected", "confirmed")

    @property
    def counted(self) -> tuple[Row, ...]:
        """The targets whose difference is outside the noise."""
        return tuple(row for row in self.targets if row["target_verdict"] in ("worse", "better"))


def curve_verdicts(verdicts: pa.Table) -> list[CurveVerdict]:
    """Rows of VERDICTS by curve, the oldest run first."""
    grouped: dict[str, list[Row]] = {}
    for row in verdicts.to_pylist():
        grouped.setdefault(row["curve_id"], []).append(row)
    found = [CurveVerdict(rows[0], tuple(rows)) for rows in grouped.values()]
    return sorted(found, key=lambda v: (v.first["run_date"], v.first["repetition"], v.first["curve_id"]))


def standing(verdicts: pa.Table) -> list[CurveVerdict]:
    """The last verdict of every series and recipe that says something: an unknown one does not end a suspicion."""
    last: dict[tuple[str, str | None], CurveVerdict] = {}
    for found in curve_verdicts(verdicts):
        if found.first["verdict"] != "unknown":
            last[found.first["series_key"], found.first["recipe"]] = found
    return sorted(last.values(), key=lambda found: str(found.first["curve_id"]))
