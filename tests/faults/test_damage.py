"""One damaged file among good ones, and lost records of Dagster: told by name, and mended by what the sentence says."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.cell import GpuRun
from pipeline.errors import StoreError
from resources.sweep_store import SweepStore
from tests.faults import acts
from tests.faults.site_states import files_of, is_whole
from tests.graph.conftest import DAY, Graph
from tests.unit.frontier.point_rows import curve

CELLS = ("b300|2026-10-02", "b300|2026-10-05", "h100|2026-10-02")


def seed(graph: Graph) -> None:
    graph.seed(*acts.OLD)
    graph.seed(*acts.NEW, name="b.json", run_id="r2", run_date=DAY.replace(day=5))
    graph.seed(*acts.OLD, name="c.json", gpu="h100", run_id="r3")


def derive_and_publish(graph: Graph) -> None:
    for cell in CELLS:
        graph.derive(cell)
    publish(graph)


def publish(graph: Graph) -> None:
    for gpu in ("b300", "h100"):
        graph.runs.run("build_pages", partition=gpu)
    graph.runs.run("publish_site")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("whole") / "home"
    with acts.opened(home) as graph:
        seed(graph)
        derive_and_publish(graph)
    return home


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def zeroes(content: bytes, rng: random.Random) -> bytes:
    return bytes(len(content))


def garbage(content: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(len(content))


def another(content: bytes, rng: random.Random) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": [1]}), sink)
    return sink.getvalue().to_pybytes()


def flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def damage(folder: Path, pattern: str, how, rng: random.Random) -> Path:
    victim = rng.choice(sorted(p for p in folder.rglob(pattern) if not p.name.startswith(".")))
    victim.write_bytes(how(victim.read_bytes(), rng))
    return victim


def refusal(step: Callable[[Graph], None], graph: Graph) -> str:
    """The sentence with which a step refuses; empty where it does not."""
    try:
        step(graph)
    except StoreError as error:
        return str(error)
    return ""


def test_a_damaged_imported_file_is_named_and_importing_it_again_mends_it(whole, copied, rng):
    how = rng.choice((cut, zeroes, garbage, another, flipped))
    home = copied(whole)
    victim = damage(home / "store/imports", "*.points.parquet", how, rng)
    before = files_of(home / "site")
    with acts.opened(home) as graph:
        said = refusal(derive_and_publish, graph)
        if said or how is not flipped:  # a flipped bit may be one that means nothing
            assert str(victim) in said
            assert "import its source file again" in said
        assert files_of(home / "site") == before
        victim.unlink()
        seed(graph)
        derive_and_publish(graph)
    assert files_of(home / "site") == files_of(whole / "site")
    assert files_of(home / "store") == files_of(whole / "store")


def test_a_damaged_point_of_a_sweep_is_named_and_is_never_called_derivable(tmp_path, rng):
    home, cell = tmp_path / "home", GpuRun("b300", DAY)
    (row,) = curve((60.0, 9000.0), gpu="b300", model="deepseek_v4_1_flash", run_date=DAY, provenance="measured")
    store = SweepStore(root_dir=str(home / "store"))
    with acts.opened(home) as graph:
        store.put(cell, "f1", row, {})
        store.put(cell, "f2", row | {"point_id": "other", "concurrency": 99}, {})
        graph.derive(cell.key)
        graph.publish()
        before = files_of(home / "store")
        victim = damage(home / "store/sweeps", "*.points.parquet", rng.choice((cut, zeroes, garbage, another)), rng)
        damaged = victim.read_bytes()
        site = files_of(home / "site")
        said = refusal(lambda graph: graph.derive(cell.key), graph)
        assert said.startswith(f"{victim}: ")
        assert "What a sweep left cannot be derived: restore it from a backup." in said
        assert victim.read_bytes() == damaged
        victim.write_bytes(before[victim.relative_to(home / "store").as_posix()])
        graph.derive(cell.key)
        graph.publish()
    assert files_of(home / "site") == site
    assert files_of(home / "store") == before


@pytest.mark.parametrize("stage", ["raw", "frontier", "costs"])
def test_a_damaged_derived_file_is_named_and_deriving_its_cell_mends_it(whole, copied, rng, stage):
    how = rng.choice((cut, zeroes, garbage, another))
    home = copied(whole)
    victim = damage(home / "store" / stage, "*.parquet", how, rng)
    before = files_of(home / "site")
    with acts.opened(home) as graph:
        if victim.name != "requests.parquet":  # which no page reads
            with pytest.raises(StoreError) as told:
                publish(graph)
            assert str(victim) in str(told.value)
            assert "Delete it, then run frontier publish: it is derived again" in str(told.value)
        assert files_of(home / "site") == before
        victim.unlink()
        graph.derive(f"{victim.parent.parent.name}|{victim.parent.name}")
        publish(graph)
    assert files_of(home / "site") == before
    assert files_of(home / "store") == files_of(whole / "store")


def test_a_damaged_page_is_named_and_making_it_again_mends_it(whole, copied, rng):
    how = rng.choice((cut, zeroes, garbage))
    home = copied(whole)
    victim = damage(home / "store/pages", "*.json", how, rng)
    with acts.opened(home) as graph:
        with pytest.raises(StoreError) as told:
            graph.runs.run("publish_site")
        assert f"{victim}: not a stored page" in str(told.value)
        assert "Run frontier publish; it is made again." in str(told.value)
        publish(graph)
    assert files_of(home / "site") == files_of(whole / "site")


def test_a_damaged_log_of_changes_is_named_and_its_published_copy_mends_it(whole, copied, rng):
    how = rng.choice((cut, zeroes, garbage, another, flipped))
    home = copied(whole)
    victim = damage(home / "store/changes", "*.parquet", how, rng)
    with acts.opened(home) as graph:
        said = refusal(publish, graph)
        if said or how is not flipped:
            assert str(victim) in said
            assert "do not delete it" in said
        shutil.copy(home / "site/data/changes.parquet", victim)
        publish(graph)
    assert files_of(home / "site") == files_of(whole / "site")
    assert files_of(home / "store") == files_of(whole / "store")


def test_a_damaged_published_database_is_written_again(whole, copied, rng):
    how = rng.choice((cut, garbage, flipped))
    home = copied(whole)
    (home / "site/data/published.duckdb").chmod(0o644)
    damage(home / "site/data", "published.duckdb", how, rng)
    with acts.opened(home) as graph:
        publish(graph)
    assert is_whole(home / "site")
    with duckdb.connect(str(home / "site/data/published.duckdb"), read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM points").fetchall() == [(9,)]


def test_what_is_published_does_not_depend_on_dagsters_records(whole, copied, rng):
    home = copied(whole)
    n_lost = 0
    for database in [home / "dagster/history/runs/index.db", *(home / "dagster/history/runs").glob("*-*.db")]:
        with sqlite3.connect(database) as connection:
            rows = [row for (row,) in connection.execute("SELECT id FROM event_logs")]
            for row in rng.sample(rows, min(len(rows), 3)):
                n_lost += connection.execute("DELETE FROM event_logs WHERE id = ?", (row,)).rowcount
        connection.close()
    assert n_lost > 10
    with acts.opened(home) as graph:
        publish(graph)
        assert files_of(home / "site") == files_of(whole / "site")
        derive_and_publish(graph)
        latest = graph.instance.get_latest_materialization_event(dg.AssetKey("page_data"))
        assert latest is not None
    assert files_of(home / "site") == files_of(whole / "site")
    assert files_of(home / "store") == files_of(whole / "store")


@pytest.mark.parametrize("database", ["history/runs/index.db", "history/runs.db"])
def test_damaged_records_of_dagster_are_a_sentence_and_a_publication_needs_none(whole, copied, frontier, database):
    home = copied(whole)
    (home / "dagster" / database).write_bytes(b"no database" * 1000)
    before = files_of(home / "site")
    code, _, lines = frontier("publish")
    assert code == 1
    assert "Dagster's own records (dagster/ in the home folder) are damaged." in lines[-1]
    assert files_of(home / "site") == before
    (home / "dagster").rename(home / "dagster.damaged")
    assert frontier("publish")[0] == 0
