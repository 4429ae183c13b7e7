"""The published folder: built beside the live one, swapped in by rename, never half written."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from pipeline.errors import StoreError
from resources.atomic_files import TEMP_PREFIX, swap_folder


class Site(dg.ConfigurableResource):
    """A static site under ``site_dir``. A failed build leaves the old one as it was."""

    site_dir: str
    base_url: str = ""

    @property
    def live(self) -> Path:
        """The folder that a file server shows."""
        return Path(self.site_dir)

    @contextmanager
    def build(self) -> Iterator[Path]:
        """An empty folder to fill; at the end it takes the place of the live one, after an error it is removed."""
        new = self.live.with_name(f"{TEMP_PREFIX}new-{self.live.name}")
        shutil.rmtree(new, ignore_errors=True)
        try:
            new.mkdir(parents=True)
            yield new
            swap_folder(new, self.live)
        except OSError as error:
            raise StoreError(
                f"cannot build the site ({error.strerror or error})",
                where=str(new),
                next_step="Free space or correct the permissions, then publish again; the old site is untouched.",
            ) from error
        finally:
            shutil.rmtree(new, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write texts and bytes by relative path. Raises OSError."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def files_in(folder: Path) -> set[str]:
    """Relative paths of every file, with /."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def html_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Relative path and text of every HTML page, one at a time."""
    for path in sorted(folder.rglob("*.html")):
        yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
