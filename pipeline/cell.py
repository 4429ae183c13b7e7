"""One cell: one GPU on one run date, the unit of every raw and derived table."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from pipeline.errors import RegistryError
from pipeline.registry.loader import nearest
from pipeline.registry.shipped import shipped_registry, shipped_renamed


@dataclass(frozen=True, order=True)
class GpuRun:
    """One GPU on one run date (UTC day)."""

    gpu: str
    run_date: dt.date

    @property
    def key(self) -> str:
        """The partition key: gpu|YYYY-MM-DD, values in the order of the dimension names."""
        return f"{self.gpu}|{self.run_date.isoformat()}"


def parse_cell(key: str) -> GpuRun:
    """A partition key, multi-dimensional or a bare string, to its cell. Raises RegistryError."""
    gpu, _, day = str(key).partition("|")
    gpus, today = shipped_registry().gpus, shipped_renamed().gpus.get(gpu)
    if today:
        raise RegistryError(
            f"{gpu} was renamed", where=f"partition {key}", next_step=f"Name its partition {today}|{day}."
        )
    if gpu not in gpus:
        raise RegistryError(f"unknown gpu {gpu!r}", where=f"partition {key}", next_step=nearest(gpu, gpus))
    try:
        run_date = dt.date.fromisoformat(day)
    except ValueError:
        raise RegistryError(
            "bad run date", where=f"partition {key}", expected="gpu|YYYY-MM-DD", found=day, next_step="Correct the key."
        ) from None
    return GpuRun(gpu, run_date)
