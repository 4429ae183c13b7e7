"""Why a value is missing or a point does not count, in words. The codes and their sentences are pipeline/measure's."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.measure.notes import NOTES
from pipeline.measure.validity import REASONS
from pipeline.pages.page import Provenance

_NULL_OF = {
    "measured": "A null was not recorded by this run, or cannot be computed from what was.",
    "imported": "A null is something the source does not say, or that cannot be computed from what it says.",
    "simulated": "A null is something the simulator does not compute.",
}


def reason_sentence(code: str) -> str:
    """The sentence of a reason code; the code itself where it has none."""
    return _sentence(REASONS, code)


def note_sentence(note: str) -> str:
    """The sentence of a note, ``code`` or ``code=detail``, with its detail; the note itself where it has none."""
    return _sentence(NOTES, note)


def _sentence(sentences: Mapping[str, str], code: str) -> str:
    name, _, detail = code.partition("=")
    if name not in sentences:
        return code
    return f"{sentences[name]} ({detail})" if detail else sentences[name]


PUBLISHED_READING_NULL = "A value read off a published ladder: a null was not published with it."


def null_reason(provenance: Provenance) -> str:
    """Why some field of a point or a series is null."""
    return _NULL_OF[provenance]
