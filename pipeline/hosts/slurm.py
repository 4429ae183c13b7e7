"""A sweep as a Slurm job: its batch script, and the commands that start, watch and end it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from pipeline.hosts.order import SweepOrder
from pipeline.registry.hosts import SlurmHost

ENDED_WELL = "COMPLETED"


def script_file(host: SlurmHost, order: SweepOrder) -> str:
    """Where the batch script of an order is."""
    return f"{host.home}/jobs/{order.name}.sh"


def log_file(host: SlurmHost, order: SweepOrder) -> str:
    """Where everything that the job says goes."""
    return f"{host.home}/jobs/{order.name}.log"


def batch_script(host: SlurmHost, order: SweepOrder, pipes: Mapping[str, str], results_url: str) -> str:
    """The script. The sweep is a step of its own: a cancelled job's steps get SIGTERM before they are killed.

    The device belongs to one sweep alone, so the job asks for whole nodes.
    """
    variables = order.variables(pipes) | ({"FRONTIER_RESULTS": results_url} if results_url else {})
    command = (host.python, "-m", "pipeline.cli", "--home", host.home, *order.arguments)
    return "\n".join(
        (
            "#!/bin/sh",
            f"#SBATCH --job-name={order.name}",
            f"#SBATCH --partition={host.partition}",
            f"#SBATCH --account={host.account}",
            f"#SBATCH --gres={host.gres}",
            f"#SBATCH --time={host.time_limit}",
            "#SBATCH --nodes=1",
            "#SBATCH --ntasks=1",
            "#SBATCH --exclusive",
            "#SBATCH --no-requeue",
            f"#SBATCH --output={log_file(host, order)}",
            "#SBATCH --open-mode=truncate",
            *(f"export {name}={shlex.quote(value)}" for name, value in variables.items()),
            f"cd {shlex.quote(host.checkout)} && exec srun --ntasks=1 --unbuffered {shlex.join(command)}",
            "",
        )
    )


def find_command(order: SweepOrder) -> tuple[str, ...]:
    """Prints the number of the order's job that waits or runs, nothing where there is none."""
    return ("squeue", "--me", "--noheader", "--format=%i", f"--name={order.name}")


def submit_command(host: SlurmHost, order: SweepOrder) -> tuple[str, ...]:
    """Prints the number of the new job."""
    return ("sbatch", "--parsable", script_file(host, order))


def watch_command(job: str) -> tuple[str, ...]:
    """Prints the job's state while it waits or runs."""
    return ("squeue", "--noheader", "--format=%T", f"--jobs={job}")


def outcome_command(job: str) -> tuple[str, ...]:
    """Prints the ended job's state and exit code, separated by |."""
    return ("sacct", "--noheader", "--parsable2", "--allocations", "--format=State,ExitCode", f"--jobs={job}")


def cancel_command(job: str) -> tuple[str, ...]:
    """Ends the job."""
    return ("scancel", job)
