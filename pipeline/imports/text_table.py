"""A delimited text table, safely: header and rows as text. What a column means is the importer's business."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from pipeline.imports.fields import number


@dataclass(frozen=True)
class TextTable:
    """A header and rows by header name. A short row has None, a long one its rest under None."""

    header: tuple[str, ...]
    rows: list[dict[str, str]]


def text_table(text: str) -> TextTable | None:
    """A comma- or tab-separated table; lines that start with # are comments. None where it is none."""
    lines = [line for line in text.splitlines(keepends=True) if line.strip() and not line.startswith("#")]
    if not lines:
        return None
    delimiter = "\t" if lines[0].count("\t") > lines[0].count(",") else ","
    try:
        reader = csv.DictReader(io.StringIO("".join(lines)), delimiter=delimiter)
        header = tuple(name.strip() for name in reader.fieldnames or ())
        reader.fieldnames = list(header)
        rows = list(reader)
    except csv.Error:
        return None
    return TextTable(header, rows) if len(header) > 1 else None


def number_in(text: str | None) -> float | None:
    """A decimal number written out; None for anything else, NaN and infinities too."""
    if text is None or not re.fullmatch(r"\s*[-+]?\d{1,30}(\.\d{0,30})?([eE][-+]?\d{1,3})?\s*", text):
        return None
    return number(float(text))
