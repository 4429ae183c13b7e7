"""A measured sweep of what is no environment: servers in containers, and servers of somebody else's."""

import datetime as dt

import pytest

from pipeline.builds.plan import Plan
from pipeline.cell import parse_cell
from pipeline.definitions import build_defs
from pipeline.errors import SweepFailedError, SweepRefusedError
from pipeline.registry.builds import Build, Server
from pipeline.registry.measured import Sizes, Topology
from pipeline.registry.shipped import measured_recipes, shipped_builds
from pipeline.sweep import launch_line
from pipeline.tables.points import POINTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES
from resources.clock import Clock
from resources.engine_server import EngineServers
from tests.fakes.inference_server import serving, vllm_server
from tests.graph.conftest import AS_OF, Graph
from tests.graph.test_measured_sweep import FAKES, SHORT, asked, bench_at, far, pretend_built
from tests.io.images import image_plan, make_world

__all__ = ["far"]
AT = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)


def graph_of(graph, bench) -> Graph:
    resources = {"prices": graph.book, "clock": Clock(fixed_day=AS_OF), "bench": bench}
    return Graph(graph.home, build_defs(graph.home, resources), graph.instance, graph.book)


def one_recipe(monkeypatch, **changes: object) -> None:
    recipe = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"concurrency": SHORT, **changes})
    monkeypatch.setattr("assets.sweep.measured_recipes", lambda: {"ours": recipe})


def swept(graph: Graph, gpu: str, kind: str = "measured") -> dict:
    return graph.runs.run("run_sweep", partition=f"{gpu}|{AS_OF}", config={"sweep": {"kind": kind}})


def rows_of(graph: Graph, gpu: str, table) -> list[dict]:
    graph.derive(f"{gpu}|{AS_OF}")
    return graph.store.read("raw", parse_cell(f"{gpu}|{AS_OF}"), table).to_pylist()


@pytest.fixture
def bench(graph, far, monkeypatch):
    monkeypatch.setattr("resources.made_model.CHILD", FAKES / "made_model_child.py")
    bench = bench_at(graph.home, far)
    pretend_built(bench.builder, "aiperf")
    return bench


@pytest.fixture
def vllm():
    with serving(vllm_server()) as fake:
        yield fake


@pytest.fixture
def ours(bench, vllm, monkeypatch) -> Plan:
    """A build that is a running server, asked once."""
    server = Server(url=vllm.url, facts={"gpus_held": "16"})
    build = Build(name="Ours", role="engine", engine="vllm", version="0.33.0", host="any", server=server)
    monkeypatch.setitem(shipped_builds(), "ours", build)
    bench.builder.build(Plan("ours", build, {}), AT, print)
    return Plan("ours", build, {})


def test_an_image_is_measured_as_an_environment_is_and_no_container_is_left(graph, bench, far, tmp_path, monkeypatch):
    world, plan = make_world(tmp_path / "world"), image_plan()
    monkeypatch.setitem(shipped_builds(), plan.slug, plan.build)
    monkeypatch.setitem(launch_line.MODULES, "vllm", (str(FAKES / "engine.py"),))
    one_recipe(monkeypatch, build=plan.slug)
    kind = type(bench.builder)
    builder = kind(root_dir=bench.builder.root_dir, containers=world.program)
    builder.build(plan, AT, print)
    servers = EngineServers(**{**dict(bench.servers), "containers": world.program})
    bench = type(bench)(**{**dict(bench), "builder": builder, "servers": servers})
    graph = graph_of(graph, bench)
    assert swept(graph, "cpu")["n_points"] == 3
    assert asked(far) == ["1", "2", "4"]
    (run,) = rows_of(graph, "cpu", RUNS)
    assert run["engine_build"].startswith("tiny_image 1.0 ")
    assert "made:small" in run["launch_line"]
    [started] = [line for line in world.asked("run") if "--publish" in line]
    assert started[started.index("--volume") + 1].startswith(str(graph.home / "models"))
    assert world.containers() == []


def test_a_server_that_runs_elsewhere_is_measured_without_its_device(graph, bench, far, vllm, ours, monkeypatch):
    split = Topology(tp=8, prefill=Sizes(tp=4, n_workers=2))
    one_recipe(monkeypatch, build="ours", gpu="h100", topologies=(split,), launch=())
    graph = graph_of(graph, bench)
    assert swept(graph, "h100")["kind"] == "measured"
    assert asked(far) == ["1", "2", "4"]
    rows = rows_of(graph, "h100", POINTS)
    assert {row["topology"] for row in rows} == {"prefill 2×tp4 + decode 1×tp8"}
    assert {(row["n_gpus_prefill"], row["n_gpus_decode"], row["n_gpus"], row["disaggregated"]) for row in rows} == {
        (8, 8, 16, True)
    }
    # 3 × 320 tokens in 3 × 0.73 s, on 16 GPUs
    assert rows[0]["throughput_tok_s_gpu"] == pytest.approx(320 / 0.73 / 16)
    assert {(row["device_name"], row["power_w_gpu"]) for row in rows} == {(None, None)}
    (run,) = rows_of(graph, "h100", RUNS)
    assert run["launch_line"] == "not started here: gpus_held=16 version=0.33.0"
    assert (run["device_name"], run["driver"]) == (None, None)
    graph.publish("h100")
    page = (graph.home / "site/run/small_random_28m-on-h100/index.html").read_text()
    assert "not started here: gpus_held=16 version=0.33.0" in page
    assert vllm.url not in page
    assert swept(graph, "h100")["n_points_measured_now"] == 0


def test_a_server_of_this_host_is_measured_with_its_device_and_nobody_is_a_stranger(graph, bench, ours, monkeypatch):
    one_recipe(monkeypatch, build="ours", launch=())
    graph = graph_of(graph, bench)
    swept(graph, "cpu")
    (run,) = rows_of(graph, "cpu", RUNS)
    assert run["device_name"] == bench.probe.identity("cpu").name
    samples = rows_of(graph, "cpu", SAMPLES)
    assert samples
    assert {row["foreign_share"] for row in samples} == {None}


def test_left_to_itself_a_sweep_of_a_gpu_that_is_not_here_does_not_turn_to_its_server(graph, bench, ours, monkeypatch):
    one_recipe(monkeypatch, build="ours", gpu="mi300x", launch=())
    with pytest.raises(SweepRefusedError, match="sweep of mi300x: no recipe"):
        swept(graph_of(graph, bench), "mi300x", "auto")


def test_another_server_at_the_address_is_not_measured(graph, bench, far, vllm, ours, monkeypatch):
    one_recipe(monkeypatch, build="ours", launch=())
    vllm.answers["/version"] = {"version": "0.33.0+patched"}
    with pytest.raises(SweepFailedError, match="ours: is not the server that was asked for"):
        swept(graph_of(graph, bench), "cpu")
    assert not (far / "asked.log").exists()
