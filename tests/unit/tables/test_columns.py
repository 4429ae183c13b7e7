import datetime as dt

import pyarrow as pa
import pytest

from pipeline.cell import GpuRun
from pipeline.tables.by_cell import by_cell
from pipeline.tables.columns import Table, count, day, number, text
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.markdown import columns_markdown
from pipeline.tables.points import IDENTITY, POINTS
from pipeline.tables.prices import PRICES
from pipeline.tables.readings import READINGS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES

SMALL = Table(
    "small",
    "one row",
    (
        text("gpu", "a | b", nullable=False),
        day("run_date", "day"),
        number("x_s", "s", "seconds"),
        count("n", "how many", nullable=False),
    ),
    ("gpu", "n"),
)


def rows(*numbers: int) -> pa.Table:
    return SMALL.from_rows([{"gpu": "h100", "run_date": dt.date(2026, 1, n % 2 + 1), "n": n} for n in numbers])


def test_rows_are_stored_in_the_tables_order():
    assert rows(3, 1, 2)["n"].to_pylist() == [1, 2, 3]


def test_an_unknown_key_is_refused():
    with pytest.raises(KeyError, match="small has no column"):
        SMALL.from_rows([{"gpu": "h100", "n": 1, "y": 2}])


def test_violations_name_the_column_and_what_is_wrong_with_it():
    wrong = pa.table({"gpu": pa.array(["a", None]), "x_s": pa.array([1, 2]), "n": pa.array([1, 2]), "z": [1, 2]})
    assert SMALL.violations(wrong) == [
        "small.gpu has 1 nulls",
        "small.run_date is missing",
        "small.x_s: expected double, found int64",
        "small has an unknown column z",
    ]
    assert SMALL.violations(rows(1)) == []


def test_unit_and_meaning_travel_in_the_schema():
    assert SMALL.schema.field("x_s").metadata == {b"unit": b"s", b"description": b"seconds"}


def test_markdown_has_one_line_a_column_and_escapes_bars():
    assert columns_markdown(SMALL).splitlines()[4] == "| `gpu` | string | – | a \\| b |"


def test_a_table_of_many_cells_splits_into_one_a_cell():
    split = by_cell(rows(1, 2, 3, 4))
    assert {cell: t["n"].to_pylist() for cell, t in split.items()} == {
        GpuRun("h100", dt.date(2026, 1, 2)): [1, 3],
        GpuRun("h100", dt.date(2026, 1, 1)): [2, 4],
    }
    assert by_cell(SMALL.empty()) == {}


@pytest.mark.parametrize(
    "table", [POINTS, REPEATS, REQUESTS, SAMPLES, RUNS, KNOTS, READINGS, COSTS, PRICES], ids=lambda t: t.name
)
def test_every_column_says_what_it_means_and_carries_its_unit_in_its_name(table):
    suffixes = {
        "s": "_s",
        "ns": "_ns",
        "tok": "_tok",
        "W": ("_w", "_w_gpu"),
        "tok/s/GPU": "_tok_s_gpu",
        "tok/s/user": "_tok_s_user",
        "MHz": "_mhz",
        "GiB": "_gib",
        "J": "_j",
    }
    for column in table.columns:
        assert column.description
        assert column.name.endswith(suffixes.get(column.unit, ""))
    assert len(set(table.names)) == len(table.names)
    assert set(table.order) <= set(table.names)


def test_the_identity_is_made_of_columns():
    assert set(IDENTITY) <= set(POINTS.names)
