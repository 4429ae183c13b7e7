"""Files that say something about another one, by their names: what is looked for beside a result file.

Belongs here: the names. What such a file says is read by the importer of the result file, from its content.
"""

from __future__ import annotations

import re

DESCRIPTION = "experiment_metadata.json"
"""GenAI-Bench's description of all runs in a folder."""

PAIRS = (("summary", "individual_responses"), ("summary", "individual"))
"""LLMPerf's two files of one run: X_summary.json and X_individual_responses.json."""


def companion_names(name: str) -> tuple[str, ...]:
    """Names of the files that may belong to a file of this name, in the same folder; the most telling one first.

    A description may carry the parts of the result's name that end in __, where folders were made into names.
    """
    found = []
    if re.search(r"_time_\d+s\.json$", name):
        ends = [match.end() for match in re.finditer("__", name)]
        found += [name[:end] + DESCRIPTION for end in (*reversed(ends), 0)]
    for one, other in PAIRS:
        found += [_replaced(name, *pair) for pair in ((one, other), (other, one)) if _has(name, pair[0])]
    return tuple(dict.fromkeys(found))


def _has(name: str, word: str) -> bool:
    return name.endswith(".json") and re.search(rf"(?<![a-z]){word}(?![a-z])", name) is not None


def _replaced(name: str, word: str, by: str) -> str:
    head, _, tail = name.rpartition(word)
    return head + by + tail
