"""What a publication changes: the state of every reading against the last one in the log, and why they differ.

The log is its own truth: a reading's last published state is its last row there, so the same pages give no new row.
Storing the log is a resource's; sentences and the feed are feed.py's.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import itertools
import math
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.measure.noise import Repeated, Verdict, noise_verdict
from pipeline.pages.page import AtLeast, LadderRow, Page
from pipeline.pages.point_record import PointRecord
from pipeline.tables.changes import CHANGES

FIRST = "first"
WITHDRAWN = "withdrawn"
CORRECTION = "correction"
NEW_BUILD = "new_build"
NEW_RECIPE = "new_recipe"
NEW_RUN = "new_run"
NEW_PRICE = "new_price"
PRICE_CORRECTION = "price_correction"

WHY = {
    FIRST: "published for the first time",
    WITHDRAWN: "no longer published",
    CORRECTION: "the same run is read differently: a row was added, corrected or found invalid",
    NEW_BUILD: "another build of the engine",
    NEW_RECIPE: "another configuration or series",
    NEW_RUN: "the same configuration was run again",
    NEW_PRICE: "another price row holds",
    PRICE_CORRECTION: "a price row was corrected",
}

_EQUAL = 1e-9
"""Relative size below which two numbers are the same one."""

_N_TOGETHER = 250
"""Changes that are rows of the log as Python objects at a time, of which a row has some 60."""

Key = tuple[str, str, str, str, float]
"""A reading: a section, and a target."""

SectionKey = tuple[str, str, str, str]
"""Model, GPU, workload and provenance."""


@dataclass(frozen=True)
class ReadingState:
    """One reading as it is published; columns of pipeline/tables/changes.py without old_ and new_."""

    throughput_tok_s_gpu: float | None
    throughput_std_tok_s_gpu: float | None
    n_repeats: int | None
    delivered_tok_s_user: float | None
    basis: str | None
    engine: str | None
    precision: str | None
    engine_builds: tuple[str, ...]
    configs: tuple[str, ...]
    runs: tuple[str, ...]
    point_ids: tuple[str, ...]
    price_ids: tuple[str, ...]
    usd_per_gpu_hour: tuple[float, ...]
    cost_usd_mtok: tuple[float, ...]


ABSENT = ReadingState(None, None, None, None, None, None, None, (), (), (), (), (), (), ())
"""The state of a reading that has no page."""

STATE_FIELDS = tuple(field.name for field in dataclasses.fields(ReadingState))
SECTION_COLUMNS = ("model", "gpu", "workload", "provenance")
KEY_COLUMNS = (*SECTION_COLUMNS, "target_tok_s_user")


@dataclass(frozen=True)
class Change:
    """One row of the log before it has its place and its day."""

    key: Key
    old: ReadingState
    new: ReadingState
    reasons: tuple[str, ...]
    noise: Verdict | None

    def row(self, sequence: int, published_on: dt.date) -> dict[str, Any]:
        """The CHANGES row."""
        states = {
            f"{when}_{name}": value for when in ("old", "new") for name, value in vars(getattr(self, when)).items()
        }
        body = dict(zip(KEY_COLUMNS, self.key, strict=True)) | {"reasons": self.reasons, "noise": self.noise} | states
        change_id = hashlib.sha256(repr((sequence, body)).encode()).hexdigest()[:16]
        return {"sequence": sequence, "change_id": change_id, "published_on": published_on, **body}


class LastStates:
    """The last published state of every reading in the log (CHANGES), section by section; no withdrawn one."""

    def __init__(self, log: pa.Table) -> None:
        newest = log.group_by(list(KEY_COLUMNS)).aggregate([("sequence", "max")])["sequence_max"]
        rows = log.filter(pc.and_(pc.is_in(log["sequence"], newest), pc.is_valid(log["new_basis"])))
        rows = rows.select([*KEY_COLUMNS, *(f"new_{name}" for name in STATE_FIELDS)])
        self._rows = rows.sort_by([(name, "ascending") for name in KEY_COLUMNS]).combine_chunks()
        self._spans: dict[SectionKey, tuple[int, int]] = {}
        start = 0
        for section, found in itertools.groupby(_sections(self._rows)):
            n_rows = sum(1 for _ in found)
            self._spans[section] = (start, n_rows)
            start += n_rows

    def take(self, section: SectionKey) -> dict[Key, ReadingState]:
        """The states of one section, which are not given again; none of a section that was not published."""
        rows = self._rows.slice(*self._spans.pop(section, (0, 0))).to_pylist()
        return {(*section, row["target_tok_s_user"]): _logged_state(row) for row in rows}

    def sections(self) -> tuple[SectionKey, ...]:
        """The sections that were not taken yet."""
        return tuple(self._spans)


def _sections(rows: pa.Table) -> Iterator[SectionKey]:
    for batch in rows.select(list(SECTION_COLUMNS)).to_batches(max_chunksize=_N_TOGETHER):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _logged_state(row: Mapping[str, Any]) -> ReadingState:
    values = {name: row[f"new_{name}"] for name in STATE_FIELDS}
    state: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    return ReadingState(**state)


def appended(log: pa.Table, changes: Iterable[Change], published_on: dt.date) -> pa.Table:
    """The log (CHANGES) with the changes of one publication at its end."""
    rows = (change.row(log.num_rows + n, published_on) for n, change in enumerate(changes))
    added = []
    while some := list(itertools.islice(rows, _N_TOGETHER)):
        added.append(CHANGES.from_rows(some))
    return pa.concat_tables([log, *added]).combine_chunks() if added else log


def page_states(page: Page) -> Iterator[tuple[Key, ReadingState]]:
    """Every reading of a page's ladder, the target taken as a minimum."""
    points = {point.point_id: point for point in page.points}
    for row in page.ladder:
        key = (page.model.slug, page.gpu.slug, page.workload.slug, page.provenance, row.target_tok_s_user)
        yield key, _state(page, row, [points[point_id] for point_id in row.at_least.point_ids])


def _state(page: Page, row: LadderRow, points: Sequence[PointRecord]) -> ReadingState:
    reading = row.at_least
    spreads = [point.throughput_std_tok_s_gpu for point in points]
    repeats = [point.n_repeats for point in points]
    known = [cost for cost in page.costs if cost.tier in (reading.cost_usd_mtok or {})]
    return ReadingState(
        throughput_tok_s_gpu=reading.throughput_tok_s_gpu,
        throughput_std_tok_s_gpu=max((s for s in spreads if s is not None), default=None)
        if all_known(spreads)
        else None,
        n_repeats=min((n for n in repeats if n is not None), default=None) if all_known(repeats) else None,
        delivered_tok_s_user=reading.delivered_tok_s_user,
        basis=reading.basis,
        engine=reading.engine,
        precision=reading.precision,
        engine_builds=_sorted(point.engine_build for point in points),
        configs=_sorted(_config(point) for point in points),
        runs=_sorted(f"{point.run_date} {point.run_id}" for point in points),
        point_ids=reading.point_ids,
        price_ids=tuple(cost.price_id for cost in known),
        usd_per_gpu_hour=tuple(cost.usd_per_gpu_hour for cost in known),
        cost_usd_mtok=tuple(_cost(reading, cost.tier) for cost in known),
    )


def all_known(values: Sequence[object]) -> bool:
    """No value is None; true for none."""
    return all(value is not None for value in values)


def _cost(reading: AtLeast, tier: str) -> float:
    return (reading.cost_usd_mtok or {})[tier]


def _sorted(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


def _config(point: PointRecord) -> str:
    return " ".join(word for word in (point.topology, point.spec_method) if word)


def change_between(key: Key, old: ReadingState, new: ReadingState) -> Change | None:
    """The change of one reading; None where everything that a reader sees of it is the same."""
    reading, prices = _reading_reasons(old, new), _price_reasons(old, new)
    reasons = (*reading, *prices)
    return Change(key, old, new, reasons, _noise(old, new)) if reasons else None


def _reading_reasons(old: ReadingState, new: ReadingState) -> tuple[str, ...]:
    if old.basis is None:
        return () if new.throughput_tok_s_gpu is None else (FIRST,)
    if new.basis is None:
        return (WITHDRAWN,)
    if _same(old, new):
        return ()
    if set(old.runs) == set(new.runs):
        return (CORRECTION,)
    builds = bool(old.engine_builds and new.engine_builds) and old.engine_builds != new.engine_builds
    known = bool(old.engine and new.engine)  # what is not reached has no configuration to differ in
    configs = known and (old.engine, old.precision, old.configs) != (new.engine, new.precision, new.configs)
    return ((NEW_BUILD,) if builds else ()) + ((NEW_RECIPE,) if configs else ()) or (NEW_RUN,)


def _same(old: ReadingState, new: ReadingState) -> bool:
    words = ("basis", "engine", "precision")
    numbers = ("throughput_tok_s_gpu", "delivered_tok_s_user")
    return all(getattr(old, n) == getattr(new, n) for n in words) and all(
        _equal(getattr(old, n), getattr(new, n)) for n in numbers
    )


def _equal(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else math.isclose(a, b, rel_tol=_EQUAL)


def _price_reasons(old: ReadingState, new: ReadingState) -> tuple[str, ...]:
    if old.basis is None or new.basis is None or not (old.cost_usd_mtok or new.cost_usd_mtok):
        return ()
    if old.throughput_tok_s_gpu is None or new.throughput_tok_s_gpu is None:
        return ()
    held = set(old.price_ids) == set(new.price_ids)
    rates = corrected_prices(
        dict(zip(old.price_ids, old.usd_per_gpu_hour, strict=True)),
        dict(zip(new.price_ids, new.usd_per_gpu_hour, strict=True)),
    )
    return (() if held else (NEW_PRICE,)) + ((PRICE_CORRECTION,) if rates else ())


def corrected_prices(old: Mapping[str, float], new: Mapping[str, float]) -> tuple[str, ...]:
    """Price rows that hold before and after with another rate [USD/GPU/h], in the order of the new ones."""
    return tuple(name for name, rate in new.items() if name in old and not _equal(old[name], rate))


def _noise(old: ReadingState, new: ReadingState) -> Verdict | None:
    before, after = old.throughput_tok_s_gpu, new.throughput_tok_s_gpu
    if before is None or after is None or _equal(before, after):
        return None
    return noise_verdict(
        Repeated(before, old.throughput_std_tok_s_gpu, old.n_repeats),
        Repeated(after, new.throughput_std_tok_s_gpu, new.n_repeats),
    )


class Publication:
    """The changes of one publication, page by page against the states before it.

    They are held pickled until all are known: a first publication, or a price, changes every reading.
    """

    def __init__(self, before: LastStates) -> None:
        self._before = before
        self._changes: list[tuple[SectionKey, bytes]] = []

    def add(self, sections: Iterable[Page]) -> None:
        """Compare the readings of one pair."""
        for page in sections:
            section = (page.model.slug, page.gpu.slug, page.workload.slug, page.provenance)
            self._compare(section, dict(page_states(page)))

    def finished(self) -> Iterator[Change]:
        """All changes, by key, each once; readings that were published before and were not added are withdrawn."""
        for section in self._before.sections():
            self._compare(section, {})
        self._changes.sort(reverse=True)
        while self._changes:
            yield from pickle.loads(self._changes.pop()[1])

    def _compare(self, section: SectionKey, now: Mapping[Key, ReadingState]) -> None:
        before = self._before.take(section)
        keys = sorted({*before, *now})
        changes = [change_between(key, before.get(key, ABSENT), now.get(key, ABSENT)) for key in keys]
        if any(changes):
            self._changes.append((section, pickle.dumps([change for change in changes if change])))
