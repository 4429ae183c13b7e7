"""Where every page and file of the site lies, relative to its root, and the way back to the root."""

from __future__ import annotations

from pipeline.pages.page import Page

SECTION_FILES = {"data": "json", "ladder": "csv", "points": "csv", "frontier": "svg"}


def run_path(model: str, gpu: str) -> str:
    """The folder of the pages of one model on one GPU, by slugs, with its last slash."""
    return f"run/{model}-on-{gpu}/"


def model_path(model: str) -> str:
    """The folder of one model's page, by slug, with its last slash."""
    return f"model/{model}/"


def gpu_path(gpu: str) -> str:
    """The folder of one GPU's page, by slug, with its last slash."""
    return f"gpu/{gpu}/"


def root_from(path: str) -> str:
    """The relative way from a folder to the site's root: run/x/ gives ../../, the root itself "./"."""
    return "../" * path.count("/") or "./"


def section_id(page: Page) -> str:
    """The anchor of a section, unique on its run page."""
    return f"{page.workload.slug}-{page.provenance}"


def section_files(page: Page, *, of: Page) -> dict[str, str]:
    """File names of a section by content. ``of`` is the run page's own section, whose files have the plain names."""
    suffix = "" if page is of else f"-{section_id(page)}"
    files = {kind: f"{kind}{suffix}.{ending}" for kind, ending in SECTION_FILES.items()}
    return files if page.frontier else {kind: name for kind, name in files.items() if kind != "frontier"}
