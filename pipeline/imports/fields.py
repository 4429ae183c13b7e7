"""Values out of foreign JSON and CSV, safely: what is not the expected kind is None, never a guess.

Belongs here: one value in, one value out. Not here: which key means what; that is each importer's table.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from typing import Any

from pipeline.units import NS_PER_S, ns_from_seconds

MAX_COUNT = 2**53
MAX_NS = 10**18
"""Some 30 years: sums of two of them fit an int64."""
MAX_TEXT = 300
MAX_REQUEST_TOK = 10**9
NO_LIMIT_REQ_S = 1e6

Row = Mapping[str, Any]


def mapping(value: object) -> Row:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """A JSON list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A finite JSON number. None for text, booleans, NaN, infinities and integers beyond a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


def positive(value: object) -> float | None:
    """A finite number above 0. Tools write 0 where a statistic could not be computed."""
    found = number(value)
    return found if found is not None and found > 0 else None


def count(value: object) -> int | None:
    """A whole number from 0 to 2**53, also as digits (benchmark metadata is text). None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}", value):
        return int(value)
    found = number(value)
    if found is None or found != int(found) or not 0 <= found <= MAX_COUNT:
        return None
    return int(found)


def request_tokens(value: object) -> int | None:
    """Tokens of one request; None beyond 10**9, so that a sum over any file's requests fits an int64."""
    found = count(value)
    return found if found is not None and found <= MAX_REQUEST_TOK else None


def size(value: object) -> int | None:
    """A count of at least 1: a parallel size, a concurrency, a number of GPUs. 0 is not said."""
    return count(value) or None


def duration_ns(seconds: object) -> int | None:
    """Nanoseconds of a duration or clock reading; None if negative, not a number, or beyond 30 years."""
    found = number(seconds)
    return ns_from_seconds(found) if found is not None and 0 <= found * NS_PER_S < MAX_NS else None


def epoch_ns(value: object) -> int | None:
    """Whole nanoseconds since 1970, exact; None for what is no int64 from 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**63 else None


def text(value: object) -> str | None:
    """A word or line of at most 300 characters, without control characters. None if empty or not text."""
    if not isinstance(value, str):
        return None
    clean = value.encode("utf-8", "replace").decode()
    clean = " ".join("".join(c if c.isprintable() else " " for c in clean).split())[:MAX_TEXT]
    return clean or None


def flag(value: object) -> bool | None:
    """A boolean, also as the text true or false. None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def request_rate(value: object) -> float | None:
    """Offered requests per second. None for no limit: null, inf, Infinity, or a million and more."""
    rate = positive(value)
    return rate if rate is not None and rate < NO_LIMIT_REQ_S else None


def link(value: object) -> str | None:
    """An http address without spaces, quotes or angle brackets; None for anything else."""
    found = text(value)
    return found if found and re.fullmatch(r"https?://[^\s\"'<>\\]+", found) else None


def day(value: object) -> dt.date | None:
    """The UTC day of a date or instant: 2026-06-07, 2026-06-07T05:59:09Z, 20260607-055909. None if it is none."""
    found = text(value)
    if found is None:
        return None
    instant = moment(found)
    if instant is not None:
        return instant.date()
    digits = re.match(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d)", found)
    return _date(*(int(part) for part in digits.groups())) if digits else None


def moment(value: object) -> dt.datetime | None:
    """An aware instant in UTC. None where the text has no zone: a local time is no instant."""
    found = text(value)
    if found is None or len(found) < 11:
        return None
    try:
        instant = dt.datetime.fromisoformat(found)
        return instant.astimezone(dt.UTC) if instant.tzinfo else None
    except (ValueError, OverflowError):
        return None


def moment_from_unix(seconds: object) -> dt.datetime | None:
    """Seconds since 1970 to a UTC instant; None for what is no plausible time (before 2015, after 2100)."""
    found = number(seconds)
    if found is None or not 1.42e9 < found < 4.1e9:
        return None
    return dt.datetime.fromtimestamp(found, dt.UTC)


def _date(year: int, month: int, day_: int) -> dt.date | None:
    try:
        return dt.date(year, month, day_)
    except ValueError:
        return None


def has_non_finite(row: Row, *, depth: int = 3) -> bool:
    """Whether some number of a row, not inside a list, is NaN or infinite; request_rate may be, it means no limit."""
    for key, value in row.items():
        if isinstance(value, float) and not math.isfinite(value) and key != "request_rate":
            return True
        if depth and isinstance(value, dict) and has_non_finite(value, depth=depth - 1):
            return True
    return False
