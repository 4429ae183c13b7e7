"""A finished engine build, as everybody who runs something of it takes it."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.builds.fingerprint import Fingerprint
from pipeline.errors import BuildError
from pipeline.registry.builds import Build

ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Built:
    """A finished build: its block of builds.toml, its folder, its fingerprint, and whether it was there already."""

    build: Build
    folder: Path
    fingerprint: Fingerprint
    reused: bool

    @property
    def python(self) -> Path:
        """The interpreter of its environment. Raises BuildError for an image or a server: they have none here."""
        if self.fingerprint.kind != "environment":
            raise BuildError(
                "has no Python on this host",
                where=self.fingerprint.build,
                expected="an environment",
                found=f"a build of the kind {self.fingerprint.kind}",
                next_step="Ask a build that is an environment.",
            )
        return interpreter_in(self.folder)


def interpreter_in(folder: Path) -> Path:
    """Where the Python of a build's folder is, or will be."""
    return folder / ENVIRONMENT / "bin" / "python"
