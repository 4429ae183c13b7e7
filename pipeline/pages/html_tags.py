r"""The start tags of a finished page, fast: for promises about pages that this project rendered itself.

In such a page < and > stand only around tags: text and attributes are escaped, and data blocks write them as \u003c.
Where a template breaks that, what it lets through is read as a tag, and the promises see it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][-a-zA-Z0-9:]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")

Tag = tuple[str, dict[str, str]]


def start_tags(page: str) -> Iterator[Tag]:
    """Every start tag with an attribute, and every script and style element: lower-case name, and attributes."""
    for tag in _TAG.finditer(page):
        name, text = tag[1].lower(), tag[2]
        if text.strip(" /") or name in ("script", "style"):
            yield name, {a[1].lower(): _value(a) for a in _ATTRIBUTE.finditer(text)}


def _value(attribute: re.Match[str]) -> str:
    value = attribute[2] or attribute[3] or attribute[4] or ""
    return html.unescape(value) if "&" in value else value
