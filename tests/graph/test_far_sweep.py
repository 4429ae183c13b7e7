"""A sweep whose GPU is on another host, a folder in its place: what comes home, and what does not."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from pipeline.cell import GpuRun, parse_cell
from pipeline.definitions import build_defs
from pipeline.errors import BuildError, HostError
from pipeline.hosts.messages import Ended, Failed, Finished, Message
from pipeline.hosts.order import SweepOrder
from pipeline.registry.hosts import parse_hosts
from pipeline.registry.shipped import measured_recipes
from pipeline.tables.points import POINTS
from resources.clock import Clock
from resources.far_hosts import FarHosts
from resources.sweep_store import SweepStore
from tests.graph.conftest import AS_OF, Graph
from tests.unit.frontier.point_rows import point
from tests.unit.registry.test_hosts import SSH

CELL = parse_cell(f"h100|{AS_OF}")
RACK_B = parse_hosts(SSH, "hosts.toml")["rack_b"]
ordered: list[SweepOrder] = []


class Nearby(FarHosts):
    """A host that is a folder. ``plot`` is what it says, a word a message."""

    folder: str
    plot: str = "finished ended"

    @contextmanager
    def sweeping(self, context: dg.AssetExecutionContext, order: SweepOrder) -> Iterator[Iterator[Message]]:
        """The messages of the plot."""
        ordered.append(order)
        files = SweepStore(root_dir=self.folder).hashes_by_file(order.cell)
        wrong = dict.fromkeys(files, "0" * 64)
        failed = Failed(BuildError("is not built here", where="rack_b: vllm", next_step="Build it."))
        said = {"finished": Finished(files), "ended": Ended(files, 2), "lies": Ended(wrong, 2), "failed": failed}
        yield (said[word] for word in self.plot.split())

    def carrier(self, gpu: str) -> "Nearby":
        """Itself."""
        return self

    def read(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        """From its folder; once not, where a file ``refused`` lies there."""
        refused = Path(self.folder) / "refused"
        if refused.exists():
            refused.unlink()
            raise HostError("is away", where="rack_b", next_step="Wait.")
        folder = Path(self.folder) / "sweeps" / cell.gpu / cell.run_date.isoformat()
        return {file: (folder / file).read_bytes() for file in files}


@pytest.fixture
def far(tmp_path) -> SweepStore:
    """What lies on the other host: two measured points."""
    store = SweepStore(root_dir=str(tmp_path / "far"))
    put(store, "f1", "f2")
    return store


def put(store: SweepStore, *names: str) -> None:
    for name in names:
        row = point(50.0, 900.0, point_id=name, provenance="measured", gpu="h100", run_date=CELL.run_date)
        store.put(CELL, name, row, {})


def sweep(graph: Graph, far: SweepStore, monkeypatch, plot: str = "finished ended", **config: object) -> dict:
    monkeypatch.setattr("resources.far_hosts.host_of", lambda gpu: ("rack_b", RACK_B))
    hosts = Nearby(folder=far.root_dir, plot=plot)
    resources = {"prices": graph.book, "clock": Clock(fixed_day=AS_OF), "far_hosts": hosts}
    wired = Graph(graph.home, build_defs(graph.home, resources), graph.instance, graph.book)
    return wired.runs.run("run_sweep", partition=CELL.key, config={"sweep": config})


def here(graph: Graph) -> list[str]:
    return SweepStore(root_dir=str(graph.home / "store")).read(CELL, POINTS)["point_id"].to_pylist()


def test_points_come_home_beside_those_that_were_measured_before(graph, far, monkeypatch):
    put(SweepStore(root_dir=str(graph.home / "store")), "old")
    done = sweep(graph, far, monkeypatch)
    assert (done["n_points"], done["n_points_measured_now"], done["n_points_of_old_plans"]) == (3, 2, 0)
    assert done["kind"] == "measured"
    assert here(graph) == ["f1", "f2", "old"]


def test_the_order_says_what_was_asked_and_where(graph, far, monkeypatch):
    ordered.clear()
    slug, recipe = next((slug, recipe) for slug, recipe in measured_recipes().items() if recipe.gpu == "h100")
    sweep(graph, far, monkeypatch, recipes=[slug], versions={recipe.build: "0.33.1"})
    assert [SweepOrder("rack_b", CELL, (slug,), {recipe.build: "0.33.1"})] == ordered


def test_what_does_not_come_at_once_comes_at_the_end(graph, far, monkeypatch):
    (Path(far.root_dir) / "refused").touch()
    sweep(graph, far, monkeypatch)
    assert here(graph) == ["f1", "f2"]


@pytest.mark.parametrize(
    ("plot", "error", "words", "kept"),
    [
        ("finished failed", BuildError, "rack_b: vllm: is not built here", ["f1", "f2"]),
        ("finished", HostError, "its sweep ended without saying how", ["f1", "f2"]),
        ("lies", HostError, "sent other bytes than it said", []),
    ],
)
def test_a_bad_end_over_there_is_told_here_and_what_was_finished_stays(
    graph, far, monkeypatch, plot, error, words, kept
):
    with pytest.raises(error, match=words):
        sweep(graph, far, monkeypatch, plot)
    assert here(graph) == kept
