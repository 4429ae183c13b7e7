"""The README's column tables: `make docs` writes them, a test compares them."""

from pathlib import Path

from pipeline.tables.markdown import columns_markdown
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS

README = Path(__file__).resolve().parents[2] / "README.md"
START, END = "<!-- columns: written by make docs -->", "<!-- end of columns -->"


def with_columns(text: str) -> str:
    head, rest = text.split(START)
    tables = "\n\n".join(columns_markdown(table) for table in (POINTS, REQUESTS))
    return f"{head}{START}\n\n{tables}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    README.write_text(with_columns(README.read_text(encoding="utf-8")), encoding="utf-8")
