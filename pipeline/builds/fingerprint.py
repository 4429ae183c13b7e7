"""The fingerprint of a finished build: what exactly runs, stored beside it and with every materialization."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel, ConfigDict

from pipeline.builds.lock import Pin


class Torch(BaseModel):
    """The torch of an environment; ``cuda`` and ``hip`` are None where it was built without them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    cuda: str | None
    hip: str | None


class Fingerprint(BaseModel):
    """One build. ``packages`` are those that are installed, with the hashes that their lock allows.

    ``reported_version`` is the engine's own word; ``torch`` is None where it is not installed; ``seconds`` is
    from the start of the installation to the end of the proof; ``built_at`` (UTC) is when it started.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    build: str
    build_hash: str
    engine: str
    version: str
    host: str
    reported_version: str
    python: str
    platform: str
    installer: str
    torch: Torch | None
    packages: tuple[Pin, ...]
    lock_sha256: dict[str, str]
    size_mib: float
    seconds: float
    built_at: dt.datetime

    def summary(self) -> dict[str, object]:
        """The fingerprint with packages as name to version: what a person reads."""
        body = self.model_dump(mode="json", exclude={"packages"})
        return body | {"packages": {pin.name: pin.version for pin in self.packages}}


def fingerprint_text(fingerprint: Fingerprint) -> str:
    """The fingerprint as JSON with a newline at the end."""
    return fingerprint.model_dump_json(indent=1) + "\n"
