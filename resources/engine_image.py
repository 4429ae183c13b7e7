"""A container image that is a build: pulled by digest with docker or podman, inspected, and asked inside a container.

Belongs here: everything that is said to docker or podman. Not here: the order of a build (engine_builder.py), and how a
server is started in a container and kept alive (engine_launch.py, engine_server.py).
"""

import json
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.builds.fingerprint import ImageFacts, Torch
from pipeline.builds.lock import Pin, normalised_name
from pipeline.builds.plan import Plan, refuse_other_version
from pipeline.errors import BuildError
from pipeline.registry.builds import Image
from resources.build_questions import Ask, expect, last_line
from resources.programs import Ended, ask, every_few_seconds, follow
from resources.progress import Say

PROGRAMS = ("docker", "podman")
STOP_TIMEOUT_S = 60.0
INSPECT_TIMEOUT_S = 60.0

FACTS_CODE = """
import importlib.metadata, json, platform
try:
    import torch
    torch = [torch.__version__, torch.version.cuda, torch.version.hip]
except ImportError:
    torch = None
packages = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
print(json.dumps({"python": platform.python_version(), "torch": torch, "packages": packages}))
"""


@dataclass(frozen=True)
class Containers:
    """docker or podman on this host: ``program`` is its path or name."""

    program: str

    @classmethod
    def found(cls, named: str) -> "Containers":
        """The named program, else the first of docker and podman on PATH. Raises BuildError where there is none."""
        for program in (named,) if named else PROGRAMS:
            path = shutil.which(program)
            if path:
                return cls(path)
        raise BuildError(
            "there is no program for containers",
            where="container image",
            expected=named or " or ".join(PROGRAMS),
            next_step="Install it, or name it with FRONTIER_CONTAINERS.",
        )

    def version(self) -> str:
        """Its own name and version, as it says them. Raises OSError."""
        return ask([self.program, "--version"], {}, INSPECT_TIMEOUT_S).output.strip()

    def pull(self, image: Image, descriptor: int, on_line: Callable[[str], None]) -> Ended:
        """Fetch exactly the digest; the program holds ``descriptor`` open. Raises OSError."""
        return follow([self.program, "pull", image.reference], descriptor, on_line)

    def inspect(self, image: Image) -> dict[str, Any] | None:
        """What is known of the image here; None where it is not here. Raises OSError."""
        ended = ask([self.program, "image", "inspect", image.reference], {}, INSPECT_TIMEOUT_S)
        found = json.loads(ended.output) if ended.code == 0 else []
        return found[0] if found else None

    def answer(self, image: Image, code: str, arguments: Sequence[str], timeout_s: float) -> Ended:
        """Run a piece of Python code in a container of its own, without network and devices. Raises OSError.

        Killing the program that started a container leaves the container, so whatever happens it is removed by name.
        """
        name = container_name("ask")
        run = [*self._run(name, image), "--network", "none", "--workdir", "/", "--entrypoint", image.python]
        try:
            ended = ask([*run, image.reference, "-c", code, *arguments], {}, timeout_s)
        except BaseException:
            self.remove(name)
            raise
        if ended.code:
            self.remove(name)
        return ended

    def server_command(
        self, image: Image, name: str, ports: Sequence[int], mounts: Sequence[str], variables: dict[str, str]
    ) -> tuple[str, ...]:
        """Up to the interpreter's own arguments: a named container, each port on 127.0.0.1 alone, folders read-only."""
        published = [part for port in ports for part in ("--publish", f"127.0.0.1:{port}:{port}")]
        mounted = [part for folder in mounts for part in ("--volume", f"{folder}:{folder}:ro")]
        started = [*self._run(name, image), *_settings(variables), *image.options, *published, *mounted]
        return (*started, "--entrypoint", image.python, image.reference)

    def kill(self, name: str) -> None:
        """End the container by name at once; nothing happens where it does not run. Raises OSError."""
        ask([self.program, "kill", name], {}, STOP_TIMEOUT_S)

    def remove(self, name: str) -> None:
        """End and remove the container by name; nothing happens where there is none. Raises OSError."""
        ask([self.program, "rm", "--force", name], {}, STOP_TIMEOUT_S)

    def is_gone(self, name: str) -> bool:
        """Whether none of that name is left; False also where the program cannot say so. Raises OSError."""
        ended = ask([self.program, "ps", "--all", "--quiet", "--filter", f"name={name}"], {}, INSPECT_TIMEOUT_S)
        return ended.code == 0 and not ended.output.strip()

    def pid(self, name: str) -> int | None:
        """The container's first process, as this host numbers it; None where it does not run. Raises OSError."""
        ended = ask([self.program, "container", "inspect", name], {}, INSPECT_TIMEOUT_S)
        found = json.loads(ended.output) if ended.code == 0 else []
        return (found[0]["State"].get("Pid") or None) if found else None

    def _run(self, name: str, image: Image) -> list[str]:
        return [self.program, "run", "--rm", "--name", name, "--pull", "never", *_settings(image.variables)]


def container_name(what: str) -> str:
    """A name that nothing else has, by which our containers are known and ended."""
    return f"frontier-{what}-{uuid.uuid4().hex[:12]}"


def _settings(variables: dict[str, str]) -> list[str]:
    return [part for key, value in variables.items() for part in ("--env", f"{key}={value}")]


def pull_image(slug: str, image: Image, containers: Containers, descriptor: int, say: Say) -> None:
    """Fetch the image where it is not here yet. Raises BuildError, OSError."""
    if containers.inspect(image) is None:
        say(f"{slug}: pulling {image.reference} with {containers.version()}")
        ended = containers.pull(image, descriptor, every_few_seconds(slug, say))
        expect(slug, "the image was not pulled", ended)


def proven_image(plan: Plan, image: Image, containers: Containers, asking: Ask) -> dict[str, object]:
    """What is in the image and runs, as fields of a fingerprint; no GPU is needed. Raises BuildError."""
    inspected = containers.inspect(image) or {}
    _refuse_other_digest(image, inspected, plan.slug)
    reported = last_line(plan.slug, asking, image.version_code)
    refuse_other_version(plan, reported)
    inside = _python_facts(last_line(plan.slug, asking, FACTS_CODE))
    return {**_image_facts(image, inspected, containers), **inside, "reported_version": reported, "lock_sha256": {}}


def _refuse_other_digest(image: Image, inspected: dict[str, Any], slug: str) -> None:
    """Raises BuildError where what is here does not carry the digest that the block names."""
    digest = image.reference.partition("@")[2]
    held = [str(d) for d in (inspected.get("RepoDigests") or ())]
    if not any(known.endswith(digest) for known in held):
        raise BuildError(
            "the image that is here has another digest",
            where=slug,
            expected=digest,
            found=", ".join(held) or "none",
            next_step="Remove the image and build again.",
        )


def _image_facts(image: Image, inspected: dict[str, Any], containers: Containers) -> dict[str, object]:
    """What inspection says of the image, as fields of its fingerprint. ``size_mib`` is unpacked; None: not said."""
    size = inspected.get("Size")
    system, machine = inspected.get("Os"), inspected.get("Architecture")
    return {
        "platform": f"{system}-{machine}" if system and machine else None,
        "size_mib": round(size / 2**20, 2) if isinstance(size, int) else None,
        "installer": containers.version(),
        "image": ImageFacts(
            reference=image.reference,
            image_id=str(inspected["Id"]),
            created=str(inspected.get("Created")),
        ),
    }


def _python_facts(last_line: str) -> dict[str, object]:
    """The answer to FACTS_CODE as fields of a fingerprint; packages carry no hash: no lock names one."""
    said = json.loads(last_line)
    pins = [Pin(name=normalised_name(name), version=version, sha256=()) for name, version in said["packages"].items()]
    torch = said["torch"]
    return {
        "python": said["python"],
        "torch": Torch(version=torch[0], cuda=torch[1], hip=torch[2]) if torch else None,
        "packages": tuple(sorted(pins, key=lambda pin: pin.name)),
    }
