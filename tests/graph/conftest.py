"""The wired graph over a fresh home folder, with a fixed calendar and a price book of its own."""

import datetime as dt
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
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
from tests.unit.frontier.point_rows import curve, points_table

AS_OF = "2026-11-01"
DAY = dt.date(2026, 10, 2)


@dataclass(frozen=True)
class Graph:
    """One home folder and everything that is wired over it."""

    home: Path
    definitions: dg.Definitions
    instance: dg.DagsterInstance
    book: PriceBook

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
    book = PriceBook(file=str(book_file))
    return Graph(home, build_defs(home, {"prices": book, "clock": Clock(fixed_day=AS_OF)}), instance, book)


@pytest.fixture
def graph(tmp_path) -> Iterator[Graph]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield graph_at(tmp_path / "home", instance)
