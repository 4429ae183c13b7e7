"""The wired graph over a fresh home folder, with a fixed calendar and a price book of its own."""

import datetime as dt
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest

from pipeline.definitions import CHECKOUT, build_defs
from pipeline.imports.outcome import Outcome
from pipeline.imports.source import SourceFile
from pipeline.tables.requests import REQUESTS
from resources.clock import Clock
from resources.dagster_runs import Runs
from resources.import_store import ImportStore
from resources.price_book import PriceBook
from resources.result_store import ResultStore
from tests.commands import exit_code_of
from tests.instances import lay_instance, passing_instance
from tests.unit.frontier.point_rows import curve, points_table

AS_OF = "2026-11-01"
DAY = dt.date(2026, 10, 2)
PUBLISHED_READINGS = CHECKOUT / "pipeline" / "imports" / "published_readings.csv"


@dataclass(frozen=True)
class Graph:
    """One home folder and everything that is wired over it."""

    home: Path
    definitions: dg.Definitions
    instance: dg.DagsterInstance
    book: PriceBook
    resources: dict[str, object] = field(default_factory=dict)

    @property
    def runs(self) -> Runs:
        return Runs(self.definitions, self.instance)

    @property
    def store(self) -> ResultStore:
        return ResultStore(root_dir=str(self.home / "store"))

    def seed(self, *pairs: tuple[float, float], name: str = "a.json", **columns: object) -> str:
        """Store one curve as if it had been imported; returns the key of its cell."""
        columns = {"gpu": "b300", "model": "deepseek_v4_1_flash", "run_date": DAY, "run_id": "r1"} | columns
        source = SourceFile(name=name, content=name.encode())
        rows = curve(*pairs, **columns, source_file=name, source_sha256=source.sha256)
        rows = [row | {"source_row": i, "point_id": f"{name}-{i}"} for i, row in enumerate(rows)]
        return self.put(source, points_table(rows))

    def put(self, source: SourceFile, points: pa.Table) -> str:
        outcome = Outcome("test", points.num_rows, points, REQUESTS.empty(), (), ())
        cells = ImportStore(root_dir=str(self.home / "store")).put(source, outcome)
        return min(cells).key

    def put_rows(self, name: str, rows: list[dict[str, object]]) -> set[str]:
        """Store rows as if they had been imported from one file; returns the keys of their cells."""
        source = SourceFile(name=name, content=name.encode())
        placed = [
            row | {"source_file": name, "source_sha256": source.sha256, "source_row": n} for n, row in enumerate(rows)
        ]
        outcome = Outcome("test", len(rows), points_table(placed), REQUESTS.empty(), (), ())
        return {cell.key for cell in ImportStore(root_dir=str(self.home / "store")).put(source, outcome)}

    def derive(self, cell: str) -> None:
        self.runs.run("derive_cell", partition=cell)

    def publish(self, gpu: str = "b300") -> dict:
        self.runs.run("build_pages", partition=gpu)
        return self.runs.run("publish_site")


def graph_at(home: Path, instance: dg.DagsterInstance) -> Graph:
    book_file = home / "prices.csv"
    if not book_file.exists():
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / "pipeline" / "registry" / "prices.csv", book_file)
    tco_file = home / "tco.toml"
    tco_file.touch()
    book = PriceBook(file=str(book_file), tco_file=str(tco_file))
    return Graph(home, build_defs(home, {"prices": book, "clock": Clock(fixed_day=AS_OF)}), instance, book)


@pytest.fixture
def graph(tmp_path) -> Iterator[Graph]:
    with passing_instance(tmp_path) as instance:
        yield graph_at(tmp_path / "home", instance)


@pytest.fixture
def frontier(tmp_path, monkeypatch, capsys):
    """Runs one command over a home of its own; returns exit code, standard output and standard error as lines."""
    (tmp_path / "prices.csv").write_text((CHECKOUT / "pipeline/registry/prices.csv").read_text())
    lay_instance(tmp_path / "home")
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FRONTIER_PRICES", str(tmp_path / "prices.csv"))
    (tmp_path / "tco.toml").touch()
    monkeypatch.setenv("FRONTIER_TCO", str(tmp_path / "tco.toml"))
    monkeypatch.delenv("FRONTIER_SIMULATOR_PYTHON", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, list[str]]:
        code = exit_code_of(*arguments)
        said = capsys.readouterr()
        return code, " ".join(said.out.split()), [line for line in said.err.splitlines() if line.strip()]

    return run


@pytest.fixture(scope="session")
def home_with_readings(tmp_path_factory) -> Path:
    """A home folder, new to its first command, into which that has imported the published readings."""
    folder = tmp_path_factory.mktemp("readings")
    home = folder / "home"
    (folder / "tco.toml").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FRONTIER_HOME", str(home))
        patch.setenv("FRONTIER_TCO", str(folder / "tco.toml"))
        assert exit_code_of("import", str(PUBLISHED_READINGS)) == 0
    return home


@pytest.fixture
def imported(home_with_readings, frontier, tmp_path):
    """Runs commands as ``frontier`` does, over a home whose first command has imported the published readings."""
    shutil.copytree(home_with_readings, tmp_path / "home", dirs_exist_ok=True)
    return frontier
