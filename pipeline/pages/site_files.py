"""Every text file of the site by path: what belongs to one pair, and what belongs to all. Writing is a resource's."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.overview import (
    overview,
    overview_json,
    render_gpu_page,
    render_model_page,
    render_not_found,
    render_overview,
    robots_txt,
    sitemap_xml,
    static_files,
)
from pipeline.pages.page import Page
from pipeline.pages.paths import gpu_path, model_path, run_path
from pipeline.pages.run_page import run_files
from pipeline.pages.schema import page_schema

Sections = tuple[Page, ...]


def pair_files(sections: Sections, site: SiteFacts) -> dict[str, str]:
    """The files of one model on one GPU, by path from the site's root."""
    folder = run_path(sections[0].model.slug, sections[0].gpu.slug)
    return {f"{folder}{name}": text for name, text in run_files(sections, site).items()}


def site_files(pairs: Sequence[Sections], site: SiteFacts) -> dict[str, str]:
    """Overview, model and GPU pages, schema, sitemap and what every page links to, by path."""
    found = overview(page for sections in pairs for page in sections)
    models = sorted({row.model.slug for row in found.rows})
    gpus = [gpu.slug for gpu in found.gpus]
    runs = [run_path(sections[0].model.slug, sections[0].gpu.slug) for sections in pairs]
    paths = ["", *runs, *map(model_path, models), *map(gpu_path, gpus)]
    return {
        "index.html": render_overview(found, site),
        "index.json": overview_json(found),
        **{f"{model_path(slug)}index.html": render_model_page(found, slug, site) for slug in models},
        **{f"{gpu_path(slug)}index.html": render_gpu_page(found, slug, site) for slug in gpus},
        "404.html": render_not_found(site),
        "robots.txt": robots_txt(site),
        "sitemap.xml": sitemap_xml(paths, site),
        "schema/page.schema.json": json.dumps(page_schema(), indent=1) + "\n",
        **static_files(),
    }
