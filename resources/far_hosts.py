"""Sweeps on other hosts: which host it is, the way there, and what comes back over Dagster Pipes.

Belongs here: one session with a sweep over there, whatever carries it. Not here: the carriers (ssh_host.py,
slurm_job.py, kubernetes_job.py), and what becomes of the files (assets/far_sweep.py).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, cast

import dagster as dg
from dagster_pipes import PIPES_PROTOCOL_VERSION_FIELD, PipesMessage

from pipeline.cell import GpuRun
from pipeline.errors import SweepRefusedError
from pipeline.hosts.messages import Message, read_message
from pipeline.hosts.order import HOST_VARIABLE, SweepOrder
from pipeline.registry.hosts import CeleryHost, KubernetesHost, LocalHost, SlurmHost, SshHost
from pipeline.registry.shipped import host_of
from resources.kubernetes_job import KubernetesJobs
from resources.slurm_job import SlurmJobs
from resources.ssh_host import SshConnections

TO_DAGSTER = frozenset({"opened", "closed", "log"})
"""Messages of Pipes that a sweep over there may send to Dagster itself."""


class Carrier(Protocol):
    """One way to a host."""

    def running(self, order: SweepOrder, pipes: Mapping[str, str]) -> AbstractContextManager[Iterator[str]]:
        """Start the sweep over there, or find it running; inside are its lines, as they come.

        Leaving the block early ends the sweep over there. Raises HostError, between the lines as well.
        """

    def read(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        """Bytes of some finished files of a cell by name. Raises HostError or StoreError."""


class FarHosts(dg.ConfigurableResource):
    """Hosts that this process is not on. ``this_host`` is the block of hosts.toml that it is on, empty for none.

    ``ssh_config`` is a file of ssh's own settings, empty for the user's; ``poll_s`` is between two looks at a job.
    """

    this_host: str = ""
    ssh_config: str = ""
    results_url: str = ""
    poll_s: float = 10.0

    def elsewhere(self, gpu: str) -> str | None:
        """The host that a GPU's sweeps have to be sent to, None where they run in this process.

        Raises SweepRefusedError for a host that takes whole runs from a queue: this run is not from there.
        """
        slug, host = host_of(gpu)
        if isinstance(host, LocalHost) or slug == self.this_host:
            return None
        if isinstance(host, CeleryHost):
            raise SweepRefusedError(
                f"its GPU is on host {slug}, and this run was not started by that host's worker",
                where=f"sweep of {gpu}",
                expected=f"a worker of queue {host.queue} with {HOST_VARIABLE}={slug}",
                found=f"{HOST_VARIABLE}={self.this_host}" if self.this_host else f"no {HOST_VARIABLE}",
                next_step=f"Launch it with the tag dagster-celery/queue: {host.queue}.",
            )
        return slug

    @contextmanager
    def sweeping(self, context: dg.AssetExecutionContext, order: SweepOrder) -> Iterator[Iterator[Message]]:
        """A sweep on another host: its messages as they come; its lines go to the log. Raises HostError.

        Leaving the block early ends the sweep over there.
        """
        spoken = Spoken()
        carrier = self.carrier(order.cell.gpu)
        with (
            dg.open_pipes_session(context, dg.PipesEnvContextInjector(), spoken) as session,
            carrier.running(order, session.get_bootstrap_env_vars()) as lines,
        ):
            yield (read_message(said, order.host) for said in spoken.messages(lines))

    def carrier(self, gpu: str) -> Carrier:
        """The way to the host of a GPU."""
        slug, host = host_of(gpu)
        match host:
            case SshHost():
                return SshConnections(slug, host, self.ssh_config)
            case SlurmHost():
                return SlurmJobs(slug, host, self.results_url, self.poll_s)
            case KubernetesHost():
                return KubernetesJobs(slug, host, self.results_url, self.poll_s)
        raise AssertionError(f"{slug} is no host that a sweep is sent to")


class Spoken(dg.PipesMessageReader):
    """Messages that stand on lines of their own among everything else that a sweep over there prints."""

    @contextmanager
    def read_messages(self, handler: dg.PipesMessageHandler) -> Iterator[dict[str, Any]]:
        """Where the other side writes: its standard output. The lines are given to ``messages``."""
        self._handler = handler
        yield {"stdio": "stdout"}

    @property
    def expected_writer_count(self) -> int:
        """One. Upstream's own answer is the same, with a warning that it is in preview."""
        return 1

    def no_messages_debug_text(self) -> str:
        """What Dagster says where nothing came."""
        return "Its lines are read from the standard output of frontier sweep --to-caller."

    def messages(self, lines: Iterable[str]) -> Iterator[object]:
        """What the sweep reports, in order. Messages to Dagster itself go there, all other lines to the log."""
        for line in lines:
            message = _message(line)
            if message is None:
                dg.get_dagster_logger().info(line)
            elif message.get("method") == "report_custom_message":
                yield (message.get("params") or {}).get("payload")
            elif message.get("method") in TO_DAGSTER:
                self._handler.handle_message(message)


def _message(line: str) -> PipesMessage | None:
    """A message of Pipes, None for any other line."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    is_ours = isinstance(message, dict) and PIPES_PROTOCOL_VERSION_FIELD in message
    return cast(PipesMessage, message) if is_ours else None
