"""What is to be built, and the hash that names the result: same plan on the same host, same folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.builds.lock import Pin, parse_lock
from pipeline.errors import BuildError
from pipeline.registry.builds import Build
from pipeline.registry.measured import MeasuredRecipe

STEPS = 1
"""Raised when the builder does something else with the same locks, so that old builds are not taken for new ones."""


@dataclass(frozen=True)
class HostPython:
    """The Python that environments are made with: version (3.11.7) and platform (linux-x86_64)."""

    version: str
    platform: str

    @property
    def minor(self) -> str:
        """Major and minor version, as 3.11."""
        return ".".join(self.version.split(".")[:2])


@dataclass(frozen=True)
class Plan:
    """One build of the registry with the texts of its lock files by name, and the measured recipes that name it.

    The recipes decide whether it is proven, not what is installed.
    """

    slug: str
    build: Build
    lock_texts: dict[str, str]
    recipes: Mapping[str, MeasuredRecipe] = field(default_factory=dict)

    def pins(self) -> tuple[Pin, ...]:
        """Every pin of every lock. Raises RegistryError."""
        return tuple(pin for file, text in self.lock_texts.items() for pin in parse_lock(text, file))

    def build_hash(self, host: HostPython) -> str:
        """16 hex digits over everything that decides what is built.

        An environment: locks, steps, Python and platform. An image: its digest and the platform. A server: its address
        and the facts of its block; what answers there is in the fingerprint's own hash.
        """
        made_of = self._environment_parts(host) if self.build.environment else self._other_parts(host)
        parts = {"steps": STEPS, **made_of}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def _environment_parts(self, host: HostPython) -> dict[str, object]:
        assert self.build.environment
        return {
            "installer": self.build.environment.installer,
            "locks": [self.lock_texts[lock] for lock in self.build.environment.locks],
            "distribution": self.build.environment.distribution,
            "python": host.version,
            "platform": host.platform,
        }

    def _other_parts(self, host: HostPython) -> dict[str, object]:
        if self.build.image:
            return {"image": self.build.image.reference, "platform": host.platform}
        assert self.build.server
        return {"server": self.build.server.model_dump(mode="json")}

    def refuse_other_python(self, host: HostPython) -> None:
        """Raises BuildError where the locks were resolved for another Python than the host's."""
        wanted = self.build.environment.python if self.build.environment else None
        if wanted not in (None, host.minor):
            raise BuildError(
                "its lock was resolved for another Python",
                where=self.slug,
                expected=f"Python {wanted}",
                found=host.version,
                next_step=f"Make the project's own environment with Python {wanted} (PYTHON=… make setup).",
            )


def refuse_other_version(plan: Plan, reported: str) -> None:
    """Raises BuildError where the engine reports another version than its block; a local part (+cpu) may follow."""
    if reported.partition("+")[0] != plan.build.version.partition("+")[0]:
        raise BuildError(
            "the engine reports another version than its block",
            where=plan.slug,
            expected=plan.build.version,
            found=reported or "nothing",
            next_step="Correct version in builds.toml, or write its lock again.",
        )


def refuse_strangers(plan: Plan, installed: dict[str, str]) -> None:
    """Raises BuildError where a package (by normalised name) is installed that no lock pins at that version."""
    pinned = {(pin.name, pin.version) for pin in plan.pins()}
    for name, version in sorted(installed.items()):
        if (name, version) not in pinned:
            raise BuildError(
                f"{name} {version} was installed and is in no lock",
                where=plan.slug,
                next_step="This is a defect of the installer's settings: compare them with the lock.",
            )
