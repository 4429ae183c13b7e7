"""Each new curve against the one before it: within the noise of the repeats, better, worse or unknown.

Belongs here: the rule for a curve and what follows for its series (suspected, confirmed, not confirmed, recovered).
Not here: the test of one difference and its correction for several (measure/noise.py), asking for a sweep
(pipeline/automation/regression_sensor.py), words (verdict_words.py).

A chain is one series swept by one recipe, in the order of its runs. A run that is worse makes a suspicion, and the next
run is held against the same earlier curve: worse again confirms it, anything else says that it was the run. What was
confirmed is the new measure; a run that is better than it, and not worse than before, is a recovery.
"""

from __future__ import annotations

import bisect
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipeline.measure.noise import Repeated, holm, welch_p_value

Verdict = Literal["within", "better", "worse", "unknown"]
State = Literal["suspected", "confirmed", "not_confirmed", "recovered"]

N_RUN_DATES_BACK = 14
"""A curve's past: what ran on its day and on this many run dates of its GPU before that."""

LONG_AGO = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class CurveRun:
    """One curve. ``readings`` by target in tok/s/user, only where it has a value, in tok/s/GPU.

    ``fastest`` is the speed of its fastest knot in tok/s/user: it decides about targets that it no longer reaches.
    """

    curve_id: str
    series_key: str
    recipe: str | None
    run_id: str
    run_date: dt.date
    run_started_at: dt.datetime | None
    fastest: Repeated
    readings: Mapping[float, Repeated] = field(hash=False, compare=False)
    finished: bool = True

    @property
    def place(self) -> tuple[object, ...]:
        """Its place in the order of the chain: the same as in newest.sql."""
        return (self.run_date, self.run_started_at is not None, self.run_started_at or LONG_AGO, self.run_id)


@dataclass(frozen=True)
class AtTarget:
    """One target: its verdict, the ratio new over old (None where a side has no reading) and its p-value."""

    verdict: Verdict
    ratio: float | None
    p_value: float | None


@dataclass(frozen=True)
class Judged:
    """One curve against an earlier one, None for the first; ``targets`` are those that either side reaches."""

    run: CurveRun
    against: CurveRun | None
    verdict: Verdict
    state: State | None
    targets: Mapping[float, AtTarget]
    repetition: int


@dataclass(frozen=True)
class _Chain:
    """What a new run is held against, whether a suspicion waits for it, and what was before a confirmed regression."""

    good: CurveRun | None = None
    suspected: bool = False
    before: CurveRun | None = None


def window(days: Sequence[dt.date], day: dt.date) -> Sequence[dt.date]:
    """The run dates that a verdict of ``day`` may look at: the day and the N_RUN_DATES_BACK before it. Days sorted."""
    end = bisect.bisect_right(days, day)
    return days[max(0, end - N_RUN_DATES_BACK - 1) : end]


def looking_back(days: Sequence[dt.date], changed: Iterable[dt.date]) -> list[dt.date]:
    """The run dates whose verdicts look at one of the changed ones, these among them. Days sorted."""
    found: set[dt.date] = set()
    for day in changed:
        start = bisect.bisect_left(days, day)
        found.update(days[start : start + N_RUN_DATES_BACK + 1])
    return sorted(found)


def judged_on(runs: Iterable[CurveRun], day: dt.date) -> list[Judged]:
    """The verdicts of the curves of one day, by curve; ``runs`` are those of its window."""
    chains: dict[tuple[str, str | None], list[CurveRun]] = {}
    for run in sorted(runs, key=lambda run: run.place):
        chains.setdefault((run.series_key, run.recipe), []).append(run)
    found = [judged for chain in chains.values() for judged in _along(chain) if judged.run.run_date == day]
    return sorted(found, key=lambda judged: judged.run.curve_id)


def _along(runs: Sequence[CurveRun]) -> Iterator[Judged]:
    chain = _Chain()
    for n, run in enumerate(runs):
        repetition = 1 + sum(earlier.run_date == run.run_date for earlier in runs[:n])
        against = chain.good
        verdict, targets = _held_against(against, run)
        state = _state(chain, run, verdict)
        if run.finished:
            chain = _after(chain, run, state)
        yield Judged(run, against, verdict, state, targets, repetition)


def _held_against(against: CurveRun | None, run: CurveRun) -> tuple[Verdict, dict[float, AtTarget]]:
    return compared(against, run) if against and run.finished else ("unknown", _unjudged(against, run))


def _state(chain: _Chain, run: CurveRun, verdict: Verdict) -> State | None:
    """What a verdict means for the series."""
    if verdict == "unknown":
        return None
    if chain.suspected:
        return "confirmed" if verdict == "worse" else "not_confirmed"
    if verdict == "worse":
        return "suspected"
    if verdict == "better" and chain.before and compared(chain.before, run)[0] in ("within", "better"):
        return "recovered"
    return None


def _after(chain: _Chain, run: CurveRun, state: State | None) -> _Chain:
    """A suspected run is held against nothing; one without repeats never takes the place of one that has them."""
    if state == "suspected":
        return _Chain(chain.good, suspected=True, before=chain.before)
    if chain.good and _is_repeated(chain.good) and not _is_repeated(run):
        return chain
    before = {"confirmed": chain.good, "recovered": None}.get(state or "", chain.before)
    return _Chain(run, before=before)


def _is_repeated(run: CurveRun) -> bool:
    return any(welch_p_value(reading, reading) is not None for reading in run.readings.values())


def compared(old: CurveRun, new: CurveRun) -> tuple[Verdict, dict[float, AtTarget]]:
    """The verdict on a curve, and on every target that either side reaches.

    A target counts where its difference is outside the noise after Holm's correction over the curve's targets; targets
    that were read from the same points count once. A target that only one side reaches is judged by the speed of the
    fastest points. ``worse`` where a target is worse, else ``better`` where one is; ``unknown`` where nothing is known.
    """
    pairs = {target: _pair(old, new, target) for target in sorted({*old.readings, *new.readings})}
    p_values = {target: welch_p_value(*pair) for target, pair in pairs.items()}
    known = {pairs[target]: p for target, p in p_values.items() if p is not None}
    counted = holm(known)
    verdicts = {target: _verdict(pair, p_values[target], counts=pair in counted) for target, pair in pairs.items()}
    targets = {t: AtTarget(verdict, ratio_at(old, new, t), p_values[t]) for t, verdict in verdicts.items()}
    return _together(list(verdicts.values())), targets


def _pair(old: CurveRun, new: CurveRun, target: float) -> tuple[Repeated, Repeated]:
    before, after = old.readings.get(target), new.readings.get(target)
    return (before, after) if before and after else (old.fastest, new.fastest)


def _verdict(pair: tuple[Repeated, Repeated], p_value: float | None, *, counts: bool) -> Verdict:
    if p_value is None:
        return "unknown"
    if not counts:
        return "within"
    return "worse" if pair[1].mean < pair[0].mean else "better"


def ratio_at(old: CurveRun, new: CurveRun, target: float) -> float | None:
    """New over old reading at a target; None where one side has none."""
    before, after = old.readings.get(target), new.readings.get(target)
    return after.mean / before.mean if before and after else None


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    ranked: tuple[Verdict, ...] = ("worse", "better", "within")
    return next((verdict for verdict in ranked if verdict in verdicts), "unknown")


def _unjudged(against: CurveRun | None, run: CurveRun) -> dict[float, AtTarget]:
    targets = sorted({*run.readings, *(against.readings if against else {})})
    return {t: AtTarget("unknown", ratio_at(against, run, t) if against else None, None) for t in targets}
