"""Stored pages: one JSON file a model and GPU, a list of sections with the page's own first."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import dagster as dg
from pydantic import TypeAdapter, ValidationError

from pipeline.errors import StoreError
from pipeline.pages.page import Page, to_json
from resources.atomic_files import sha256_of, write_bytes

SECTIONS = TypeAdapter(tuple[Page, ...])


class PageStore(dg.ConfigurableResource):
    """Pages under ``root_dir``/pages/<gpu>/<model>.json."""

    root_dir: str

    @property
    def root(self) -> Path:
        """The folder of the pages."""
        return Path(self.root_dir) / "pages"

    def write(self, gpu: str, pages: Mapping[str, tuple[Page, ...]]) -> list[str]:
        """Write the GPU's pages by model slug and remove those that are no more. Returns the hashes of their texts."""
        hashes = []
        for model, sections in sorted(pages.items()):
            content = ("[" + ",".join(to_json(page) for page in sections) + "]\n").encode()
            write_bytes(self.root / gpu / f"{model}.json", content)
            hashes.append(sha256_of(content))
        for stale in (self.root / gpu).glob("*.json"):
            if stale.stem not in pages:
                stale.unlink()
        return hashes

    def read(self, gpu: str, model: str) -> tuple[Page, ...]:
        """The sections of one pair, none where it has no page. Raises StoreError for a damaged file."""
        path = self.root / gpu / f"{model}.json"
        return read_sections(path) if path.exists() else ()

    def pairs(self) -> Iterator[tuple[Page, ...]]:
        """The sections of every pair, by GPU and model. Raises StoreError for a damaged file."""
        for path in sorted(self.root.glob("*/*.json")):
            if not path.name.startswith("."):
                yield read_sections(path)


def read_sections(path: Path) -> tuple[Page, ...]:
    """One stored file. Raises StoreError."""
    try:
        return SECTIONS.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise StoreError(
            f"not a stored page ({first})", where=str(path), next_step="Materialize page_data for its GPU again."
        ) from error
