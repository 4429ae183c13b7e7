"""Promises about the finished site: pure predicates that return violations, empty where kept."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Set
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter

from pipeline.pages.page import Page, to_json

LINKS = {"href", "src"}
_PAGE = TypeAdapter(Page)


def schema_violations(pages: Mapping[str, tuple[Page, ...]]) -> list[str]:
    """Sections whose data.json does not read back as the published dataclasses, by model slug."""
    found = []
    for model, sections in pages.items():
        for page in sections:
            try:
                _PAGE.validate_json(to_json(page), strict=True)
            except ValueError as error:
                found.append(f"{model} {page.workload.slug} {page.provenance}: {' '.join(str(error).split())[:300]}")
    return found


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the links and the anchors of one tag."""
        for name, value in attrs:
            if name in LINKS and value:
                self.links.append(value)
            elif name == "id" and value:
                self.ids.add(value)


def dead_links(pages: Iterable[tuple[str, str]], files: Set[str]) -> list[str]:
    """Links of HTML pages (path to text) that lead to no file of the site or to no anchor of the page itself.

    Links to other hosts are not followed. Paths are relative to the site's root, with /.
    """
    found = []
    for path, text in pages:
        parser = _Links()
        parser.feed(text)
        found += [f"{path}: {link} leads nowhere" for link in parser.links if not _leads(path, link, parser.ids, files)]
    return found


def _leads(path: str, link: str, ids: Set[str], files: Set[str]) -> bool:
    parts = urlsplit(link)
    if parts.scheme in {"http", "https", "mailto"}:
        return True
    if not parts.path:
        return not parts.fragment or unquote(parts.fragment) in ids
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path)))
    return any(candidate in files for candidate in _candidates(target, parts.path.endswith("/")))


def _candidates(target: str, folder: bool) -> Iterable[str]:
    index = "index.html" if target == "." else f"{target}/index.html"
    return (index,) if folder else (target, index)
