"""A Python environment that is a build: filled from the plan's locks, and proven against them.

Not here: environments as such (python_environment.py), and the order of a build (engine_builder.py).
"""

import json
from collections.abc import Sequence

from pipeline.builds.fingerprint import Torch
from pipeline.builds.lock import normalised_name
from pipeline.builds.plan import Plan, refuse_other_version, refuse_strangers
from pipeline.registry.builds import Environment
from resources.atomic_files import sha256_of, write_bytes
from resources.build_questions import Ask, expect, last_line
from resources.programs import every_few_seconds
from resources.progress import Say
from resources.python_environment import PythonEnvironment, host_python, installer_version

TORCH_CODE = "import json, torch; print(json.dumps([torch.__version__, torch.version.cuda, torch.version.hip]))"


def install(plan: Plan, spec: Environment, environment: PythonEnvironment, source: Sequence[str], say: Say) -> None:
    """Make the environment and install every lock into it, in order. Raises BuildError, OSError."""
    tell = every_few_seconds(plan.slug, say)
    expect(plan.slug, "its environment cannot be made", environment.make(tell))
    with_it = environment.install_with_uv if spec.installer == "uv" else environment.install_with_pip
    for lock, text in plan.lock_texts.items():
        file = environment.folder.parent / lock
        write_bytes(file, text.encode())
        say(f"{plan.slug}: installing {lock} with {installer_version(spec.installer)}")
        no_deps = ["--no-deps"] if lock == spec.lock_no_deps else []
        ended = with_it([*source, *no_deps, "-r", str(file)], tell)
        expect(plan.slug, f"{lock} was not installed", ended)
    if spec.distribution:
        environment.register(*spec.distribution.split("=="))


def proven_environment(plan: Plan, spec: Environment, environment: PythonEnvironment, ask: Ask) -> dict[str, object]:
    """Everything of the fingerprint that is known before size and time. Raises BuildError."""
    host = host_python()
    reported = last_line(plan.slug, ask, spec.version_code)
    refuse_other_version(plan, reported)
    installed = environment.installed()
    ours = normalised_name(spec.distribution.split("==")[0]) if spec.distribution else ""
    refuse_strangers(plan, {name: version for name, version in installed.items() if name != ours})
    torch = json.loads(last_line(plan.slug, ask, TORCH_CODE)) if "torch" in installed else None
    return {
        "reported_version": reported,
        "python": host.version,
        "platform": host.platform,
        "installer": installer_version(spec.installer),
        "torch": Torch(version=torch[0], cuda=torch[1], hip=torch[2]) if torch else None,
        "packages": tuple(pin for pin in plan.pins() if installed.get(pin.name) == pin.version),
        "lock_sha256": {lock: sha256_of(text.encode()) for lock, text in plan.lock_texts.items()},
    }
