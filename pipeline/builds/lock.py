"""Reading a lock file: exact pins with the hashes that an installer accepts."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

from pipeline.errors import RegistryError

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)")
_HASH = re.compile(r"^\s+--hash=sha256:([0-9a-f]{64})\b")


class Pin(BaseModel):
    """One package at one version; ``sha256`` are the hashes of the files that may be installed for it."""

    model_config = ConfigDict(frozen=True)

    name: str
    version: str
    sha256: tuple[str, ...]


def normalised_name(name: str) -> str:
    """The form in which package names are compared: lower case, runs of -, _ and . alike."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_lock(text: str, file: str) -> tuple[Pin, ...]:
    """The pins of a lock file by name. Raises RegistryError for a line that is no pin, or a pin without a hash.

    A package that is pinned twice (for two platforms) is two pins.
    """
    pins: list[Pin] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _HASH.match(line)
        if found and pins:
            pins[-1] = pins[-1].model_copy(update={"sha256": (*pins[-1].sha256, found[1])})
            continue
        pin = _PIN.match(line)
        if not pin:
            raise RegistryError(
                "not a pin", where=f"{file} line {number}", found=line.strip()[:80], next_step="Write the lock again."
            )
        pins.append(Pin(name=normalised_name(pin[1]), version=pin[2], sha256=()))
    for pin_read in pins:
        if not pin_read.sha256:
            raise RegistryError(
                f"{pin_read.name} has no hash", where=file, next_step="Write the lock again, with hashes."
            )
    return tuple(sorted(pins, key=lambda p: (p.name, p.version)))
