"""How a build's server is started: the command up to the engine's own arguments, for each kind of build.

Belongs here: environment, image or nothing to start. Not here: the engine's arguments (pipeline/sweep), and keeping a
server alive and ending it (engine_server.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.errors import BuildError
from pipeline.registry.builds import Build
from resources.built import Built
from resources.engine_image import Containers, container_name

LOOPBACK = "127.0.0.1"
EVERY_ADDRESS = "0.0.0.0"


@dataclass(frozen=True)
class Place:
    """Where one server is to run: its port on 127.0.0.1, folders that it reads, and variables besides its build's."""

    port: int
    folders: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StartCommand:
    """What is started: ``command`` is followed by the engine's own arguments.

    ``variables`` are for the process that is started here. ``bind_host`` is what the server binds to: in a container
    every address, for only its published port reaches it, and that is on 127.0.0.1. ``container`` is the name by which
    a container is stopped: ending the process that started it is not enough. None: the process is the server.
    """

    command: tuple[str, ...]
    variables: Mapping[str, str]
    bind_host: str
    container: str | None


def start_command(build: Build, built: Built, module: Sequence[str], place: Place, containers: str) -> StartCommand:
    """The command that starts a server of the build; ``module`` are the interpreter's arguments (-m, …).

    ``containers`` names docker or podman, empty: the first on PATH. Raises BuildError for a server that runs already
    (standing_server.address_of says where it answers), and where there is no program for containers.
    """
    if build.image:
        name = container_name(build.engine)
        program = Containers.found(containers)
        variables = dict(place.variables)
        started = program.server_command(build.image, name, [place.port], place.folders, variables)
        return StartCommand((*started, *module), {}, EVERY_ADDRESS, name)
    if build.environment:
        variables = build.environment.variables | dict(place.variables)
        return StartCommand((str(built.python), *module), variables, LOOPBACK, None)
    raise BuildError(
        "runs already, there is nothing to start", where=built.fingerprint.build, next_step="Use its address."
    )
