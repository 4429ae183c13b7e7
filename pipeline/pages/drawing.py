"""What was drawn of a pair or a model, and from what: a publication draws again only what changed.

Belongs here: the key of a drawing and what is remembered of it. Not here: drawing (site_files.py), and where the memory
is kept (resources/drawings.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.pages.checks import PageLinks, page_links
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.policy import policy_breaches


@dataclass(frozen=True)
class Drawing:
    """The files of one pair, or the comparisons of one model: SHA-256 by path from the site's root.

    ``links`` and ``breaches`` are what their pages promise and break; ``key`` is of everything they are drawn from.
    """

    key: str
    files: Mapping[str, str]
    links: tuple[PageLinks, ...]
    breaches: tuple[str, ...]


def drawing_key(stored: bytes, site: SiteFacts, code: str) -> str:
    """Changes with the bytes of the stored page, the facts of the site and the ``code`` that draws, a hash of its own.

    Nothing else goes into a pair's files: prices and days are part of the stored page.
    """
    return hashlib.sha256(b"\0".join([hashlib.sha256(stored).digest(), repr(site).encode(), code.encode()])).hexdigest()


def key_of_all(keys: Iterable[str]) -> str:
    """The key of what is drawn from the pages of several pairs, in their order."""
    return hashlib.sha256("".join(keys).encode()).hexdigest()


def drawing_of(key: str, files: Mapping[str, str | bytes], site: SiteFacts) -> Drawing:
    """What is to be remembered of files that were just drawn."""
    pages = {path: str(text) for path, text in files.items() if path.endswith(".html")}
    return Drawing(
        key=key,
        files={path: hashlib.sha256(_bytes(content)).hexdigest() for path, content in files.items()},
        links=tuple(page_links(path, text) for path, text in pages.items()),
        breaches=tuple(b for path, text in pages.items() for b in policy_breaches(path, text, site.base_url)),
    )


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
