"""Bytes to JSON rows or text, without trusting them.

Belongs here: encodings, JSON against JSON lines, and damage. Not here: which tool wrote it (reader.py, refusals.py).
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from pipeline.errors import UnreadableFileError
from pipeline.imports.source import SourceFile

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MAX_DIGITS_SHOWN = 60


@dataclass(frozen=True)
class Document:
    """A file's content: either JSON ``values`` (one document, or one a line), or text."""

    values: tuple[Any, ...] | None
    text: str


def open_document(source: SourceFile) -> Document:
    """Decode and parse. Raises UnreadableFileError for what is empty, binary, not UTF-8, damaged or too deep.

    JSON lines in a .json file and one JSON document in a .jsonl file are both read: the content decides. NaN,
    Infinity and -Infinity are accepted as numbers although they are no JSON. The same key twice in one object is
    refused: which value holds is not said.
    """
    text = _decode(source)
    if text.lstrip()[:1] not in ("{", "["):
        return Document(None, text)
    try:
        return Document((_parse(source, text),), text)
    except _DamagedError as damage:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0]):
            raise _unreadable(source, f"damaged or truncated JSON ({damage})") from None
    return Document(tuple(_line(source, number, line) for number, line in _numbered(text)), text)


class _DamagedError(ValueError):
    """No JSON: where and why."""


def _decode(source: SourceFile) -> str:
    content = source.content
    if not content.strip():
        raise _unreadable(source, "the file is empty")
    if content.startswith(UTF_16_MARKS) or _looks_like_utf_16(content):
        raise _unreadable(source, "the text is UTF-16", next_step="Convert it to UTF-8, then import again.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(
            source, "not UTF-8 text", found=f"byte {content[error.start]:#04x} at {error.start}"
        ) from None
    if "\x00" in text:
        raise _unreadable(source, "the content is binary", found="a NUL byte")
    return text


def _looks_like_utf_16(content: bytes) -> bool:
    head = content[:200]
    return len(head) > 3 and (set(head[1::2]) == {0} or set(head[::2]) == {0})


def _parse(source: SourceFile, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise _unreadable(source, "the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _DamagedError(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    except _RepeatedKeyError as error:
        raise _unreadable(source, str(error)) from None
    except ValueError:
        raise _unreadable(source, "a number has too many digits") from None


class _RepeatedKeyError(ValueError):
    """One object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise _RepeatedKeyError(f"the key {twice[:MAX_DIGITS_SHOWN]!r} occurs twice in one object")
    return found


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _numbered(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _line(source: SourceFile, number: int, line: str) -> Any:
    try:
        return _parse(source, line)
    except _DamagedError as damage:
        raise _unreadable(source, f"line {number} is damaged or truncated JSON ({damage})") from None


def _unreadable(
    source: SourceFile, what: str, *, found: str = "", next_step: str = "Fetch or write the file again."
) -> UnreadableFileError:
    return UnreadableFileError(what, where=source.name, found=found, next_step=next_step)
