"""How far a running load is, read from its records while they are written, told every few seconds."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.imports.aiperf_records import request_row
from pipeline.pages.formats import counted
from pipeline.sweep.load import Batch, PointLoad

SECONDS_BETWEEN_LINES = 10.0


@dataclass
class LoadProgress:
    """Counts the lines of a growing file of records, and tells requests done, tokens per second and time left."""

    load: PointLoad
    batch: Batch
    records: Path
    say: Callable[[str], None]
    n_done: int = 0
    n_failed: int = 0
    output_tok: int = 0
    phase: str = "starting"
    _read_bytes: int = 0
    _told_s: float = field(default_factory=time.monotonic)
    _first_s: float | None = None

    def tell(self) -> None:
        """Read what was added; say a line where the last one is some seconds old."""
        self._read()
        now_s = time.monotonic()
        if self.n_done and now_s - self._told_s >= SECONDS_BETWEEN_LINES:
            self._told_s = now_s
            self.say(self._line(now_s))

    def _line(self, now_s: float) -> str:
        elapsed_s = now_s - (self._first_s or now_s)
        failed = f", {self.n_failed:,} of them failed" if self.n_failed else ""
        return (
            f"concurrency {self.load.concurrency}, {self.phase} of {self.load.load.repeats}: "
            f"{counted(self.n_done, 'request')} done{failed}, {self.output_tok / max(elapsed_s, 1):,.0f} output tok/s, "
            f"about {max(0.0, self._planned_s() - elapsed_s):.0f} s left"
        )

    def _planned_s(self) -> float:
        return self.batch.n_repeats * (self.load.load.warmup_s + self.load.load.window_s)

    def _read(self) -> None:
        if not self.records.exists():
            return
        with self.records.open("rb") as file:
            file.seek(self._read_bytes)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            self._count(line)
        if self.n_done and self._first_s is None:
            self._first_s = time.monotonic()

    def _count(self, line: bytes) -> None:
        try:
            record: dict[str, Any] = json.loads(line)
            row = request_row(0, record, None)
        except (ValueError, KeyError, TypeError):
            return
        self.n_done += 1
        self.n_failed += row["outcome"] != "ok"
        self.output_tok += row["output_tok"] or 0
        name = str(record["metadata"].get("phase_name") or "")
        kind, _, number = name.rpartition("_")
        if number.isdecimal():
            self.phase = f"{'warm-up' if kind == 'warmup' else 'repeat'} {int(number) + 1}"
