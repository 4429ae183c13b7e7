"""What a file's name says. Evidence where the content is silent on lengths, and a note where the two differ.

Belongs here: reading words and patterns out of a name. Not here: deciding; content always wins (facts.py, lengths.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.registry.registry import Registry

_K_LENGTHS = re.compile(r"(?<![0-9a-z])(\d{1,3})k(\d{1,3})k(?![0-9a-z])")
_TOKEN_LENGTHS = (
    re.compile(r"isl[-_]?(\d{1,6})[-_]+osl[-_]?(\d{1,6})"),
    re.compile(r"(?<![a-z])in[-_]?(\d{1,6})[-_]+out[-_]?(\d{1,6})"),
    re.compile(r"ctx(\d{1,6}).*?[-_]o(\d{1,6})(?!\d)"),
)
_CONCURRENCY = re.compile(r"(?:conc|concurrency|(?<![a-z])bs|(?<![a-z])c)[-_=]?(\d{1,5})(?![0-9a-z])")
MAX_WORDS = 4
_TP = re.compile(r"(?<![a-z])tp[-_]?(\d{1,3})(?![0-9])")


def lengths_in_name(name: str) -> tuple[int, int] | None:
    """Nominal input and output length [tok], from 8k1k, isl1024_osl128, in512_out128 or CTX1024…_O128; else None."""
    lowered = name.lower()
    found = _K_LENGTHS.search(lowered)
    if found:
        return int(found[1]) * 1024, int(found[2]) * 1024
    for pattern in _TOKEN_LENGTHS:
        found = pattern.search(lowered)
        if found and int(found[1]) and int(found[2]):
            return int(found[1]), int(found[2])
    return None


def said_by_name(name: str, registry: Registry) -> dict[str, str | int]:
    """Model, engine, gpu (slugs), concurrency and tp that a name says, each where it says exactly one."""
    said = {
        "model": _only(name, registry.model_slug, n_words=MAX_WORDS),
        "engine": _only(name, registry.engine_slug, n_words=MAX_WORDS),
        "gpu": _only(name, registry.gpu_slug, n_words=1),
        "concurrency": _number(_CONCURRENCY, name),
        "tp": _number(_TP, name),
    }
    return {key: value for key, value in said.items() if value is not None}


def contradictions(said: Mapping[str, str | int], columns: Mapping[str, Any]) -> set[str]:
    """Notes name_says_…=value for what a name says otherwise than the content; an engine's family is no other."""
    family = columns.get("engine_family")
    return {
        f"name_says_{key}={value}"
        for key, value in said.items()
        if columns.get(key) is not None and value not in (columns[key], family)
    }


def _only(name: str, slug_of: Callable[[str], str | None], *, n_words: int) -> str | None:
    """The one thing that the last part of a name names; None where it names none, or several.

    The longest run of up to ``n_words`` words counts: dsv4-flash is one model, not dsv4. A GPU is one word: its
    lookup cuts decorations off, and b300-b200 would be b300.
    """
    base = name.rsplit("/", 1)[-1].lower()
    words = [word for word in re.split(r"[^a-z0-9.]+|\.(?!\d)", base) if word and not word.isdigit()]
    found: set[str] = set()
    while words:
        n_used, slug = _longest(words[:n_words], slug_of)
        found |= {slug} if slug else set()
        words = words[n_used:]
    return found.pop() if len(found) == 1 else None


def _longest(words: list[str], slug_of: Callable[[str], str | None]) -> tuple[int, str | None]:
    for n_used in range(len(words), 0, -1):
        slug = slug_of("-".join(words[:n_used]))
        if slug:
            return n_used, slug
    return 1, None


def _number(pattern: re.Pattern[str], name: str) -> int | None:
    found = {int(value) for value in pattern.findall(name.rsplit("/", 1)[-1].lower())}
    return found.pop() if len(found) == 1 else None
