"""BENCH.md as make bench writes it."""

import datetime as dt

import pytest

from tests.bench.report import merged

MORNING, NIGHT = dt.datetime(2026, 11, 1, 9, 30), dt.datetime(2026, 11, 1, 23, 5)
PARTS = ("cell", "prices")
CELL = [("one cell", "0.40 s CPU", "", "≤ 0.5 s CPU")]


def table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")][2:]


def test_a_part_that_ran_replaces_its_own_rows_and_leaves_the_others_with_their_time():
    old = [("costs", "33.8 s", "9 ms a cell", ""), ("a row that is no more", "1 s", "", "")]
    text = merged(merged("", {"prices": old}, PARTS, MORNING, "2 cores"), {"cell": CELL}, PARTS, MORNING, "2 cores")
    assert table(merged(text, {"prices": [("costs", "18.0 s", "5 ms a cell", "")]}, PARTS, NIGHT, "4 cores")) == [
        "| cell | one cell | 0.40 s CPU |  | ≤ 0.5 s CPU | 2026-11-01 09:30 |",
        "| prices | costs | 18.0 s | 5 ms a cell |  | 2026-11-01 23:05 |",
    ]


def test_a_table_of_other_columns_is_written_anew():
    text = merged("| what | measured |\n|---|---|\n| one cell | 0.40 s |\n", {"cell": CELL}, PARTS, NIGHT, "2 cores")
    assert table(text) == ["| cell | one cell | 0.40 s CPU |  | ≤ 0.5 s CPU | 2026-11-01 23:05 |"]


def test_a_cell_with_a_bar_is_refused():
    with pytest.raises(ValueError, match="a bar"):
        merged("", {"cell": [("h100|2026-11-01", "0.40 s", "", "")]}, PARTS, NIGHT, "2 cores")
