"""The container of one server of ours: known by its name alone, on record with its device, and ended by name.

Belongs here: what its keeper, the device's lock and the server need of it. Not here: what is said to docker or podman
(engine_image.py), and how it is started (engine_launch.py).
"""

import time
from contextlib import suppress
from dataclasses import dataclass

from resources.engine_image import Containers

GONE_TIMEOUT_S = 10.0
"""How long a container that was ended may still be listed."""


@dataclass(frozen=True)
class ServerContainer:
    """``program`` is the docker or podman that runs it. Ending the program leaves the container."""

    program: str
    name: str

    def pid(self) -> int | None:
        """Its first process; None where it does not run, or nobody says."""
        with suppress(OSError, ValueError, LookupError):
            return Containers(self.program).pid(self.name)
        return None

    def end_command(self) -> tuple[str, ...]:
        """The command that ends it at once, by name, and does nothing where it does not run.

        Not rm --force: podman's waits ten seconds for an engine that ignores SIGTERM, as a container's first process
        does by default.
        """
        return (self.program, "kill", self.name)

    def is_gone(self) -> bool:
        """Whether nothing of that name is left; False also where nobody says."""
        with suppress(OSError):
            return Containers(self.program).is_gone(self.name)
        return False

    def end(self) -> bool:
        """End and remove it by name; whether it is gone then."""
        if self.is_gone():
            return True
        with suppress(OSError):
            Containers(self.program).kill(self.name)
            Containers(self.program).remove(self.name)
        until_s = time.monotonic() + GONE_TIMEOUT_S
        while not self.is_gone():
            if time.monotonic() > until_s:
                return False
            time.sleep(0.2)
        return True
