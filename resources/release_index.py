"""The package index as far as releases go: the newest version of a package, and the lock of a release.

Belongs here: asking the index through uv, and the locks of candidates, one file each, never changed. Not here: which
version is newer (pipeline/builds/releases.py), and building (engine_builder.py).
"""

from pathlib import Path

import dagster as dg
import uv
from pydantic import Field

from pipeline.builds.plan import Plan
from pipeline.builds.releases import candidate, refuse_unfollowed, requirement
from pipeline.errors import BuildError
from resources.atomic_files import write_bytes
from resources.programs import Ended, ask
from resources.python_environment import host_python

BARE = ("--quiet", "--no-header", "--no-annotate", "--no-emit-index-url")
NEWEST = ("--no-deps", "--prerelease", "disallow")
LOCKED = ("--generate-hashes", "--only-binary", ":all:")
"""For this host alone, unlike the registry's locks: a release may have no solution on platforms that nobody asked for.
Its own requirements may name pre-releases."""


class ReleaseIndex(dg.ConfigurableResource):
    """Locks of candidates are ``root_dir``/<build>-<version>.lock. ``wheels_dir``: a folder instead of the index.

    A question to the index ends after ``index_timeout_s``, resolving a lock after ``lock_timeout_s``.
    """

    root_dir: str
    wheels_dir: str = ""
    index_timeout_s: float = Field(default=20, gt=0)
    lock_timeout_s: float = Field(default=600, gt=0)

    def newest(self, plan: Plan) -> str:
        """The newest final release of the build's package that its Python can run. Raises BuildError.

        The index is asked anew: uv would take an answer of some minutes ago.
        """
        name = refuse_unfollowed(plan)
        fresh = () if self.wheels_dir else ("--refresh-package", name)
        ended = self._compile(plan, name, (*NEWEST, *fresh), self.index_timeout_s)
        if ended.code:
            raise BuildError(
                f"the package index does not say what the newest {name} is",
                where=plan.slug,
                found=ended.tail(),
                next_step="It is asked again; look at the network of this host.",
            )
        return ended.output.strip().rpartition("==")[2]

    def plan(self, plan: Plan, version: str) -> Plan:
        """The build's plan at that version: as it is where none is named, or its own; else a candidate's.

        A candidate's lock is resolved once and kept: the same version is the same build. Raises BuildError.
        """
        if version in ("", plan.build.version):
            return plan
        wanted = requirement(plan, version)
        file = self._lock_file(plan, wanted.rpartition("==")[2])
        if not file.exists():
            write_bytes(file, self._lock(plan, wanted).encode())
        return candidate(plan, version, file.read_text(encoding="utf-8"))

    def candidates(self, plan: Plan) -> dict[str, Plan]:
        """The candidates of the build whose locks are here, by version; the index is not asked."""
        prefix = f"{plan.slug}-"
        files = sorted(Path(self.root_dir).glob(f"{prefix}*.lock"))
        texts = {file.stem.removeprefix(prefix): file.read_text(encoding="utf-8") for file in files}
        return {version: candidate(plan, version, text) for version, text in texts.items()}

    def _lock(self, plan: Plan, wanted: str) -> str:
        ended = self._compile(plan, wanted, LOCKED, self.lock_timeout_s)
        if ended.code:
            raise BuildError(
                f"{wanted} has no lock (exit code {ended.code})",
                where=plan.slug,
                found=ended.tail(),
                next_step="A release that cannot be installed from wheels alone needs a block of its own.",
            )
        return ended.output

    def _compile(self, plan: Plan, wanted: str, options: tuple[str, ...], timeout_s: float) -> Ended:
        environment = plan.build.environment
        python = (environment.python if environment else None) or host_python().minor
        source = ("--no-index", "--find-links", self.wheels_dir) if self.wheels_dir else ()
        command = [uv.find_uv_bin(), "pip", "compile", *BARE, "--python-version", python, *options, *source, "-"]
        return ask(command, {}, timeout_s, said=wanted)

    def _lock_file(self, plan: Plan, version: str) -> Path:
        return Path(self.root_dir) / f"{plan.slug}-{version}.lock"
