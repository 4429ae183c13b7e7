"""The ladder as a finished page prints it, held against the data of that page: for the audit of a published site.

Belongs here: reading the table back. Not here: altered bytes, of which the hashes of the publication tell.
"""

from __future__ import annotations

from html.parser import HTMLParser

from pipeline.pages import formats
from pipeline.pages.page import LadderRow, Page

TABLE = '<table class="ladder cards">'
END = "</table>"
NOTHING = "–"


def misprints(html: str, page: Page) -> list[str]:
    """One clause a cell of throughput, cost or speed that is not the number of the page's ladder. Empty: all are."""
    printed = _rows(html)
    heads = ["target", "tokens/s per GPU", *(f"$ / 1M tokens, {cost.name}" for cost in page.costs), "delivered"]
    if len(printed) != len(page.ladder):
        return [f"its ladder has {formats.counted(len(printed), 'row')} instead of {len(page.ladder)}"]
    return [
        f"at {formats.speed(row.target_tok_s_user)} tokens/s per user it prints "
        f"{said or 'nothing'} as {head}, not {due}"
        for row, cells in zip(page.ladder, printed, strict=True)
        for head, said, due in zip(heads, [*cells, *[""] * len(heads)], _due(row, page), strict=False)
        if said != due
    ]


def _due(row: LadderRow, page: Page) -> list[str]:
    """What the first cells of a row have to say."""
    reading = row.at_least
    target = f"{formats.speed(row.target_tok_s_user)} tokens/s per user"
    tok_s, usd = reading.throughput_tok_s_gpu, reading.cost_usd_mtok or {}
    if tok_s is None:
        return [target, *[NOTHING] * (2 + len(page.costs))]
    is_bound = reading.basis == "faster_config"
    throughput = f"≥ {formats.throughput_at_least(tok_s)}" if is_bound else formats.throughput(tok_s)
    std = reading.throughput_std_tok_s_gpu
    costs = [_dollars(usd.get(cost.tier), is_bound) for cost in page.costs]
    delivered = reading.delivered_tok_s_user
    spread = f" ± {formats.throughput(std)}" if std else ""
    return [target, f"{throughput}{spread}", *costs, NOTHING if delivered is None else formats.speed(delivered)]


def _dollars(usd: float | None, is_bound: bool) -> str:
    if usd is None:
        return NOTHING
    return f"≤ {formats.usd_mtok_at_most(usd)}" if is_bound else formats.usd_mtok(usd)


def _rows(html: str) -> list[list[str]]:
    """The texts of the cells of the ladder, row by row; what is folded below a row is left out."""
    reader = _Ladder()
    _, table, after = html.partition(TABLE)
    reader.feed(table)
    for part in after.split(END):
        if reader.depth:
            reader.feed(part + END)
    return [[" ".join(cell.split()) for cell in row] for row in reader.rows]


class _Ladder(HTMLParser):
    """The first row of each body of the table that it is fed. ``depth``: of tables within each other, here."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.depth = 0
        self._in_row = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A table, a body or a cell."""
        self.depth += tag == "table"
        if self.depth == 1 and tag == "tbody":
            self.rows.append([])
            self._in_row = True
        elif self._in_row and tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """The end of a table, or of a row."""
        self.depth -= tag == "table"
        self._in_row &= tag != "tr"

    def handle_data(self, data: str) -> None:
        """Text, kept where it is in a cell."""
        if self._in_row and self.rows[-1]:
            self.rows[-1][-1] += data
