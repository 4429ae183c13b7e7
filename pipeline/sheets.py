"""Rows for the terminal, and the same rows as CSV or JSON.

Belongs here: fitting a table into the width that there is without breaking a word, and the options of every command
that prints one. Not here: what is in a row (terminal.py).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import typer
from rich.box import HEAVY_HEAD, Box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.errors import UsageError

Form = Literal["table", "csv", "json"]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV, numbers as they are stored.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, numbers as they are stored.")]

INDENT = 4


@dataclass(frozen=True)
class Column:
    """One column of a table; one that ``wraps`` may be broken between words, any other one stays in one line."""

    title: str
    wraps: bool = False


@dataclass(frozen=True)
class Sheet:
    """Rows as they are shown, and the same rows with names and raw values: a number that is not known is None."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[str]]
    records: Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class _Frame:
    """How columns are set apart: lines around them, or ``gap`` blanks between them."""

    box: Box | None
    gap: int

    def width(self, n_columns: int) -> int:
        return 3 * n_columns + 1 if self.box else self.gap * max(0, n_columns - 1)


BOXED = _Frame(HEAVY_HEAD, 1)
FRAMES = (BOXED, _Frame(None, 2), _Frame(None, 1))


def form_of(as_csv: bool, as_json: bool) -> Form:
    """How the rows are printed. Raises UsageError for both."""
    if as_csv and as_json:
        raise UsageError("rows have one form", where="--csv --json", next_step="Leave one of them out.")
    return "csv" if as_csv else "json" if as_json else "table"


def print_sheet(sheet: Sheet, form: Form) -> None:
    """The rows on standard output."""
    if form == "table":
        print_table(sheet)
    else:
        print_records(sheet.records, form)


def print_table(sheet: Sheet) -> None:
    """The rows as a table as wide as the terminal."""
    out = Console(highlight=False, markup=False)
    out.print(*laid_out(sheet, out.width), sep="\n")


def print_records(records: Sequence[Mapping[str, object]], form: Form) -> None:
    """The raw rows."""
    typer.echo(csv_text(records) if form == "csv" else json_text(records), nl=False)


def csv_text(records: Sequence[Mapping[str, object]]) -> str:
    """A header and one line a row; a value that is not known is empty."""
    names = list(dict.fromkeys(name for record in records for name in record))
    sink = io.StringIO()
    writer = csv.DictWriter(sink, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return sink.getvalue()


def json_text(records: Sequence[Mapping[str, object]]) -> str:
    """A list of objects; days and times as ISO 8601, a value that is not known is null."""
    return json.dumps(list(records), indent=1, ensure_ascii=False, default=lambda day: day.isoformat()) + "\n"


def laid_out(sheet: Sheet, width: int) -> list[RenderableType]:
    """The rows within a width, no word of them broken.

    Too wide with every column in its place: what all rows have alike is said above the table; then the lines between
    the columns go; and last each row takes two lines.
    """
    if _least_width(sheet, BOXED) <= width:
        return [_table(sheet, width, BOXED)]
    alike, rest = _without_alike(sheet)
    above: list[RenderableType] = [Text(alike)] if alike else []
    for frame in FRAMES:
        if _least_width(rest, frame) <= width:
            return [*above, _table(rest, width, frame)]
    return [*above, *_two_lines(rest, width)]


def _without_alike(sheet: Sheet) -> tuple[str, Sheet]:
    """The sentence about columns in which all rows are alike, and the sheet without them; empty ones just go."""
    cells = list(zip(*sheet.rows, strict=True))
    alike = {i for i, column in enumerate(cells) if len(column) > 1 and len(set(column)) == 1}
    said = [f"{sheet.columns[i].title} {cells[i][0]}" for i in sorted(alike) if cells[i][0]]
    kept = [i for i in range(len(sheet.columns)) if i not in alike]
    columns, rows = tuple(sheet.columns[i] for i in kept), [[row[i] for i in kept] for row in sheet.rows]
    return f"Every row: {'; '.join(said)}" if said else "", Sheet(columns, rows, sheet.records)


def _table(sheet: Sheet, width: int, frame: _Frame) -> Table:
    table = Table(box=frame.box, padding=(0, 1) if frame.box else (0, frame.gap, 0, 0), pad_edge=frame.box is not None)
    for column, width_of_it in zip(sheet.columns, _widths(sheet, width, frame), strict=True):
        table.add_column(column.title, width=width_of_it, overflow="fold")
    for row in sheet.rows:
        table.add_row(*row)
    return table


def _widths(sheet: Sheet, width: int, frame: _Frame) -> list[int]:
    """What each column needs, and the rest of the width one by one where the most is missing."""
    widths, most = _least(sheet), _most(sheet)
    spare = width - frame.width(len(widths)) - sum(widths)
    while spare > 0 and widths != most:
        neediest = max(range(len(widths)), key=lambda i: most[i] - widths[i])
        widths[neediest] += 1
        spare -= 1
    return widths


def _least_width(sheet: Sheet, frame: _Frame) -> int:
    return sum(_least(sheet)) + frame.width(len(sheet.columns))


def _least(sheet: Sheet) -> list[int]:
    """Of each column the longest text that is not broken: a word, or a whole cell."""
    return [
        max(_longest_word([column.title]), _longest_word(cells) if column.wraps else _longest(cells))
        for column, cells in _by_column(sheet)
    ]


def _most(sheet: Sheet) -> list[int]:
    return [_longest([column.title, *cells]) for column, cells in _by_column(sheet)]


def _by_column(sheet: Sheet) -> list[tuple[Column, list[str]]]:
    return [(column, [row[i] for row in sheet.rows]) for i, column in enumerate(sheet.columns)]


def _longest(texts: Sequence[str]) -> int:
    return max((cell_len(text) for text in texts), default=0)


def _longest_word(texts: Sequence[str]) -> int:
    return _longest([word for text in texts for word in text.split()])


def _two_lines(sheet: Sheet, width: int) -> list[RenderableType]:
    """Each row as a line of the columns that fit, and below it, indented, what the others say."""
    first: list[int] = []
    taken = 0
    for i, (column, most) in enumerate(zip(sheet.columns, _most(sheet), strict=True)):
        if not column.wraps and (not first or taken + most <= width):
            first.append(i)
            taken += most + FRAMES[1].gap
    columns = tuple(sheet.columns[i] for i in first)
    lines = _plain_lines(Sheet(columns, [[row[i] for i in first] for row in sheet.rows], ()))
    found: list[RenderableType] = [Text(lines[0], style="bold")]
    for row, line in zip(sheet.rows, lines[1:], strict=True):
        more = [f"{c.title}: {row[i]}" for i, c in enumerate(sheet.columns) if i not in first and row[i]]
        found += [Text(line), *([Padding(Text("; ".join(more)), (0, 0, 0, INDENT))] if more else [])]
    return found


def _plain_lines(sheet: Sheet) -> list[str]:
    """The head and the rows, cells in columns."""
    widths, gap = _most(sheet), " " * FRAMES[1].gap
    cells = [[column.title for column in sheet.columns], *sheet.rows]
    return [
        gap.join(f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
