"""Rows within a width: no word broken, nothing lost; and the same rows as CSV and JSON."""

import datetime as dt
import io
import json

import pytest
from rich.console import Console

from pipeline.errors import UsageError
from pipeline.sheets import Column, Sheet, csv_text, form_of, json_text, laid_out

ROWS = (("h100", "retail", "a quote of a reseller", ""), ("rtx6000pro", "retail", "invoice", ""))
COLUMNS = (Column("gpu"), Column("tier"), Column("source", wraps=True), Column("corrected", wraps=True))
SHEET = Sheet(COLUMNS, ROWS, ())


def printed(sheet: Sheet, width: int) -> list[str]:
    out = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    out.print(*laid_out(sheet, width), sep="\n")
    return [line.rstrip() for line in out.file.getvalue().splitlines()]


def test_a_wide_terminal_shows_every_column_in_one_line_a_row():
    assert "│ rtx6000pro │ retail │ invoice               │           │" in printed(SHEET, 120)


def test_what_all_rows_have_alike_is_said_above_and_an_empty_column_goes():
    lines = printed(SHEET, 40)
    assert lines[0] == "Every row: tier retail"
    assert "│ h100       │ a quote of a reseller │" in lines
    assert not any("corrected" in line for line in lines)


def test_a_wrapping_column_breaks_between_words_only():
    assert "│ h100       │ a quote of │" in printed(SHEET, 27)
    assert "│            │ a reseller │" in printed(SHEET, 27)


def test_without_room_for_lines_between_the_columns_there_are_blanks():
    assert printed(SHEET, 20)[2:] == [
        "gpu         source",
        "h100        a quote",
        "            of a",
        "            reseller",
        "rtx6000pro  invoice",
    ]


def test_a_row_that_fits_no_other_way_takes_two_lines():
    sheet = Sheet(
        (Column("id"), Column("at"), Column("source", wraps=True)), (("a", "1", "https://example.org/x"),), ()
    )
    assert printed(sheet, 26) == ["id  at", "a   1", "    source:", "    https://example.org/x"]


@pytest.mark.parametrize("width", range(18, 90))
def test_no_word_is_broken_or_lost_at_any_width(width):
    said = " ".join(printed(SHEET, width))
    for word in ("rtx6000pro", "h100", "retail", "quote", "reseller", "invoice"):
        assert word in said
    assert max(len(line) for line in printed(SHEET, width)) <= width


def test_one_row_has_nothing_alike_and_none_has_a_head():
    assert printed(Sheet(COLUMNS[:2], [ROWS[0][:2]], ()), 80)[3] == "│ h100 │ retail │"
    assert "gpu" in " ".join(printed(Sheet(COLUMNS, (), ()), 80))


RECORDS = (
    {"gpu": "h100", "usd": 0.1, "until": None},
    {"gpu": "b300", "usd": 2.0, "until": dt.date(2026, 1, 2), "n": 1},
)


def test_csv_has_every_name_once_and_is_empty_where_nothing_is_known():
    assert csv_text(RECORDS) == "gpu,usd,until,n\nh100,0.1,,\nb300,2.0,2026-01-02,1\n"


def test_json_is_null_where_nothing_is_known():
    assert json.loads(json_text(RECORDS))[0] == {"gpu": "h100", "usd": 0.1, "until": None}
    assert json.loads(json_text(RECORDS))[1]["until"] == "2026-01-02"


def test_rows_have_one_form():
    assert [form_of(False, False), form_of(True, False), form_of(False, True)] == ["table", "csv", "json"]
    with pytest.raises(UsageError, match="--csv --json: rows have one form"):
        form_of(True, True)
