"""What dagster.yaml says: whether an earlier version wrote it, and which blocks it lacks that sweeps rely on.

Not here: where the file is, and writing it (dagster_runs.py).
"""

import hashlib
import re
from importlib import resources
from pathlib import Path

from pipeline.pages.formats import listed

WRITTEN = (
    "370f0d4b2a909cf6ac47d69b4a981b762f557c2a01256c40332a8fa12f691f0f",
    "ac0876b6bd40bd76b609128ca9d2d6043dedf1e426ea6a3b504eda25b7ac91a1",
    "c96043c9ee3942e567919a1ca410280a9d46e172c9e47ed96b888d7fe63c9470",
    "02b7e7935c54a7453b999b4cdf0307725080c92ee7887812d877fc8b17013cac",
    "43952ecaaab79723ee066ad5e24fabf9452959f564422b13a72d666e2f549f29",
)
"""SHA-256 of the file as every version wrote it into a home folder, the newest last: whoever edits it adds one."""

_BLOCK = re.compile(r"^(\w+):", re.MULTILINE)
_ELSEWHERE = {"storage", "run_storage"}
"""Blocks of several hosts, whose own launcher finds and repeats lost runs."""
_OF_ONE_HOST = {"run_launcher", "run_retries"}
_LOST = "a run whose process died stays recorded as running and keeps its GPU in use"
_WITHOUT = {
    "concurrency": "two sweeps of one GPU may start at a time",
    "run_monitoring": _LOST,
    "run_launcher": _LOST,
    "run_retries": "a requested sweep whose process died is not run again",
}


def shipped_settings() -> bytes:
    """The settings of one host, as this version writes them into a home folder."""
    return resources.files("resources").joinpath("dagster_instance.yaml").read_bytes()


def is_of_earlier_version(settings: bytes) -> bool:
    """Whether an earlier version wrote exactly this, and nobody edited it since."""
    return hashlib.sha256(settings).hexdigest() in WRITTEN[:-1]


def lacking(file: Path) -> str | None:
    """A sentence that names the blocks that an edited file lacks, what that means, and what to do; None for none.

    A file that is not there lacks nothing: Dagster is then set up by somebody else.
    """
    if not file.is_file():
        return None
    there = set(_BLOCK.findall(file.read_text(encoding="utf-8")))
    if "run_coordinator" in there:  # where the limit was written before Dagster 1.10
        there.add("concurrency")
    needed = [name for name in _WITHOUT if name not in _OF_ONE_HOST or not there & _ELSEWHERE]
    missing = [name for name in needed if name not in there]
    if not missing:
        return None
    means = listed(list(dict.fromkeys(_WITHOUT[name] for name in missing)))
    return (
        f"{file} has no {listed(missing)}: {means}. Copy what it lacks from resources/dagster_instance.yaml, or move "
        "it aside and run frontier instance."
    )
