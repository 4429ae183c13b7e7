"""The hash of every file as it was published, beside the site: what tells an altered file from the published one.

It is no part of the site. What was drawn is remembered in drawings.py already; here are the files beside that.
"""

from collections.abc import Iterable, Set
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from pipeline.pages.drawing import Drawing
from resources.atomic_files import sha256_of_file, write_bytes
from resources.drawings import read_drawings
from resources.site import SiteFolder

HASHES = TypeAdapter(dict[str, str])


def files_file(live: Path) -> Path:
    """Where the hashes of a site are: a hidden file beside its folder."""
    return live.with_name(f".{live.name}.files.json")


def remember_files(folder: SiteFolder, drawn: Iterable[Drawing]) -> None:
    """Remember every file of a finished folder that is not of a drawing. Raises OSError, StoreError."""
    hashes = {name: sha256_of_file(folder.new / name) for name in sorted(undrawn(folder.files(), drawn))}
    write_bytes(files_file(folder.live), HASHES.dump_json(hashes) + b"\n")


def undrawn(files: Set[str], drawn: Iterable[Drawing]) -> set[str]:
    """Those of some files that are not of a drawing."""
    rest = set(files)
    for drawing in drawn:
        rest.difference_update(drawing.files)
    return rest


def published_hashes(live: Path) -> dict[str, str] | None:
    """SHA-256 of every file of the last publication by path; None where that is not remembered."""
    try:
        hashes = HASHES.validate_json(files_file(live).read_bytes())
    except (OSError, ValidationError):
        return None
    with read_drawings(live) as drawings:
        for drawing in drawings:
            hashes.update(drawing.files)
    return hashes
