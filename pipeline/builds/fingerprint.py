"""The fingerprint of a finished build: what exactly runs, stored beside it and with every materialization."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel, ConfigDict

from pipeline.builds.lock import Pin
from pipeline.registry.builds import Kind


class Torch(BaseModel):
    """The torch of an environment; ``cuda`` and ``hip`` are None where it was built without them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    cuda: str | None
    hip: str | None


class ImageFacts(BaseModel):
    """The image behind its reference: its own id, and when it was made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reference: str
    image_id: str
    created: str


class ServerFacts(BaseModel):
    """A running server: its address, what it says about itself, and what only its block says about it.

    ``n_proof_tok`` are the tokens that it generated when it was asked for one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    models: tuple[str, ...]
    said: dict[str, str]
    declared: dict[str, str]
    n_proof_tok: int


class Fingerprint(BaseModel):
    """One build. ``packages`` are those that are installed, with the hashes that their lock allows (an image has none).

    ``reported_version`` is the engine's own word, None where a running server does not say; ``torch`` is None where it
    is not installed or not known; ``seconds`` is from the start of the build to the end of the proof; ``built_at`` is
    when it started (UTC). Of a running server Python, platform, packages and size are not known: None, and no packages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    build: str
    build_hash: str
    engine: str
    version: str
    host: str
    kind: Kind = "environment"
    reported_version: str | None
    python: str | None
    platform: str | None
    installer: str | None
    torch: Torch | None
    packages: tuple[Pin, ...]
    lock_sha256: dict[str, str]
    image: ImageFacts | None = None
    server: ServerFacts | None = None
    size_mib: float | None
    seconds: float
    built_at: dt.datetime

    @property
    def source(self) -> str:
        """Where it comes from, in words: an image's reference, a server's address, else its lock files."""
        if self.image:
            return self.image.reference
        return self.server.url if self.server else ", ".join(self.lock_sha256)

    @property
    def n_packages(self) -> int | None:
        """How many packages are installed; None where that is not known."""
        return None if self.server else len(self.packages)

    def summary(self) -> dict[str, object]:
        """The fingerprint with packages as name to version: what a person reads."""
        body = self.model_dump(mode="json", exclude={"packages"})
        return body | {"packages": {pin.name: pin.version for pin in self.packages}}


def fingerprint_text(fingerprint: Fingerprint) -> str:
    """The fingerprint as JSON with a newline at the end."""
    return fingerprint.model_dump_json(indent=1) + "\n"
