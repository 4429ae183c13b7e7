"""A sweep over ssh as command lines. Host keys are checked, and nobody is asked for a password."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from pipeline.cell import GpuRun
from pipeline.hosts.order import WHILE_INPUT, SweepOrder
from pipeline.registry.hosts import SshHost

OPTIONS = ("BatchMode=yes", "StrictHostKeyChecking=yes", "ServerAliveInterval=15", "ServerAliveCountMax=4")
"""A key that is not known ends the connection; so does a minute without a sign of life."""


def connection(host: SshHost, config: str) -> tuple[str, ...]:
    """The program with its options and the host; ``config`` is a file of ssh's own settings, empty for the user's."""
    file = ("-F", config) if config else ()
    options = [word for option in OPTIONS for word in ("-o", option)]
    return ("ssh", *file, "-T", *options, "-p", str(host.port), "-l", host.user, host.address)


def sweep_words(host: SshHost, order: SweepOrder, pipes: Mapping[str, str]) -> str:
    """The command over there. It ends when its input does: with the connection, whatever ended that.

    ``exec``: the process at the connection's end is the sweep itself.
    """
    variables = [f"{name}={value}" for name, value in order.variables(pipes).items()]
    command = ("env", *variables, host.python, "-m", "pipeline.cli", "--home", host.home, *order.arguments, WHILE_INPUT)
    return f"cd {shlex.quote(host.checkout)} && exec {shlex.join(command)}"


def files_words(host: SshHost, cell: GpuRun, files: Sequence[str]) -> str:
    """The command over there that writes some files of a cell to its output, as a tar archive."""
    return shlex.join(("tar", "-C", cell_folder(host.home, cell), "-cf", "-", "--", *files))


def cell_folder(home: str, cell: GpuRun) -> str:
    """Where a cell's finished points are under a home folder."""
    return f"{home}/store/sweeps/{cell.gpu}/{cell.run_date.isoformat()}"
