"""Engine builds on disk: one folder a build, named by the hash of what it was made from, and complete or absent.

Belongs here: the order of a build, its folders, its lock. Not here: Python environments (python_environment.py),
container images (engine_image.py), servers that already run (standing_server.py), what a plan or a fingerprint is
(pipeline/builds).
"""

import datetime as dt
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import ValidationError

from pipeline.builds.fingerprint import Fingerprint, fingerprint_text
from pipeline.builds.plan import Plan, refuse_other_version
from pipeline.errors import BuildError
from pipeline.registry.builds import Server
from resources.atomic_files import TEMP_PREFIX, put_in_place, write_bytes
from resources.build_proof import prove_answer, prove_launch_lines
from resources.build_questions import Ask
from resources.built import ENVIRONMENT, Built, interpreter_in
from resources.engine_image import Containers, proven_image, pull_image
from resources.file_lock import held
from resources.launch_lines import check_launch_lines
from resources.locked_environment import install, proven_environment
from resources.programs import ask
from resources.progress import Say
from resources.python_environment import PythonEnvironment, host_python
from resources.standing_server import proven_server

FINGERPRINT = "fingerprint.json"


class EngineBuilder(dg.ConfigurableResource):
    """Builds under ``root_dir``/<build>/<hash>/, each with environment/, its locks and fingerprint.json.

    ``wheels_dir``: install from this folder of wheels alone, without an index (hosts without a network).
    ``proof_timeout_s`` bounds one question to a new build. ``containers`` names docker or podman; empty: the first
    on PATH. The folder of an image or of a running server holds its fingerprint alone.
    """

    root_dir: str
    wheels_dir: str = ""
    containers: str = ""
    proof_timeout_s: float = 600

    def folder(self, plan: Plan) -> Path:
        """Where the build is, whether it exists or not."""
        return Path(self.root_dir) / plan.slug / plan.build_hash(host_python())

    def interpreter(self, plan: Plan) -> Path:
        """Where the build's Python is, or will be once it is built."""
        return interpreter_in(self.folder(plan))

    def find(self, plan: Plan) -> Built | None:
        """The finished build, None where there is none. A folder without fingerprint or Python is not finished.

        An image that was removed is not finished either. Of a running server: what it was when it was last asked.
        """
        folder = self.folder(plan)
        try:
            fingerprint = Fingerprint.model_validate_json((folder / FINGERPRINT).read_bytes())
        except (OSError, ValidationError):
            return None
        built = Built(plan.build, folder, fingerprint, reused=True)
        return built if self._still_here(plan, built) else None

    def _still_here(self, plan: Plan, built: Built) -> bool:
        if plan.build.image:
            try:
                return Containers.found(self.containers).inspect(plan.build.image) is not None
            except (BuildError, OSError):
                return False
        return plan.build.server is not None or built.python.exists()

    def build(self, plan: Plan, started_at: dt.datetime, say: Say) -> Built:
        """The finished build, installed and proven now where it is not there. Raises BuildError, leaving nothing.

        Builders of one slug take turns, also those of other processes: the second finds what the first made.
        """
        plan.refuse_other_python(host_python())
        slug_folder = self.folder(plan).parent
        with (
            _disk_named(slug_folder),
            held(slug_folder / ".lock", lambda: say(f"{plan.slug}: waiting for another builder of it")) as descriptor,
        ):
            _remove_leftovers(slug_folder)
            found = None if plan.build.server else self.find(plan)  # a running server may have become another one
            if found:
                say(f"{plan.slug}: already built, {found.folder.name}")
                return found
            return self._make(plan, started_at, descriptor, say)

    def require(self, plan: Plan) -> Built:
        """The finished build. Raises BuildError where there is none."""
        built = self.find(plan)
        if built is None:
            raise BuildError("is not built here", where=plan.slug, next_step=f"Run frontier build {plan.slug}.")
        return built

    def check_recipes(self, plan: Plan) -> None:
        """Ask a finished build about the recipes of today: they may have changed since it was proven.

        What is installed does not depend on them, so a changed recipe asks for no new build. Raises BuildError.
        """
        built, code = self.require(plan), _parser_code(plan)
        if code:
            prove_launch_lines(plan, self._asker(plan, built.folder), code, built.folder.name)

    def check_launch_lines(self, plan: Plan, lines: Mapping[str, Sequence[str]]) -> None:
        """Ask the build's own parser what it makes of servers' arguments, by a name of each. Raises BuildError."""
        built = self.require(plan)
        name = f"{plan.slug} {built.folder.name}"
        check_launch_lines(self._asker(plan, built.folder), _parser_code(plan), lines, name)

    def _asker(self, plan: Plan, folder: Path) -> Ask:
        """How code is run in the build of that folder. Raises BuildError for a running server: nothing is."""
        if plan.build.server:
            raise BuildError(
                "runs already and has no parser to ask", where=plan.slug, next_step="Ask the build that it runs."
            )
        image, timeout_s = plan.build.image, self.proof_timeout_s
        if image:
            containers = Containers.found(self.containers)
            return lambda code, arguments: containers.answer(image, code, arguments, timeout_s)
        variables = plan.build.environment.variables if plan.build.environment else {}
        python = str(interpreter_in(folder))
        return lambda code, arguments: ask([python, "-P", "-c", code, *arguments], variables, timeout_s)

    def _make(self, plan: Plan, started_at: dt.datetime, descriptor: int, say: Say) -> Built:
        folder = self.folder(plan)
        temp = folder.with_name(TEMP_PREFIX + folder.name)
        shutil.rmtree(folder, ignore_errors=True)
        start_s = time.monotonic()
        try:
            known = {**_named(plan), "build_hash": folder.name, "built_at": started_at}
            proven = self._proven(plan, known, descriptor, say)
            fields = {**known, **proven}  # a running server's own hash replaces that of its address
            fingerprint = Fingerprint(**fields, seconds=round(time.monotonic() - start_s, 1))
            write_bytes(temp / FINGERPRINT, fingerprint_text(fingerprint).encode())
            put_in_place(temp, folder)
        finally:
            shutil.rmtree(temp, ignore_errors=True)
        size = f", {fingerprint.size_mib:,.0f} MiB" if fingerprint.size_mib is not None else ""
        say(f"{plan.slug}: built {folder.name}{size} in {fingerprint.seconds:.1f} s")
        return Built(plan.build, folder, fingerprint, reused=False)

    def _proven(self, plan: Plan, known: dict[str, Any], descriptor: int, say: Say) -> dict[str, Any]:
        """The build made and proven: what its fingerprint says of it beyond what is known. Raises BuildError."""
        build, folder = plan.build, self.folder(plan)
        temp = folder.with_name(TEMP_PREFIX + folder.name)
        if build.server:
            say(f"{plan.slug}: asking it for a token")
            return _server(plan, build.server, self.proof_timeout_s)
        asker, code = self._asker(plan, temp), _parser_code(plan)
        if build.image:
            containers = Containers.found(self.containers)
            pull_image(plan.slug, build.image, containers, descriptor, say)
            proven = proven_image(plan, build.image, containers, asker)
            if code:
                prove_launch_lines(plan, asker, code, folder.name)
            return proven
        assert build.environment
        environment = PythonEnvironment(temp / ENVIRONMENT, descriptor)
        install(plan, build.environment, environment, self._source(), say)
        say(f"{plan.slug}: proving it")
        proven = proven_environment(plan, build.environment, environment, asker)
        if code:
            prove_launch_lines(plan, asker, code, folder.name)
        named = Fingerprint(**known, **proven, size_mib=None, seconds=0)
        prove_answer(plan, Built(build, temp, named, reused=False), say)
        environment.lead_scripts_to(folder / ENVIRONMENT)
        return {**proven, "size_mib": environment.size_mib()}

    def _source(self) -> list[str]:
        return ["--no-index", "--find-links", self.wheels_dir] if self.wheels_dir else []


def _named(plan: Plan) -> dict[str, object]:
    """What the block itself says, as fields of a fingerprint."""
    build = plan.build
    return {
        "build": plan.slug,
        "engine": build.engine,
        "version": build.version,
        "host": build.host,
        "kind": build.kind,
    }


def _server(plan: Plan, server: Server, timeout_s: float) -> dict[str, object]:
    """A running server's part of the fingerprint: all that cannot be known of it from outside is None."""
    proven = proven_server(server, plan.slug, timeout_s)
    if proven["reported_version"] is not None:
        refuse_other_version(plan, proven["reported_version"])
    unknown = dict.fromkeys(("python", "platform", "installer", "torch", "size_mib"))
    return {**unknown, **proven, "packages": (), "lock_sha256": {}}


def _parser_code(plan: Plan) -> str | None:
    runs = plan.build.environment or plan.build.image
    return runs.parser_code if runs else None


def _remove_leftovers(slug_folder: Path) -> None:
    """What interrupted builders left; the caller holds the lock, so none of it is in use."""
    for leftover in slug_folder.glob(f"{TEMP_PREFIX}*"):
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _disk_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BuildError(
            f"cannot build ({error.strerror or error})",
            where=str(folder),
            next_step="Free space or correct the permissions, then build again.",
        ) from error
