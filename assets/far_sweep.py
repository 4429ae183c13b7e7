"""The third way of a sweep: the same one, run on the host that has the GPU, and its files brought home as they finish.

Belongs here: what is asked, and what is done with what comes back. Not here: how a host is reached
(resources/far_hosts.py), and the sweep itself, which over there is that of measured_sweep.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from pipeline.errors import HostError, StoreError
from pipeline.hosts.messages import Ended, Failed, Finished
from pipeline.hosts.order import SweepOrder
from pipeline.sweep.plan import Swept
from pipeline.tables.points import POINTS
from resources.atomic_files import sha256_of
from resources.far_hosts import FarHosts
from resources.progress import Progress
from resources.sweep_store import SweepStore


@dataclass(frozen=True)
class Sending:
    """What a sweep on another host needs here."""

    context: dg.AssetExecutionContext
    hosts: FarHosts
    sweep_store: SweepStore
    progress: Progress


def sweep_far(outside: Sending, order: SweepOrder, told: Callable[[Sequence[Mapping[str, Any]]], None]) -> Swept:
    """Every point of the order; those of earlier sittings over there come as well.

    Raises the error that the sweep ended with over there, and HostError where the host is lost: what is finished stays
    on both sides.
    """
    ended = None
    with outside.hosts.sweeping(outside.context, order) as messages:
        for message in messages:
            if isinstance(message, Failed):
                raise message.error
            if isinstance(message, Finished) and _try_to_bring(outside, order, message.files):
                told(outside.sweep_store.read(order.cell, POINTS).to_pylist())
            ended = message if isinstance(message, Ended) else ended
    if ended is None:
        raise HostError(
            "its sweep ended without saying how",
            where=f"{order.host} sweep {order.cell.key}",
            next_step="Read this run's log, then run the same sweep again: it goes on where it stopped.",
        )
    _bring(outside, order, ended.files)
    return Swept(ended.n_points_measured_now, tuple({_name(file) for file in ended.files}))


def _try_to_bring(outside: Sending, order: SweepOrder, files: Mapping[str, str]) -> int:
    """As _bring; what does not come now comes at the end, for the sweep over there goes on without it."""
    try:
        return _bring(outside, order, files)
    except (HostError, StoreError) as error:
        outside.progress.say(f"{error} The sweep goes on, and its files are asked for at its end.")
        return 0


def _bring(outside: Sending, order: SweepOrder, files: Mapping[str, str]) -> int:
    """Copy those files that are not here, in their order; returns how many. Raises HostError for other bytes."""
    here = outside.sweep_store.hashes_by_file(order.cell)
    missing = [file for file, sha256 in files.items() if here.get(file) != sha256]
    contents = outside.hosts.carrier(order.cell.gpu).read(order.cell, missing) if missing else {}
    for file in missing:
        if file not in contents or sha256_of(contents[file]) != files[file]:
            raise HostError(
                "sent other bytes than it said",
                where=f"{order.host} {file}",
                next_step="Run the same sweep again: finished files are asked for once more.",
            )
    for file in missing:
        outside.sweep_store.put_file(order.cell, file, contents[file])
    return len(missing)


def _name(file: str) -> str:
    """The name of the point or run that a file is of."""
    return file.removesuffix(".parquet").rpartition(".")[0]
