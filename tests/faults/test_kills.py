"""SIGKILL at a random moment: to a publication, to an import, to a sweep, to its engine and to its load client."""

import contextlib
import json
import os
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from resources.dagster_runs import open_instance
from resources.device_lock import Devices
from resources.lost_runs import UNDER_WAY
from tests.faults import acts
from tests.faults.children import PATIENCE_S, Children, told
from tests.faults.site_states import files_of, is_whole, temporary
from tests.graph.conftest import DAY

VICTIMS = ("run", "server", "keeper", "client")


@dataclass(frozen=True)
class Publication:
    """A home with a published site and newer rows, the site that follows, and how long that takes [s]."""

    home: Path
    old: dict[str, bytes]
    new: dict[str, bytes]
    log: bytes
    took_s: float


@pytest.fixture(scope="module")
def publication(tmp_path_factory, children: Children) -> Publication:
    root = tmp_path_factory.mktemp("publication")
    home = root / "home"
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.OLD))
        graph.publish()
        graph.derive(graph.seed(*acts.NEW, name="b.json", run_id="r2", run_date=DAY.replace(day=5)))
    undisturbed = _copy(home, root / "undisturbed")
    took_s = children.run(acts.publish, undisturbed)
    log = (undisturbed / "store/changes/changes.parquet").read_bytes()
    return Publication(home, files_of(home / "site"), files_of(undisturbed / "site"), log, took_s)


def _copy(home: Path, to: Path) -> Path:
    return Path(shutil.copytree(home, to, symlinks=True))


def test_a_killed_publication_leaves_the_old_site_or_the_new_one_and_the_next_one_the_new(
    publication, children, copied, rng
):
    home = copied(publication.home)
    for _ in range(2):
        children.killed(rng, publication.took_s, acts.publish, home)
        assert files_of(home / "site") in (publication.old, publication.new)
        assert is_whole(home / "site")
    children.run(acts.publish, home)
    assert files_of(home / "site") == publication.new
    assert is_whole(home / "site")
    assert (home / "store/changes/changes.parquet").read_bytes() == publication.log
    assert temporary(home) == []
    with acts.opened(home) as graph:
        assert acts.running(graph.instance) == []


@dataclass(frozen=True)
class Swept:
    """The undisturbed sweep: what its points say, and how long it takes [s]."""

    points: list[dict]
    took_s: float


MOVING = {"client_cpu_cores", "wall_s", "host_load_1m", "clock_mhz", "temperature_max_c", "power_w_gpu"}
"""Columns that tell of this host while it measured."""


def _points(home: Path) -> list[dict]:
    rows = []
    for path in sorted((home / "store/sweeps").rglob("*.points.parquet")):
        rows += pq.read_table(path, partitioning=None).to_pylist()
    valid = [row for row in rows if row["valid"]]
    last = {row["concurrency"]: row for row in sorted(valid, key=lambda row: row["attempt"])}
    moving = MOVING | {"attempt", "point_id", "source_file", "source_sha256"}
    return [{name: value for name, value in last[key].items() if name not in moving} for key in sorted(last)]


@pytest.fixture(scope="module")
def swept(tmp_path_factory, children: Children) -> Swept:
    home = tmp_path_factory.mktemp("swept") / "home"
    acts.prepare_sweep(home)
    took_s = children.run(acts.sweep, home)
    return Swept(_points(home), took_s)


def _victim(home: Path, name: str, run: int) -> psutil.Process | None:
    with contextlib.suppress(OSError, KeyError, ValueError, psutil.Error):
        if name == "run":
            return psutil.Process(run)
        if name == "client":
            clients = (c for c in psutil.Process(run).children() if c.cwd().startswith(f"{home}/load/"))
            return next(clients, None)
        return psutil.Process(json.loads((home / "devices/cpu.holder.json").read_text())[name]["pid"])
    return None


def _kill_one(children: Children, home: Path, name: str, wait_s: float) -> None:
    """Start a sweep and kill the victim after a while, or as soon after as it is there; the run ends by itself then."""
    child = children.start(acts.sweep, home)
    until_s = time.monotonic() + wait_s
    while child.is_alive():
        victim = _victim(home, name, child.pid or 0) if time.monotonic() > until_s else None
        if victim:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
            break
        time.sleep(0.01)
    child.join(PATIENCE_S)
    assert child.exitcode is not None, told(home)


def test_a_killed_sweep_loses_no_finished_point_and_the_next_one_ends_as_an_undisturbed_one(
    swept, children, tmp_path, rng
):
    home = tmp_path / "home"
    acts.prepare_sweep(home)
    for name in rng.sample(VICTIMS, 2):
        before = _finished(home)
        _kill_one(children, home, name, rng.uniform(0, swept.took_s * 0.7))
        assert before.items() <= _finished(home).items()
    children.run(acts.sweep, home)
    assert _points(home) == swept.points
    assert _ours(home) == []
    devices = Devices(root_dir=str(home / "devices"))
    assert devices.quarantined("cpu") is None
    with devices.hold("cpu", lambda _: None):
        pass
    with acts.opened(home) as graph:
        assert acts.running(graph.instance) == []


def _finished(home: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (home / "store/sweeps").rglob("*.points.parquet")}


def _ours(home: Path) -> list[str]:
    """Living processes that name the home folder; the keeper of a killed run is given the time to end."""
    until_s = time.monotonic() + 20
    while (found := _named(home)) and time.monotonic() < until_s:
        time.sleep(0.2)
    return found


def _named(home: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if process.pid != os.getpid() and any(str(home) in word for word in process.info["cmdline"] or ()):
            found.append(" ".join(process.info["cmdline"]))
    return found


def test_a_killed_import_leaves_what_was_published_and_the_next_one_gives_what_an_undisturbed_one_gives(
    imported, children, copied, rng
):
    home = copied(imported.home)
    for _ in range(2):
        children.killed(rng, imported.took_s, acts.import_and_publish, home, imported.folder, imported.cells)
        site = files_of(home / "site")
        assert site in (imported.old, imported.new)
        assert is_whole(home / "site")
    children.run(acts.import_and_publish, home, imported.folder, imported.cells)
    assert files_of(home / "site") == imported.new
    assert files_of(home / "store") == imported.store


@dataclass(frozen=True)
class Import:
    """A home with a published site, files to import into it, and what comes of that."""

    home: Path
    folder: Path
    cells: tuple[str, ...]
    old: dict[str, bytes]
    new: dict[str, bytes]
    store: dict[str, bytes]
    took_s: float


@pytest.fixture(scope="module")
def imported(tmp_path_factory, children: Children) -> Import:
    root = tmp_path_factory.mktemp("imported")
    home, folder = root / "home", root / "files"
    folder.mkdir()
    for index, gpu in enumerate(("h100", "h200", "b300")):
        row = VLLM | {"date": f"2026101{index}-101500"}
        (folder / f"{gpu}.json").write_text(json.dumps(row))
    blocks = "".join(f'[files."{gpu}.json"]\ngpu = "{gpu}"\n' for gpu in ("h100", "h200", "b300"))
    declared = 'n_gpus = 8\nengine = "vllm"\nprecision = "fp8"\n'
    (folder / "import.toml").write_text(declared + blocks)
    cells = ("h100|2026-10-10", "h200|2026-10-11", "b300|2026-10-12")
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.OLD))
        graph.publish()
    undisturbed = _copy(home, root / "undisturbed")
    took_s = children.run(acts.import_and_publish, undisturbed, folder, cells)
    after = (files_of(undisturbed / "site"), files_of(undisturbed / "store"))
    return Import(home, folder, cells, files_of(home / "site"), *after, took_s)


VLLM = {
    **{"backend": "vllm", "model_id": "openai/gpt-oss-120b", "request_rate": "inf"},
    **{"num_prompts": 64, "max_concurrency": 8, "duration": 10.0, "completed": 64, "failed": 0},
    **{"total_input_tokens": 65536, "total_output_tokens": 65536, "request_throughput": 6.4},
    **{"mean_ttft_ms": 100.0, "median_ttft_ms": 90.0, "std_ttft_ms": 9.0, "p99_ttft_ms": 200.0},
    **{"mean_tpot_ms": 10.0, "median_tpot_ms": 10.0, "std_tpot_ms": 1.0, "p99_tpot_ms": 12.0},
}


def test_a_command_that_was_killed_is_closed_as_failed_by_the_next_one_so_its_gpu_is_free(children, tmp_path, rng):
    home = tmp_path / "home"
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.OLD))
    child = children.start(acts.publish, home)
    until_s = time.monotonic() + PATIENCE_S
    while not _under_way(home) and child.is_alive() and time.monotonic() < until_s:
        time.sleep(0.01)
    time.sleep(rng.uniform(0, 0.1))
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    assert _under_way(home)
    with acts.opened(home) as graph:
        assert acts.running(graph.instance) == []
        (run,) = graph.instance.get_runs(limit=1)
        said = [entry.message for entry in graph.instance.all_logs(run.run_id)]
    assert any("was killed, or its host was restarted" in line and "run the same again" in line for line in said)


def _under_way(home: Path) -> bool:
    with open_instance(home) as instance:
        return any(run.status in UNDER_WAY for run in instance.get_runs())
