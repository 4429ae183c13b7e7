"""JSON-LD of a run page: WebPage, FAQPage and BreadcrumbList, safe inside a script element."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import Page
from pipeline.pages.paths import model_path, root_from, run_path

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def structured_data(page: Page, site: SiteFacts) -> Markup:
    """The page's own section as one JSON-LD graph. Addresses are absolute where the site knows its own."""
    graph = {"@context": "https://schema.org", "@graph": [_web_page(page, site), _faq(page), _breadcrumbs(page, site)]}
    text = json.dumps(graph, ensure_ascii=False, allow_nan=False)
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return Markup(text)


def _address(path: str, page: Page, site: SiteFacts) -> str:
    return (site.base_url or root_from(run_path(page.model.slug, page.gpu.slug))) + path


def _web_page(page: Page, site: SiteFacts) -> dict[str, Any]:
    return {
        "@type": "WebPage",
        "name": page.title,
        "description": page.quick_answer,
        "url": _address(run_path(page.model.slug, page.gpu.slug), page, site),
        "isPartOf": {"@type": "WebSite", "name": site.name, "url": _address("", page, site)},
    }


def _faq(page: Page) -> dict[str, Any]:
    return {
        "@type": "FAQPage",
        "mainEntity": [
            {
                "@type": "Question",
                "name": entry.question,
                "acceptedAnswer": {"@type": "Answer", "text": entry.answer},
            }
            for entry in page.faq
        ],
    }


def _breadcrumbs(page: Page, site: SiteFacts) -> dict[str, Any]:
    steps = [
        (site.name, ""),
        (page.model.name, model_path(page.model.slug)),
        (page.gpu.name, run_path(page.model.slug, page.gpu.slug)),
    ]
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": n, "name": name, "item": _address(path, page, site)}
            for n, (name, path) in enumerate(steps, start=1)
        ],
    }
