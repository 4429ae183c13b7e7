"""A registry with one image behind the fake docker program, and plans that name it."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline.builds.plan import Plan
from pipeline.registry.builds import Build, Image

FAKE = Path(__file__).resolve().parents[1] / "fakes" / "docker.py"
DIGEST = "sha256:" + "ab" * 32
REFERENCE = f"tiny/engine@{DIGEST}"
INSPECTED = {
    "Id": "sha256:" + "cd" * 32,
    "RepoDigests": [REFERENCE],
    "Created": "2026-10-04T00:00:00Z",
    "Os": "linux",
    "Architecture": "amd64",
    "Size": 3 * 2**20,
}
VERSION_CODE = "import tiny_engine; print(tiny_engine.__version__)"
PARSER_CODE = """
import argparse, tiny_engine
parser = argparse.ArgumentParser()
parser.add_argument("--max-num-seqs", type=int)
"""


@dataclass(frozen=True)
class World:
    """The folder that is the fake's far side; ``program`` is on nobody's PATH."""

    folder: Path

    @property
    def program(self) -> str:
        return str(self.folder / "docker")

    def put(self, **changes: object) -> None:
        """What the registry holds under REFERENCE."""
        (self.folder / "images.json").write_text(json.dumps({REFERENCE: INSPECTED | changes}))

    def asked(self, *first: str) -> list[list[str]]:
        """The command lines that began with these words."""
        log = self.folder / "asked.log"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [line for line in lines if line[: len(first)] == list(first)]

    def containers(self) -> list[str]:
        folder = self.folder / "containers"
        return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def make_world(folder: Path) -> World:
    """A world with the image tiny/engine, which holds tiny_engine 1.0."""
    (folder / "site").mkdir(parents=True)
    (folder / "site" / "tiny_engine.py").write_text("__version__ = '1.0'\n")
    program = folder / "docker"
    program.write_text(
        f"#!{sys.executable} -I\nimport os, runpy\n"
        f"os.environ['FAKE_CONTAINERS'] = {str(folder)!r}\nrunpy.run_path({str(FAKE)!r}, run_name='__main__')\n"
    )
    program.chmod(0o755)
    world = World(folder)
    world.put()
    return world


def image_plan(**changes: object) -> Plan:
    """A plan of the build tiny_image, at version 1.0 unless said otherwise."""
    version = str(changes.pop("version", "1.0"))
    named = {"reference": REFERENCE, "version_code": VERSION_CODE, "parser_code": PARSER_CODE, "python": "python3"}
    image = Image(**{**named, **changes})
    build = Build(name="Tiny", role="engine", engine="vllm", version=version, host="rocm", image=image)
    return Plan("tiny_image", build, {})


def pid_runs(pid: int) -> bool:
    """Whether a process of that id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
