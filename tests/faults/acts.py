"""What is killed, starved and raced in tests/faults: the product's own jobs over one home folder.

A module that children import beforehand, so nothing here runs at import.
"""

import contextlib
import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path

import dagster as dg

import assets.sweep
import resources.made_model
from pipeline.definitions import build_defs
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep import launch_line
from resources.clock import Clock
from resources.dagster_runs import open_instance
from resources.lost_runs import close_lost_runs
from tests.graph.conftest import AS_OF, Graph, graph_at
from tests.graph.test_measured_sweep import FAKES, SHORT, bench_at, pretend_built

GPU = "b300"
OLD = ((60.0, 9000.0), (90.0, 7000.0), (150.0, 3000.0))
NEW = ((60.0, 9900.0), (90.0, 7700.0), (150.0, 3300.0))


@contextlib.contextmanager
def opened(home: Path, day: str = AS_OF) -> Iterator[Graph]:
    """The wired graph over the instance of a home folder, as the command line has it."""
    with open_instance(home) as instance:
        close_lost_runs(instance)
        graph = graph_at(home, instance)
        if day != AS_OF:
            resources = {"prices": graph.book, "clock": Clock(fixed_day=day)}
            graph = Graph(home, build_defs(home, resources), instance, graph.book)
        yield graph


def log_of(home: Path) -> Path:
    """Beside the home folder, which may be on a full disk."""
    return home.with_name(f"{home.name}.act.log")


def told_beside_its_home(act: Callable[..., None]) -> Callable[..., None]:
    """The act with everything that it says in act.log beside its home; an error is its traceback and exit code 1."""

    @wraps(act)
    def told(home: Path, *arguments: object) -> None:
        with log_of(home).open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            try:
                act(home, *arguments)
            except Exception:
                traceback.print_exc(file=log)
                log.flush()
                os._exit(1)

    return told


@told_beside_its_home
def publish(home: Path) -> None:
    """Pages of the GPU and the site."""
    with opened(home) as graph:
        graph.publish(GPU)


@told_beside_its_home
def import_and_publish(home: Path, folder: Path, cells: tuple[str, ...]) -> None:
    """Everything of a folder, its cells, the pages and the site."""
    with opened(home) as graph:
        graph.runs.run("import_results", config={"imported_results": {"paths": [str(folder)], "declared": {}}})
        for cell in cells:
            graph.derive(cell)
        for gpu in sorted({cell.partition("|")[0] for cell in cells}):
            graph.runs.run("build_pages", partition=gpu)
        graph.runs.run("publish_site")


@told_beside_its_home
def sweep(home: Path) -> None:
    """One recipe of vLLM on the CPU, with stand-ins for engine and load client."""
    with opened(home) as graph:
        measured_graph(graph).runs.run(
            "run_sweep", partition=f"cpu|{AS_OF}", config={"sweep": {"recipes": ["cpu_vllm_fixed"]}}
        )


def measured_graph(graph: Graph, put: Callable[[object, str, object], None] = setattr) -> Graph:
    """The graph with stand-ins on the far side of a sweep, which ``put`` puts in their places in this process."""
    recipe = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"concurrency": SHORT})
    put(assets.sweep, "measured_recipes", lambda: {"cpu_vllm_fixed": recipe})
    put(launch_line, "MODULES", {**launch_line.MODULES, "vllm": (str(FAKES / "engine.py"),)})
    put(resources.made_model, "CHILD", FAKES / "made_model_child.py")
    bench = bench_at(graph.home, far_of(graph.home))
    stand_ins = {"prices": graph.book, "clock": Clock(fixed_day=AS_OF), "bench": bench}
    return Graph(graph.home, build_defs(graph.home, stand_ins), graph.instance, graph.book)


def far_of(home: Path) -> Path:
    """The folder of the stand-in for the load client, which writes down beside itself what it was asked."""
    return home / "far"


def prepare_sweep(home: Path) -> None:
    """Builds that only seem to be there."""
    far_of(home).mkdir(parents=True)
    shutil.copy(FAKES / "sweep_load_child.py", far_of(home))
    for slug in ("vllm_cpu", "aiperf"):
        pretend_built(bench_at(home, far_of(home)).builder, slug)


def running(instance: dg.DagsterInstance) -> list[str]:
    """Runs that are recorded as not ended."""
    return [run.run_id for run in instance.get_runs() if not run.is_finished]
