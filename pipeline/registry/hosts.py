"""What a host with GPUs is, and how a sweep gets there. The facts are in hosts.toml.

Belongs here: the kinds of host, their keys, and strict parsing. Not here: what is written for each of them
(pipeline/hosts), and who runs it (resources).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from pipeline.errors import RegistryError
from pipeline.registry.entries import Entry, Gpu, Slug
from pipeline.registry.loader import nearest, parse_kinds

Folder = Annotated[str, Field(pattern=r"^/[A-Za-z0-9/._+-]*[A-Za-z0-9._+-]$")]
"""An absolute folder over there. No blank and no quote: it stands in command lines."""

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9:._/@+=-]*$")]
"""One word of a command line or of a manifest."""


class LocalHost(Entry):
    """The host where the sweep was started, whichever that is."""

    kind: Literal["local"]


class CeleryHost(Entry):
    """A host with a Celery worker that takes whole runs from its own ``queue``."""

    kind: Literal["celery"]
    queue: Slug


class SshHost(Entry):
    """A host that is reached over ssh and runs no Dagster of its own.

    ``checkout`` is this project over there, ``home`` its FRONTIER_HOME, ``python`` the interpreter of its environment.
    """

    kind: Literal["ssh"]
    address: Word
    user: Word
    port: Annotated[int, Field(ge=1, le=65_535)] = 22
    checkout: Folder
    home: Folder
    python: Folder


class SlurmHost(Entry):
    """A partition of a Slurm cluster whose ``checkout`` and ``home`` are on a file system that this host has as well.

    ``time_limit`` is as sbatch reads it: [days-]hours:minutes:seconds.
    """

    kind: Literal["slurm"]
    partition: Word
    gres: Word
    time_limit: Annotated[str, Field(pattern=r"^(\d+-)?\d{1,3}:\d{2}:\d{2}$")]
    account: Word
    checkout: Folder
    home: Folder
    python: Folder


class KubernetesHost(Entry):
    """Nodes of a Kubernetes cluster. ``image`` holds this project and the engine builds under its FRONTIER_HOME.

    Its pods have no disk that outlives them: FRONTIER_RESULTS has to name an object store. ``secret`` names the
    Secret with that store's credentials as variables, None where the service account has them.
    """

    kind: Literal["kubernetes"]
    image: Word
    namespace: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
    node_selector: Mapping[str, str] = Field(min_length=1)
    limits: Mapping[str, str] = Field(min_length=1)
    secret: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")] | None = None
    time_limit_s: Annotated[int, Field(ge=60, le=30 * 86_400)]


Host = LocalHost | CeleryHost | SshHost | SlurmHost | KubernetesHost

KINDS: Mapping[str, type[Host]] = {
    "local": LocalHost,
    "celery": CeleryHost,
    "ssh": SshHost,
    "slurm": SlurmHost,
    "kubernetes": KubernetesHost,
}


def parse_hosts(text: str, file: str) -> dict[str, Host]:
    """One block a host, by slug. Raises RegistryError, also where two hosts take from one queue."""
    hosts = parse_kinds(text, _kind_of, file)
    queues: dict[str, str] = {}
    for slug, host in hosts.items():
        if isinstance(host, CeleryHost) and queues.setdefault(host.queue, slug) != slug:
            raise RegistryError(
                f"queue {host.queue!r} belongs to two hosts",
                where=f"{file} [{slug}]",
                found=f"also in [{queues[host.queue]}]",
                next_step="Give each host a queue of its own.",
            )
    return hosts


def _kind_of(body: Mapping[str, object], where: str) -> type[Host]:
    named = body.get("kind")
    if named not in KINDS:
        next_step = nearest(str(named), KINDS)
        raise RegistryError("unknown kind of host", where=where, found=repr(named or "nothing"), next_step=next_step)
    return KINDS[str(named)]


def refuse_unknown_hosts(gpus: Mapping[str, Gpu], hosts: Mapping[str, Host], file: str) -> None:
    """Refuse a GPU on a host that is none. Raises RegistryError."""
    for slug, gpu in gpus.items():
        if gpu.host not in hosts:
            raise RegistryError(
                f"unknown host {gpu.host!r}", where=f"{file} [{slug}]", next_step=nearest(gpu.host, hosts)
            )
