"""What in a valid price book looks wrong: jumps, tiers out of order, gaps, odd days, GPUs without a price.

A warning stops nothing: prices do jump. What makes a row invalid is pipeline/registry/price_rows.py's.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.errors import PriceError
from pipeline.registry.entries import Tier
from pipeline.registry.price_rows import PriceRow

MAX_FACTOR = 2.0
"""Between two rows of one GPU and tier in time: a rate more than this many times higher or lower is flagged."""
EARLIEST = dt.date(2020, 1, 1)
MAX_DAYS_AHEAD = 366


def days_of_prices(today: dt.date) -> tuple[dt.date, dt.date]:
    """The first and the last day on which a price may be said to begin."""
    return EARLIEST, today + dt.timedelta(MAX_DAYS_AHEAD)


def refuse_odd_day(first_day: dt.date, today: dt.date, option: str = "--from") -> None:
    """Refuse what is a warning in a book, where it is typed: it would be published. Raises PriceError."""
    earliest, last = days_of_prices(today)
    if not earliest <= first_day <= last:
        raise PriceError(
            "no price begins on that day",
            where=f"{option} {first_day}",
            expected=f"{earliest} to {last}",
            next_step="Correct the day.",
        )


@dataclass(frozen=True)
class PriceWarning:
    """One oddity in one sentence, and the lines of the rows that it is about (none: about no row)."""

    text: str
    lines: frozenset[int]


def price_warnings(
    rows: Iterable[PriceRow], tiers: Mapping[str, Tier], file: str, gpus: Iterable[str], today: dt.date
) -> list[PriceWarning]:
    """All oddities of a valid book, by line; ``gpus`` are those that have results. Replaced rows are left out."""
    live = sorted((r for r in rows if not r.price.replaced), key=lambda r: r.price.valid_from)
    found = [*_odd_days(live, file, today), *_future_corrections(rows, file, today)]
    for series in _series(live):
        found += [*_jumps(series, file), *_gaps(series, file)]
    found += _disorder(live, tiers, file)
    found += _priceless(live, file, gpus, today)
    return sorted(found, key=lambda warning: sorted(warning.lines) or [len(live) + 1_000_000])


def _series(live: Sequence[PriceRow]) -> list[list[PriceRow]]:
    found: dict[tuple[str, str], list[PriceRow]] = {}
    for row in live:
        found.setdefault((row.price.gpu, row.price.tier), []).append(row)
    return list(found.values())


def _about(text: str, file: str, *rows: PriceRow) -> PriceWarning:
    lines = sorted(row.line for row in rows)
    place = f"line {lines[0]}" if len(lines) == 1 else f"lines {' and '.join(map(str, lines))}"
    return PriceWarning(f"{file} {place}: {text}", frozenset(lines))


def _odd_days(live: Sequence[PriceRow], file: str, today: dt.date) -> Iterator[PriceWarning]:
    earliest, last = days_of_prices(today)
    for row in live:
        if not earliest <= row.price.valid_from <= last:
            yield _about(
                f"{row.price.price_id} begins on {row.price.valid_from}; expected {earliest} to {last}. "
                "Correct the day if it is a slip.",
                file,
                row,
            )


def _future_corrections(rows: Iterable[PriceRow], file: str, today: dt.date) -> Iterator[PriceWarning]:
    for row in rows:
        day = max(row.price.corrected_on or today, row.price.recorded_on or today)
        if day > today:
            yield _about(
                f"{row.price.price_id} is corrected on {day}, after today ({today}, UTC); expected a day that has "
                "been. The correction counts already; correct its day.",
                file,
                row,
            )


def _jumps(series: Sequence[PriceRow], file: str) -> Iterator[PriceWarning]:
    for last, row in itertools.pairwise(series):
        factor = row.price.usd_per_gpu_hour / last.price.usd_per_gpu_hour
        if not 1 / MAX_FACTOR <= factor <= MAX_FACTOR:
            yield _about(
                f"{row.price.price_id} is {row.price.usd_per_gpu_hour:g} USD per GPU-hour after "
                f"{last.price.usd_per_gpu_hour:g}, {factor:.3g} times as much; expected {1 / MAX_FACTOR:g} to "
                f"{MAX_FACTOR:g} times. Check the source, the unit and the number of GPUs that it is for.",
                file,
                row,
            )


def _gaps(series: Sequence[PriceRow], file: str) -> Iterator[PriceWarning]:
    for last, row in itertools.pairwise(series):
        if last.price.valid_to and last.price.valid_to < row.price.valid_from:
            yield _about(
                f"no price of {row.price.gpu}, {row.price.tier} from {last.price.valid_to} until "
                f"{row.price.valid_from}; expected {last.price.price_id} to end where the next row begins. Add the "
                "price of those days, or leave it if there was none: they have no cost.",
                file,
                last,
                row,
            )


def _disorder(live: Sequence[PriceRow], tiers: Mapping[str, Tier], file: str) -> Iterator[PriceWarning]:
    for cheap, dear in _pairs_of_one_gpu(live):
        a, b = cheap.price, dear.price
        if tiers[a.tier].rank >= tiers[b.tier].rank or b.usd_per_gpu_hour >= a.usd_per_gpu_hour:
            continue
        if a.overlaps(b.model_copy(update={"tier": a.tier})):
            yield _about(
                f"{b.price_id} ({b.usd_per_gpu_hour:g} USD per GPU-hour) is below {a.price_id} "
                f"({a.usd_per_gpu_hour:g}), which holds on the same days; expected {a.tier} to be the cheaper tier. "
                "Check both sources.",
                file,
                cheap,
                dear,
            )


def _pairs_of_one_gpu(live: Sequence[PriceRow]) -> Iterator[tuple[PriceRow, PriceRow]]:
    by_gpu: dict[str, list[PriceRow]] = {}
    for row in live:
        by_gpu.setdefault(row.price.gpu, []).append(row)
    return itertools.chain.from_iterable(itertools.permutations(rows, 2) for rows in by_gpu.values())


def _priceless(live: Sequence[PriceRow], file: str, gpus: Iterable[str], today: dt.date) -> Iterator[PriceWarning]:
    priced = {
        row.price.gpu
        for row in live
        if row.price.valid_from <= today and (row.price.valid_to is None or row.price.valid_to > today)
    }
    for gpu in sorted(set(gpus) - priced):
        yield PriceWarning(
            f"{file}: {gpu} has results, and no quoted price holds on {today}; expected one of any tier. Add it: "
            f"frontier prices add {gpu} TIER USD --from DAY --source TEXT.",
            frozenset(),
        )
