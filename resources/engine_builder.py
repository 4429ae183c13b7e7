"""Engine builds on disk: one folder a build, named by the hash of what it was made from, and complete or absent.

Belongs here: the order of a build, its folders, its lock. Not here: Python environments (python_environment.py),
what a plan or a fingerprint is (pipeline/builds).
"""

import datetime as dt
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from pydantic import ValidationError

from pipeline.builds.fingerprint import Fingerprint, Torch, fingerprint_text
from pipeline.builds.lock import normalised_name
from pipeline.builds.plan import Plan, refuse_other_version, refuse_strangers
from pipeline.errors import BuildError
from resources.atomic_files import TEMP_PREFIX, sha256_of, write_bytes
from resources.file_lock import held
from resources.launch_lines import check_launch_line, parse
from resources.programs import Ended
from resources.python_environment import PythonEnvironment, host_python, installer_version

ENVIRONMENT = "environment"
FINGERPRINT = "fingerprint.json"
TORCH_CODE = "import json, torch; print(json.dumps([torch.__version__, torch.version.cuda, torch.version.hip]))"
SECONDS_BETWEEN_LINES = 10

Say = Callable[[str], None]


@dataclass(frozen=True)
class Built:
    """A finished build: its folder, its fingerprint, and whether it was there already."""

    folder: Path
    fingerprint: Fingerprint
    reused: bool

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return interpreter_in(self.folder)


def interpreter_in(folder: Path) -> Path:
    """Where the Python of a build's folder is, or will be."""
    return folder / ENVIRONMENT / "bin" / "python"


class EngineBuilder(dg.ConfigurableResource):
    """Builds under ``root_dir``/<build>/<hash>/, each with environment/, its locks and fingerprint.json.

    ``wheels_dir``: install from this folder of wheels alone, without an index (hosts without a network).
    ``proof_timeout_s`` bounds one question to a new environment.
    """

    root_dir: str
    wheels_dir: str = ""
    proof_timeout_s: float = 600

    def folder(self, plan: Plan) -> Path:
        """Where the build is, whether it exists or not."""
        return Path(self.root_dir) / plan.slug / plan.build_hash(host_python())

    def interpreter(self, plan: Plan) -> Path:
        """Where the build's Python is, or will be once it is built."""
        return interpreter_in(self.folder(plan))

    def find(self, plan: Plan) -> Built | None:
        """The finished build, None where there is none. A folder without fingerprint or Python is not finished."""
        folder = self.folder(plan)
        try:
            fingerprint = Fingerprint.model_validate_json((folder / FINGERPRINT).read_bytes())
        except (OSError, ValidationError):
            return None
        built = Built(folder, fingerprint, reused=True)
        return built if built.python.exists() else None

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
            found = self.find(plan)
            if found:
                say(f"{plan.slug}: already built, {found.folder.name}")
                return found
            return self._make(plan, started_at, descriptor, say)

    def check_launch_line(self, plan: Plan, arguments: Sequence[str]) -> None:
        """Ask the build's own parser what it makes of a server's arguments. Raises BuildError."""
        built = self.find(plan)
        if built is None:
            raise BuildError("is not built here", where=plan.slug, next_step=f"Run frontier build {plan.slug}.")
        name = f"{plan.slug} {built.folder.name}"
        check_launch_line(built.python, plan.build.environment, arguments, name, self.proof_timeout_s)

    def _make(self, plan: Plan, started_at: dt.datetime, descriptor: int, say: Say) -> Built:
        folder = self.folder(plan)
        temp = folder.with_name(TEMP_PREFIX + folder.name)
        shutil.rmtree(folder, ignore_errors=True)
        start_s = time.monotonic()
        try:
            environment = PythonEnvironment(temp / ENVIRONMENT, descriptor)
            self._install(plan, environment, say)
            say(f"{plan.slug}: proving it")
            proven = self._prove(plan, environment)
            environment.lead_scripts_to(folder / ENVIRONMENT)
            measured = {"size_mib": environment.size_mib(), "seconds": round(time.monotonic() - start_s, 1)}
            fingerprint = Fingerprint(**proven, **measured, build_hash=folder.name, built_at=started_at)
            write_bytes(temp / FINGERPRINT, fingerprint_text(fingerprint).encode())
            temp.rename(folder)
        finally:
            shutil.rmtree(temp, ignore_errors=True)
        say(f"{plan.slug}: built {folder.name}, {fingerprint.size_mib:,.0f} MiB in {fingerprint.seconds:.1f} s")
        return Built(folder, fingerprint, reused=False)

    def _install(self, plan: Plan, environment: PythonEnvironment, say: Say) -> None:
        tell = _every_few_seconds(plan.slug, say)
        _expect(plan, "its environment cannot be made", environment.make(tell))
        spec = plan.build.environment
        install = environment.install_with_uv if spec.installer == "uv" else environment.install_with_pip
        for lock, text in plan.lock_texts.items():
            file = environment.folder.parent / lock
            write_bytes(file, text.encode())
            say(f"{plan.slug}: installing {lock} with {installer_version(spec.installer)}")
            no_deps = ["--no-deps"] if lock == spec.lock_no_deps else []
            _expect(plan, f"{lock} was not installed", install([*self._source(), *no_deps, "-r", str(file)], tell))
        if spec.distribution:
            environment.register(*spec.distribution.split("=="))

    def _source(self) -> list[str]:
        return ["--no-index", "--find-links", self.wheels_dir] if self.wheels_dir else []

    def _prove(self, plan: Plan, environment: PythonEnvironment) -> dict[str, object]:
        """Everything of the fingerprint that is known before size and time. Raises BuildError."""
        spec, host = plan.build.environment, host_python()
        reported = self._last_line(plan, environment, spec.version_code)
        refuse_other_version(plan, reported)
        installed = environment.installed()
        ours = normalised_name(spec.distribution.split("==")[0]) if spec.distribution else ""
        refuse_strangers(plan, {name: version for name, version in installed.items() if name != ours})
        if spec.parser_code:
            parse(environment.python, spec, (), plan.slug, self.proof_timeout_s)
        torch = json.loads(self._last_line(plan, environment, TORCH_CODE)) if "torch" in installed else None
        return {
            "build": plan.slug,
            "engine": plan.build.engine,
            "version": plan.build.version,
            "host": plan.build.host,
            "reported_version": reported,
            "python": host.version,
            "platform": host.platform,
            "installer": installer_version(spec.installer),
            "torch": Torch(version=torch[0], cuda=torch[1], hip=torch[2]) if torch else None,
            "packages": tuple(pin for pin in plan.pins() if installed.get(pin.name) == pin.version),
            "lock_sha256": {lock: sha256_of(text.encode()) for lock, text in plan.lock_texts.items()},
        }

    def _last_line(self, plan: Plan, environment: PythonEnvironment, code: str) -> str:
        ended = environment.answer(code, (), plan.build.environment.variables, self.proof_timeout_s)
        _expect(plan, "it does not run", ended)
        return (ended.output.strip().splitlines() or [""])[-1]


def _expect(plan: Plan, what: str, ended: Ended) -> None:
    if ended.code:
        raise BuildError(
            f"{what} (exit code {ended.code})",
            where=plan.slug,
            found=ended.tail(),
            next_step="Nothing of it is kept; correct the cause and build again.",
        )


def _every_few_seconds(slug: str, say: Say) -> Say:
    """Pass an installer's line on when the last one is some seconds old."""
    start_s = last_s = time.monotonic()

    def tell(line: str) -> None:
        nonlocal last_s
        now_s = time.monotonic()
        if line.strip() and now_s - last_s >= SECONDS_BETWEEN_LINES:
            last_s = now_s
            say(f"{slug}: {now_s - start_s:.0f} s, {line.strip()[:100]}")

    return tell


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
