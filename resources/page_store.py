"""Stored pages: one JSON file a model and GPU, a list of sections with the page's own first."""

from collections.abc import Mapping
from pathlib import Path

import dagster as dg
from pydantic import TypeAdapter, ValidationError

from pipeline.errors import StoreError
from pipeline.pages.page import Page, to_json
from pipeline.pages.page_inputs import PageInputs
from pipeline.registry.shipped import shipped_renamed
from resources.atomic_files import sha256_of, write_bytes

SECTIONS = TypeAdapter(tuple[Page, ...])
INPUTS = TypeAdapter(PageInputs)


class PageStore(dg.ConfigurableResource):
    """Pages under ``root_dir``/pages/<gpu>/<model>.json, and what they were made from in page_inputs/<gpu>.json."""

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
                stale.unlink(missing_ok=True)  # another publisher may have removed it
        return hashes

    def read(self, gpu: str, model: str) -> tuple[Page, ...]:
        """The sections of one pair, none where it has no page. Raises StoreError for a damaged file."""
        path = self.root / gpu / f"{model}.json"
        return read_sections(path) if path.exists() else ()

    def hashes(self, gpu: str) -> dict[str, str]:
        """Hash of every stored file of a GPU, by model."""
        return {path.stem: sha256_of(path.read_bytes()) for path in self.files() if path.parent.name == gpu}

    def write_inputs(self, inputs: PageInputs) -> None:
        """Store what the pages of a GPU were made from. Raises StoreError."""
        write_bytes(self._inputs(inputs.gpu), INPUTS.dump_json(inputs, indent=1) + b"\n")

    def read_inputs(self, gpu: str) -> PageInputs | None:
        """What the pages of a GPU were made from; None where that is not known."""
        try:
            return INPUTS.validate_json(self._inputs(gpu).read_bytes())
        except (OSError, ValidationError):
            return None

    def _inputs(self, gpu: str) -> Path:
        return Path(self.root_dir) / "page_inputs" / f"{gpu}.json"

    def gpus(self) -> list[str]:
        """GPUs that have a stored page."""
        return sorted({path.parent.name for path in self.files()})

    def gpus_that_lost_pages(self) -> list[str]:
        """GPUs of which a page was made that is stored no more."""
        made = (self.read_inputs(path.stem) for path in sorted(self._inputs("*").parent.glob("*.json")))
        known = [inputs for inputs in made if inputs and inputs.gpu not in shipped_renamed().gpus]
        return [i.gpu for i in known if any(not (self.root / i.gpu / f"{model}.json").is_file() for model in i.pages)]

    def files(self) -> list[Path]:
        """The stored files of all pairs, by GPU and model, none of a former slug; read_sections reads one."""
        renamed = shipped_renamed()
        found = (path for path in self.root.glob("*/*.json") if not path.name.startswith("."))
        return sorted(p for p in found if p.parent.name not in renamed.gpus and p.stem not in renamed.models)


def read_sections(path: Path) -> tuple[Page, ...]:
    """One stored file. Raises StoreError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _no_page(path, error) from error
    return sections_in(content, path)


def sections_in(content: bytes, path: Path) -> tuple[Page, ...]:
    """The sections in the bytes of one stored file. Raises StoreError that names it."""
    try:
        return SECTIONS.validate_json(content)
    except ValidationError as error:
        raise _no_page(path, error) from error


def _no_page(path: Path, error: Exception) -> StoreError:
    first = str(error).splitlines()[0]
    return StoreError(
        f"not a stored page ({first})", where=str(path), next_step="Run frontier publish; it is made again."
    )
