"""The simulator: a child process in an environment of its own, and the profiles that it made, kept by content.

Belongs here: starting, asking and ending the child (simulator_child.py), the profile cache. Not here: what is asked
(pipeline/sweep/simulator_requests.py) and what an answer means (pipeline/sweep/simulated.py).
"""

import json
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from pipeline.errors import SimulatorError
from pipeline.sweep.plan import SIMULATOR_BUILD, SIMULATOR_PINS
from resources.atomic_files import sha256_of, write_bytes

CHILD = Path(__file__).with_name("simulator_child.py")
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class Profile:
    """Step times of one deployment: the npz that the replay reads, and what is known about their quality."""

    npz: Path
    facts: dict[str, Any]


class Simulator(dg.ConfigurableResource):
    """Runs ``child`` with the interpreter ``python``; profiles are kept under ``cache_dir``.

    A question that has no answer after ``answer_timeout_s`` ends the child; the longest take about ten seconds.
    """

    python: str
    cache_dir: str
    child: str = str(CHILD)
    answer_timeout_s: float = Field(default=600, gt=0)

    @contextmanager
    def session(self) -> Iterator["SimulatorSession"]:
        """One child for many points, ended with the block. Raises SimulatorError."""
        if not Path(self.python).is_file():
            raise SimulatorError(
                "the simulator's interpreter is not there",
                where=self.python,
                next_step=f"Run frontier build {SIMULATOR_BUILD}, or name the Python of an environment with "
                f"{' '.join(f'{n}=={v}' for n, v in SIMULATOR_PINS.items())} in FRONTIER_SIMULATOR_PYTHON.",
            )
        with tempfile.TemporaryDirectory(prefix="frontier-simulator-") as folder, _process(self, folder) as process:
            session = SimulatorSession(process, Path(folder), self)
            session.refuse_other_versions()
            yield session


@contextmanager
def _process(simulator: Simulator, folder: str) -> Iterator["subprocess.Popen[str]"]:
    with (Path(folder) / "stderr.txt").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [simulator.python, "-I", simulator.child],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=folder,
            env={**ENVIRONMENT, "HOME": folder},
            text=True,
            encoding="utf-8",
        )
        try:
            yield process
        finally:
            process.kill()  # it holds nothing that is worth a goodbye
            process.communicate()


class SimulatorSession:
    """A running child. Every question is answered before the next one is asked."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path, simulator: Simulator):
        self._process = process
        self._folder = folder
        self._cache = Path(simulator.cache_dir)
        self._child_sha256 = sha256_of(Path(simulator.child).read_bytes())
        self._answer_timeout_s = simulator.answer_timeout_s

    def refuse_other_versions(self) -> None:
        """Raises SimulatorError where the environment holds other versions than the pinned ones."""
        found = self._ask({"do": "versions", "packages": list(SIMULATOR_PINS)})
        if found != dict(SIMULATOR_PINS):
            raise SimulatorError(
                "another version of the simulator",
                where="simulator",
                expected=json.dumps(dict(SIMULATOR_PINS)),
                found=json.dumps(found),
                next_step="Build its environment again.",
            )

    def profile(self, asked: dict[str, Any]) -> Profile:
        """The step times of a deployment, from the cache where the same was asked before."""
        key = sha256_of(json.dumps([asked, dict(SIMULATOR_PINS), self._child_sha256], sort_keys=True).encode())[:32]
        npz, facts = self._cache / f"{key}.npz", self._cache / f"{key}.json"
        if not (npz.is_file() and facts.is_file()):
            made = self._folder / "profile.npz"
            answer = self._ask({**asked, "do": "profile", "path": str(made)})
            write_bytes(npz, made.read_bytes())
            write_bytes(facts, json.dumps(answer, sort_keys=True).encode())
        return Profile(npz, json.loads(facts.read_text(encoding="utf-8")))

    def replay(self, asked: dict[str, Any], trace: Sequence[str], profile: Profile) -> dict[str, Any]:
        """One trace at one concurrency on a profile: {"report": …, "requests": [[…], …]}."""
        path = self._folder / "trace.jsonl"
        path.write_text("".join(f"{line}\n" for line in trace), encoding="utf-8")
        engine = {**asked["engine"], "planner_profile_data": str(profile.npz)}
        return self._ask({**asked, "engine": engine, "do": "replay", "trace": str(path), "folder": str(self._folder)})

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        watchdog = threading.Timer(self._answer_timeout_s, self._process.kill)
        watchdog.start()
        try:
            line = self._said(json.dumps(asked))
        finally:
            watchdog.cancel()
        if not line:
            raise _failed(asked, "it ended without an answer: " + (self._last_words() or "it said nothing"), "crashed")
        answer = json.loads(line)
        if "error" in answer:
            raise _failed(asked, str(answer["error"])[:600])
        return dict(answer["ok"])

    def _said(self, question: str) -> str:
        """The child's line; empty where it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except BrokenPipeError:
            return ""

    def _last_words(self) -> str:
        text = (self._folder / "stderr.txt").read_text(encoding="utf-8", errors="replace")
        return " ".join(deque(text.splitlines(), maxlen=3))


def _failed(asked: dict[str, Any], found: str, kind: str = "") -> SimulatorError:
    about = {k: asked[k] for k in ("system", "backend", "version", "concurrency") if k in asked}
    return SimulatorError(
        f"the simulator cannot do {asked['do']} {json.dumps(about) if about else ''}".rstrip(),
        where="simulator",
        found=found,
        next_step="Correct the recipe, or build the simulator's environment again.",
        kind=kind,
    )
