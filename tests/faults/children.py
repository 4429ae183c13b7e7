"""Acts in processes of their own that can be killed at any moment."""

import contextlib
import multiprocessing
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

PATIENCE_S = 240


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.acts"])
    return context


@dataclass
class Children:
    """Starts an act (a function of tests/faults/acts.py) in a child, which says everything beside its home folder."""

    context: ForkServerContext = field(default_factory=_context)

    def start(self, act: Callable[..., None], home: Path, *arguments: object) -> BaseProcess:
        child = self.context.Process(target=act, args=(home, *arguments), name=act.__name__)
        child.start()
        return child

    def run(self, act: Callable[..., None], home: Path, *arguments: object) -> float:
        """The act to its end; seconds that it took."""
        start_s = time.monotonic()
        child = self.start(act, home, *arguments)
        child.join(PATIENCE_S)
        assert child.exitcode == 0, f"{act.__name__} ended with {child.exitcode}: {told(home)}"
        return time.monotonic() - start_s

    def killed(
        self, rng: random.Random, took_s: float, act: Callable[..., None], home: Path, *arguments: object
    ) -> bool:
        """SIGKILL to the act at a moment of its usual time; False where it was done before."""
        child = self.start(act, home, *arguments)
        child.join(rng.uniform(0, took_s))
        before_its_end = child.is_alive()
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        child.join(PATIENCE_S)
        return before_its_end


def told(home: Path) -> str:
    log = home.with_name(f"{home.name}.act.log")
    return log.read_text()[-3000:] if log.exists() else "it said nothing"
