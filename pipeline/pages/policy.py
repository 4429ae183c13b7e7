"""The Content-Security-Policy of every page, and what on a page would break it.

A page may use files of its own site and nothing else: no inline script, no inline style, no form that sends, no frame,
no request from a script.
"""

from __future__ import annotations

from pipeline.pages.html_tags import start_tags

DATA_BLOCKS = {"application/json", "application/ld+json"}
"""Types of script elements that hold data and never run: the policy does not concern them."""

_SENDS = {"form": "action", "base": "href"}
_LOADS = {"script": "src", "img": "src", "iframe": "src", "object": "data", "embed": "src", "source": "src"}


POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
"""As a meta element carries it; frame-ancestors has no effect there and belongs to the server."""


def policy_breaches(path: str, html: str, base_url: str | None = None) -> list[str]:
    """What on one page its own policy would block, or why it has none; empty where it is kept.

    ``base_url`` is the site's own address, where it is known.
    """
    found, policy = [], None
    for tag, attributes in start_tags(html):
        if tag == "meta" and attributes.get("http-equiv", "").lower() == "content-security-policy":
            policy = attributes.get("content")
        found += _breaches(tag, attributes, base_url)
    if policy != POLICY:
        found.append("not the site's Content-Security-Policy")
    return [f"{path}: {breach}" for breach in found]


def _breaches(tag: str, attributes: dict[str, str], base_url: str | None) -> list[str]:
    found = [f"inline {name}" for name in attributes if name == "style" or name.startswith("on")]
    found += ["inline style"] if tag == "style" else []
    found += ["inline script"] if tag == "script" and _runs_inline(attributes) else []
    found += [f"{tag} with {_SENDS[tag]}"] if attributes.get(_SENDS.get(tag, "")) else []
    loaded = _loaded(tag, attributes)
    return [*found, f"{tag} loads {loaded[:80]}"] if _foreign(loaded, base_url) else found


def _runs_inline(script: dict[str, str]) -> bool:
    return not script.get("src") and script.get("type") not in DATA_BLOCKS


def _loaded(tag: str, attributes: dict[str, str]) -> str:
    """The address that the browser fetches for a tag by itself; "" for none."""
    if tag == "link":
        return attributes.get("href", "") if attributes.get("rel") in ("stylesheet", "icon", "preload") else ""
    return attributes.get(_LOADS.get(tag, ""), "")


def _foreign(address: str, base_url: str | None) -> bool:
    if base_url and address.startswith(base_url):
        return False
    return "//" in address.partition("?")[0] or address.startswith("data:")
