"""Where every page and file of the site lies, relative to its root, and the way back to the root."""

from __future__ import annotations

from pipeline.pages.page import Page

POINTS_FOLDER = "points/"
"""Below a section's folder: the page of all its points, where they are many."""

CHANGES_PATH = "changes/"
DATA_PATH = "data/"

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


def compare_path(model: str) -> str:
    """The folder of one model's comparisons, by slug, with its last slash."""
    return f"compare/{model}/"


def root_from(path: str) -> str:
    """The relative way from a folder to the site's root: run/x/ gives ../../, the root itself "./"."""
    return "../" * path.count("/") or "./"


def section_id(page: Page) -> str:
    """The anchor of a section, unique on its run page."""
    return f"{page.workload.slug}-{page.provenance}"


def section_folder(page: Page, *, of: Page) -> str:
    """The folder of a section's page below the run page's, "" for the own section ``of``, which is the run page."""
    return "" if page is of else f"{section_id(page)}/"


def section_path(page: Page, *, of: Page) -> str:
    """The folder of a section's page from the site's root. ``of`` is the run page's own section."""
    return run_path(page.model.slug, page.gpu.slug) + section_folder(page, of=of)


def section_files(page: Page, *, of: Page) -> dict[str, str]:
    """File names of a section by content. ``of`` is the run page's own section, whose files have the plain names."""
    suffix = "" if page is of else f"-{section_id(page)}"
    files = {kind: f"{kind}{suffix}.{ending}" for kind, ending in SECTION_FILES.items()}
    return files if page.frontier else {kind: name for kind, name in files.items() if kind != "frontier"}


def share_picture_file(page: Page, *, of: Page) -> str:
    """The name of the picture of a section with a frontier, beside the section's other files."""
    return section_files(page, of=of)["frontier"].replace(".svg", ".png")
