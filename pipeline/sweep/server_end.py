"""How a server failed, read from its exit code and its last words: the class that a reason code is made of.

Belongs here: the classes and how they are told apart. Not here: watching a server (resources/engine_server.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

FAILURES: Mapping[str, str] = {
    "wrong_flag": "refused its launch line",
    "port_taken": "found its port taken",
    "out_of_memory": "ran out of memory",
    "killed": "was killed",
    "crashed": "crashed",
    "stopped": "ended by itself",
    "silent": "showed no sign of life",
    "stranger": "is not the server that was asked for",
}
"""Every class with its words; ``silent`` and ``stranger`` are seen from outside while it runs."""

PHASES: Mapping[str, str] = {
    "graph_capture": r"[Cc]aptur\w* (?:CUDA |cuda |HIP )?[Gg]raph|[Gg]raph capture",
    "kv_cache": r"KV cache|kv cache|max_total_num_tokens|No available memory for the cache",
    "load": r"[Ll]oading|[Ll]oad weight",
}
"""Where the memory ran out, by what the log spoke of last; the latest phase of a start comes first."""

_TELLS: Sequence[tuple[str, str]] = (
    ("wrong_flag", r"error: (?:unrecognized arguments|argument |the following arguments|ambiguous option)"),
    ("port_taken", r"[Aa]ddress already in use|Errno 98|port is already allocated"),
    (
        "out_of_memory",
        r"OutOfMemoryError|out of memory|No available memory for the cache|larger than the available KV cache memory"
        r"|larger than the maximum number of tokens that can be stored|Not enough memory|[Cc]annot allocate memory"
        r"|available memory for the cache blocks|leave no GPU memory for the KV cache|MemoryError"
        r"|less than desired GPU memory",
    ),
)

N_LAST_WORDS = 4


def failure(code: int, lines: Sequence[str]) -> str:
    """The class of a server that ended with ``code`` (negative: the signal) and these last lines of its log."""
    text = "\n".join(lines)
    for kind, tell in _TELLS:
        if re.search(tell, text):
            return kind
    if code < 0:
        return "killed"
    return "crashed" if code else "stopped"


def phase(lines: Sequence[str]) -> str:
    """Where memory ran out: graph_capture, kv_cache or load; run where the log speaks of none."""
    text = "\n".join(lines)
    return next((name for name, tell in PHASES.items() if re.search(tell, text)), "run")


def ending(code: int, lines: Sequence[str]) -> str:
    """One sentence without a full stop: what happened, and the last words."""
    kind = failure(code, lines)
    how = f" ({phase(lines)})" if kind == "out_of_memory" else ""
    return f"{FAILURES[kind]}{how}, exit code {code}: {last_words(lines)}"


def last_words(lines: Sequence[str]) -> str:
    """What a person wants to read of a log: lines that name an error where there are any, else the last ones."""
    said = [re.sub(r"\s+", " ", line).strip() for line in lines if line.strip()]
    named = [line for line in said if re.search(r"\b\w*(?:Error|Exception)\b[:(]|\berror:", line)]
    return " / ".join(line[:300] for line in (named or said)[-N_LAST_WORDS:]) or "it said nothing"
