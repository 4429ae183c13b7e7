"""What one engine build is. The facts are in builds.toml and locks/; making it is the engine builder's."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipeline.registry.entries import Entry, Slug

Host = Literal["cuda", "rocm", "cpu", "any"]

Kind = Literal["environment", "image", "server"]

Digest = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._:/-]*@sha256:[0-9a-f]{64}$")]
LockFile = Annotated[str, Field(pattern=r"^[a-z0-9_]+\.lock$")]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Url = Annotated[str, Field(pattern=r"^https?://[^@\s?#]+$")]
"""Without a user, a password or a query: a key never stands in a registry file."""
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
    parser under the name parser; None where no server is launched. ``releases`` is the package of the index whose newer
    releases can be built from a lock that is resolved on the spot; None where the locks are made by hand.
    """

    installer: Literal["uv", "pip"]
    lock: LockFile
    lock_no_deps: LockFile | None = None
    python: Annotated[str, Field(pattern=r"^3\.\d+$")] | None = None
    distribution: Distribution | None = None
    variables: dict[str, str] = Field(default={})
    version_code: str
    parser_code: str | None = None
    releases: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")] | None = None

    @model_validator(mode="after")
    def _one_lock_for_releases(self) -> Self:
        if self.releases and (self.lock_no_deps or self.distribution or self.installer != "uv"):
            raise ValueError("releases can only be followed with uv and one lock")
        return self

    @property
    def locks(self) -> tuple[str, ...]:
        """The names of its lock files, in the order of installation."""
        return (self.lock,) if self.lock_no_deps is None else (self.lock, self.lock_no_deps)


class Image(_Part):
    """A container image by digest, pulled and run with docker or podman, whichever the host has.

    ``python`` is its interpreter. ``options`` are those of the container in which a server runs (devices, shared
    memory); questions about version and flags are asked without them and without a network. ``variables`` hold in every
    container. ``version_code`` and ``parser_code``: as of an Environment.
    """

    reference: Digest
    python: str = "python3"
    options: tuple[str, ...] = Field(default=(), strict=False)
    variables: dict[str, str] = Field(default={})
    version_code: str
    parser_code: str | None = None


class Server(_Part):
    """A server that already runs, and that nothing here starts or stops.

    ``url``, or the environment variable that holds it; ``api_key_variable`` holds its key, None: it asks for none.
    ``model`` is the served name to ask, None: the first that it lists. ``facts`` are what the server does not say about
    itself (GPUs held, flags); one that it does say must agree.
    """

    url: Url | None = None
    url_variable: VariableName | None = None
    api_key_variable: VariableName | None = None
    model: str | None = None
    facts: dict[str, str] = Field(default={})

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if (self.url is None) == (self.url_variable is None):
            raise ValueError("needs exactly one of url and url_variable")
        return self


class Build(Entry):
    """One engine, load generator or simulator at one version for one kind of host, and the one way to get at it.

    ``engine`` is the engine's slug of engines.toml, or the tool's own name.
    """

    role: Literal["engine", "load_generator", "simulator"]
    engine: Slug
    version: str
    host: Host
    environment: Environment | None = None
    image: Image | None = None
    server: Server | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum(part is not None for part in (self.environment, self.image, self.server)) != 1:
            raise ValueError("needs exactly one of the tables environment, image and server")
        if self.role != "engine" and not self.environment:
            raise ValueError("only an engine can be an image or a server")
        return self

    @property
    def kind(self) -> Kind:
        """Which of the three it is."""
        return "environment" if self.environment else "image" if self.image else "server"

    @property
    def locks(self) -> tuple[str, ...]:
        """The names of its lock files; none but for an environment."""
        return self.environment.locks if self.environment else ()
