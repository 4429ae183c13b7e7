"""Ten kills at random moments: SIGKILL to the run, to its server and to its load client in turn, and runs again.

What comes out is what an undisturbed sweep has, and nothing is left. The moments follow from SOAK_SEED and from how
long an undisturbed sweep takes here. Every kill is a line of the table that is printed (pytest -s).
"""

import datetime as dt
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from pipeline.cell import GpuRun
from tests.engines.sweep_process import Swept, swept_at

pytestmark = pytest.mark.soak

CELL = GpuRun("cpu", dt.date(2026, 11, 1))
SEED = int(os.environ.get("SOAK_SEED", "1"))
N_KILLS = 10
LADDER = 2
VICTIMS = ("run", "server", "client")
PASSING = ("starting,", "warm-up", "repeat ", "ready after", "%")


@dataclass
class Kill:
    """One kill: when in the run [s], whom, which log and how many lines it had, and the files that were finished."""

    moment_s: float
    victim: str
    log: int
    n_lines: int
    files: dict[str, bytes]

    def told(self, swept: Swept) -> str:
        """A line of the table: what was under way, and what was said next."""
        said = _said(swept, self.log)
        following = said[self.n_lines :]
        if self.victim == "run" and self.log + 1 < len(swept.started):
            following = _said(swept, self.log + 1)
        under_way = (said[: self.n_lines] or ["starting"])[-1]
        return f"{self.moment_s:6.1f} s | {self.victim:6} | {under_way[:70]} | {' / '.join(following[:3])[:230]}"


def test_ten_kills_at_random_moments_and_reruns_end_as_an_undisturbed_sweep(tmp_path, engines):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "builds").symlink_to(engines.root_dir)
    expected, took_s = _undisturbed(tmp_path)
    rng, n_done = random.Random(SEED), 0
    while n_done < N_KILLS:
        with swept_at(tmp_path / f"from{n_done}", tmp_path / "shared", CELL) as swept:
            kills = _kill_until_whole(swept, rng, took_s, range(n_done, N_KILLS))
            _finish(swept)
            print(f"\n{len(kills)} kills, {len(swept.started)} runs", *(k.told(swept) for k in kills), sep="\n")
            assert {name.partition("-")[0] for name in swept.names()} == expected
            assert all(kill.files.items() <= swept.files().items() for kill in kills)
            assert len({row["run_id"] for row in swept.rows()}) == 1
            assert swept.left() == []
            n_done += len(kills)


def _undisturbed(root: Path) -> tuple[set[str], float]:
    """Names of the points of an undisturbed sweep, and how long it takes where the client's own error is known."""
    for name in ("first", "undisturbed"):
        with swept_at(root / name, root / "shared", CELL) as swept:
            start_s = time.monotonic()
            code, said = swept.run("vllm", ladder=LADDER if name == "undisturbed" else 1)
            assert code == 0, said
            assert swept.left() == []
            names = swept.names()
    return names, time.monotonic() - start_s


def _kill_until_whole(swept: Swept, rng: random.Random, longest_wait_s: float, numbers: range) -> list[Kill]:
    """Kills in turn; fewer than there are numbers where the sweep came to its end in between."""
    kills: list[Kill] = []
    while len(kills) < len(numbers) and not _is_whole(swept):
        if not swept.started or swept.started[-1].poll() is not None:
            swept.start("vllm", ladder=LADDER)
        kill = _kill(swept, VICTIMS[numbers[len(kills)] % len(VICTIMS)], rng.uniform(0, longest_wait_s))
        kills += [kill] if kill else []
    return kills


def _kill(swept: Swept, victim: str, wait_s: float) -> Kill | None:
    """Kill it after a while, or as soon after as it is there; None where the run ended before."""
    run, until_s = swept.started[-1], time.monotonic() + wait_s
    while run.poll() is None:
        found = _process(swept, victim) if time.monotonic() > until_s else None
        if found is not None:
            log = len(swept.started) - 1
            moment_s = time.time() - psutil.Process(run.pid).create_time()
            kill = Kill(moment_s, victim, log, len(_said(swept, log)), swept.files())
            found.kill()
            if victim == "run":
                run.wait()
            return kill
        time.sleep(0.05)
    return None


def _process(swept: Swept, victim: str) -> psutil.Process | None:
    if victim == "run":
        return psutil.Process(swept.started[-1].pid)
    return swept.server() if victim == "server" else swept.client()


def _finish(swept: Swept) -> None:
    """Let the run end that is under way, then run again until a run has nothing more to say than that it is done."""
    swept.started[-1].wait()
    for _ in range(N_KILLS):
        code, said = swept.run("vllm", ladder=LADDER)
        if code == 0 and _is_whole(swept):
            return
    pytest.fail(said)


def _is_whole(swept: Swept) -> bool:
    return {row["concurrency"] for row in swept.rows() if row["valid"]} == {1, 2}


def _said(swept: Swept, log: int) -> list[str]:
    lines = [line.strip() for line in swept.log(log).read_text().splitlines()]
    return [line for line in lines if line and not any(word in line for word in PASSING)]
