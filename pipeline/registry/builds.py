"""What one engine build is. The facts are in builds.toml and locks/; making it is the engine builder's."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipeline.registry.entries import Entry, Slug

Host = Literal["cuda", "rocm", "cpu", "any"]

Digest = Annotated[str, Field(pattern=r"^\S+@sha256:[0-9a-f]{64}$")]
LockFile = Annotated[str, Field(pattern=r"^[a-z0-9_]+\.lock$")]
Distribution = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+==[A-Za-z0-9_.+]+$")]


class _Part(BaseModel):
    """A table inside a block: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Environment(_Part):
    """A Python environment of its own, filled from lock files with hashes and from wheels alone.

    ``installer``: uv, or pip where a wheel is only found by pip's own settings (the CPU build of torch).
    ``python`` is the minor version that the locks were resolved for, None: any that the project runs on.
    ``lock_no_deps`` is installed second, without requirements. ``distribution`` is registered by hand where a
    wheel registers none. ``variables`` hold for every process of the build. ``version_code`` imports what must
    work and prints the engine's own version last; ``parser_code`` leaves the server's own argparse
    parser under the name parser; None where no server is launched.
    """

    installer: Literal["uv", "pip"]
    lock: LockFile
    lock_no_deps: LockFile | None = None
    python: Annotated[str, Field(pattern=r"^3\.\d+$")] | None = None
    distribution: Distribution | None = None
    variables: dict[str, str] = Field(default={})
    version_code: str
    parser_code: str | None = None

    @property
    def locks(self) -> tuple[str, ...]:
        """The names of its lock files, in the order of installation."""
        return (self.lock,) if self.lock_no_deps is None else (self.lock, self.lock_no_deps)


class Build(Entry):
    """One engine, load generator or simulator at one version for one kind of host.

    ``engine`` is the engine's slug of engines.toml, or the tool's own name.
    """

    role: Literal["engine", "load_generator", "simulator"]
    engine: Slug
    version: str
    host: Host
    environment: Environment
