"""What is asked of another host: one sweep of one cell, as the command line that it runs over there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.cell import GpuRun

HOST_VARIABLE = "FRONTIER_HOST"
"""Tells a process which block of hosts.toml its host is: what is on that host is then swept by it itself."""

WHILE_INPUT = "--while-input"
"""Of the command over there: it ends when its input does, or nothing comes on it for a minute."""


@dataclass(frozen=True)
class SweepOrder:
    """One sweep on the host ``host``: its cell, the recipes (none: all of the GPU), and releases by build.

    ``repetition``: 1, or which further run of the day it is.
    """

    host: str
    cell: GpuRun
    recipes: tuple[str, ...]
    releases: Mapping[str, str]
    repetition: int = 1

    @property
    def name(self) -> str:
        """Names the job of this cell in a scheduler: one at a time, found again by whoever asks for it."""
        return f"frontier-sweep-{self.cell.gpu.replace('_', '-')}-{self.cell.run_date.isoformat()}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of ``frontier``. It measures or fails, and whether the day is past was decided by the caller."""
        recipes = [f"--recipe={slug}" for slug in self.recipes]
        releases = [f"--release={build}={release}" for build, release in self.releases.items()]
        again = [f"--repetition={self.repetition}"] if self.repetition > 1 else []
        day = f"--run-date={self.cell.run_date.isoformat()}"
        flags = ("--kind=measured", "--again", "--no-publish", "--to-caller")
        return ("sweep", self.cell.gpu, day, *flags, *recipes, *releases, *again)

    def variables(self, pipes: Mapping[str, str]) -> dict[str, str]:
        """Environment of the command over there; ``pipes`` is what Dagster Pipes needs."""
        return {HOST_VARIABLE: self.host, "PYTHONUNBUFFERED": "1", **pipes}
