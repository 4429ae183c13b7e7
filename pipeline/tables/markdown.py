"""Tables as Markdown for the README: one line a column, from the same truth as the files' schemas."""

from __future__ import annotations

from pipeline.tables.columns import Table


def columns_markdown(table: Table) -> str:
    """The table's grain and its columns with type, unit and meaning."""
    lines = [f"**{table.name}**: {table.grain}.", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{column.name}` | {column.type} | {column.unit or '–'} | {_escaped(column.description)} |"
        for column in table.columns
    ]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
