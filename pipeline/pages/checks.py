"""Promises about the finished site: pure predicates that return violations, empty where kept."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter

from pipeline.pages.html_tags import start_tags
from pipeline.pages.page import Page, to_json

LINKS = ("href", "src")
ELSEWHERE = {"http", "https", "mailto"}
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


@dataclass(frozen=True)
class PageLinks:
    """The links of one HTML page inside its site: those to a file, each once, and those to an anchor it does not have.

    ``path`` is relative to the site's root, with /.
    """

    path: str
    to_files: tuple[str, ...]
    lost: tuple[str, ...]


def page_links(path: str, text: str) -> PageLinks:
    """The links of one page. Links to other hosts are left out."""
    links, ids = _links_and_ids(text)
    inside = [(link, urlsplit(link)) for link in links]
    inside = [(link, parts) for link, parts in inside if parts.scheme not in ELSEWHERE]
    lost = (link for link, parts in inside if not parts.path and parts.fragment and unquote(parts.fragment) not in ids)
    return PageLinks(path, tuple(link for link, parts in inside if parts.path), tuple(lost))


def _links_and_ids(text: str) -> tuple[Iterable[str], set[str]]:
    links: dict[str, None] = {}
    ids = set()
    for _, attributes in start_tags(text):
        links |= {value: None for name in LINKS if (value := attributes.get(name))}
        ids |= {attributes["id"]} if attributes.get("id") else set()
    return links, ids


def dead_links(pages: Iterable[PageLinks], files: Set[str]) -> list[str]:
    """Links that lead to no file of the site or to no anchor of the page itself, in the order of the pages.

    ``files`` are paths relative to the site's root, with /.
    """
    found = []
    for page in pages:
        dead = [*page.lost, *(link for link in page.to_files if not _leads(page.path, link, files))]
        found += [f"{page.path}: {link} leads nowhere" for link in dead]
    return found


def _leads(path: str, link: str, files: Set[str]) -> bool:
    parts = urlsplit(link)
    folder = "" if parts.path.startswith("/") else posixpath.dirname(path)
    target = posixpath.normpath(posixpath.join(folder, unquote(parts.path).lstrip("/")))
    return any(candidate in files for candidate in _candidates(target, parts.path.endswith("/")))


def _candidates(target: str, folder: bool) -> Iterable[str]:
    index = "index.html" if target == "." else f"{target}/index.html"
    return (index,) if folder else (target, index)
