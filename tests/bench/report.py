"""BENCH.md as a table: a part that ran replaces its own rows, every other row stays with the time of its own run."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

Row = tuple[str, str, str, str]
"""What, measured, ratio, goal."""

COLUMNS = ("part", "what", "measured", "ratio", "goal", "run")
HEAD = """# Speed

Written by `make bench`, last on {machine}; `run` is when a row was measured (UTC).
Compare ratios, not seconds: the machine is shared.
"""


def merged(
    text: str, measured: Mapping[str, Sequence[Row]], parts: Iterable[str], now: dt.datetime, machine: str
) -> str:
    """The text of BENCH.md with the rows of the measured parts replaced, in the order of ``parts``."""
    rows = {part: kept for part, kept in _rows(text).items() if part not in measured}
    rows |= {part: [(part, *row, f"{now:%Y-%m-%d %H:%M}") for row in found] for part, found in measured.items()}
    table = [COLUMNS, ("---",) * len(COLUMNS), *(row for part in parts for row in rows.get(part, ()))]
    return "\n".join([HEAD.format(machine=machine), *(_line(row) for row in table)]) + "\n"


def _rows(text: str) -> dict[str, list[Sequence[str]]]:
    """The rows of a written table by part; none of a table with other columns."""
    table = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [tuple(cell.strip() for cell in row) for row in table]
    found: dict[str, list[Sequence[str]]] = {}
    if cells[:1] == [COLUMNS]:
        for row in cells[2:]:
            found.setdefault(row[0], []).append(row)
    return found


def _line(row: Sequence[str]) -> str:
    if any("|" in cell for cell in row):
        raise ValueError(f"a bar ends a cell of the table: {row}")
    return f"| {' | '.join(row)} |"
