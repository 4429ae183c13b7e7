"""JSON-LD of a run page: WebPage, FAQPage, BreadcrumbList and Dataset, safe inside a script element."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import Page
from pipeline.pages.paths import DATA_PATH, model_path, root_from, run_path, section_files, section_path

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_MEDIA = {"json": "application/json", "csv": "text/csv"}


@dataclass(frozen=True)
class _Place:
    """One section's page. Addresses are absolute where the site knows its own, else relative to the page."""

    page: Page
    own: Page
    site: SiteFacts

    @property
    def run(self) -> str:
        return run_path(self.page.model.slug, self.page.gpu.slug)

    @property
    def path(self) -> str:
        return section_path(self.page, of=self.own)

    def address(self, path: str) -> str:
        return (self.site.base_url or root_from(self.path)) + path


def structured_data(page: Page, own: Page, site: SiteFacts) -> Markup:
    """One section's page as one JSON-LD graph. ``own`` is the run page's own section."""
    place = _Place(page, own, site)
    parts = [_web_page(place), _faq(page), _breadcrumbs(place), _dataset(place)]
    graph = {"@context": "https://schema.org", "@graph": parts}
    return script_text(json.dumps(graph, ensure_ascii=False, allow_nan=False))


def script_text(json_text: str) -> Markup:
    """JSON text that cannot end the script element that holds it, nor be read as markup."""
    for character, escape in _UNSAFE.items():
        json_text = json_text.replace(character, escape)
    return Markup(json_text)


def _web_page(place: _Place) -> dict[str, Any]:
    return {
        "@type": "WebPage",
        "name": place.page.title,
        "description": place.page.quick_answer,
        "url": place.address(place.path),
        "isPartOf": {"@type": "WebSite", "name": place.site.name, "url": place.address("")},
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


def _breadcrumbs(place: _Place) -> dict[str, Any]:
    page = place.page
    steps = [(place.site.name, ""), (page.model.name, model_path(page.model.slug)), (page.gpu.name, place.run)]
    steps += [] if page is place.own else [(page.workload.name, place.path)]
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": n, "name": name, "item": place.address(path)}
            for n, (name, path) in enumerate(steps, start=1)
        ],
    }


def _dataset(place: _Place) -> dict[str, Any]:
    page = place.page
    names = [name for name in section_files(page, of=place.own).values() if name.rpartition(".")[2] in _MEDIA]
    return {
        "@type": "Dataset",
        "name": f"{page.title}: {page.workload.name}",
        "description": page.quick_answer,
        "license": place.address(f"{DATA_PATH}#licence"),
        "creator": {"@type": "Organization", "name": place.site.name},
        "temporalCoverage": f"{page.run_dates.first.isoformat()}/{page.run_dates.last.isoformat()}",
        "distribution": [
            {
                "@type": "DataDownload",
                "encodingFormat": _MEDIA[name.rpartition(".")[2]],
                "contentUrl": place.address(place.run + name),
            }
            for name in names
        ],
    }
