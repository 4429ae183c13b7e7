"""Newer releases of an engine than its build: which is newer, and the plan of a candidate that no registry file names.

A build of the registry is pinned by its lock, so a release needs a lock of its own before it can be built; it is
resolved when it is asked for and kept (resources/release_index.py). The registry stays as it is: people edit it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from packaging.version import InvalidVersion, Version

from pipeline.builds.plan import Plan
from pipeline.errors import BuildError


def newest_of(versions: Iterable[str]) -> str | None:
    """The highest version; None where there is none. A local part (+cpu) counts as in PEP 440."""
    return max(versions, key=Version, default=None)


def is_newer(version: str, than: str | None) -> bool:
    """Whether the version is a final release above the other one (None: above none). A pre-release never is."""
    found = Version(version)
    return not found.is_prerelease and (than is None or found > Version(than))


def candidate(plan: Plan, version: str, lock_text: str) -> Plan:
    """The plan of another version of the same build: same host and proof, its own lock. Raises BuildError."""
    refuse_unfollowed(plan)
    build = plan.build.model_copy(update={"version": version})
    return dataclasses.replace(plan, build=build, lock_texts=dict.fromkeys(plan.build.locks, lock_text))


def requirement(plan: Plan, version: str) -> str:
    """What a candidate's lock is resolved from. Raises BuildError for a version that is none, or cannot be followed."""
    name = refuse_unfollowed(plan)
    try:
        return f"{name}=={Version(version)}"
    except InvalidVersion:
        raise BuildError("not a version", where=plan.slug, found=version, next_step="Name a release.") from None


def refuse_unfollowed(plan: Plan) -> str:
    """The package whose releases the build follows. Raises BuildError where its block names none."""
    environment = plan.build.environment
    if environment is None or environment.releases is None:
        raise BuildError(
            "follows no releases, so it has no other version than its own",
            where=plan.slug,
            next_step="Edit its block of builds.toml.",
        )
    return environment.releases
