"""The published folder: built beside the live one, swapped in by rename, never half written."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from pipeline.errors import StoreError
from resources.atomic_files import TEMP_PREFIX, swap_folder
from resources.file_lock import held


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
        """An empty folder to fill, by one publisher at a time.

        At the end it takes the place of the live one; after an error it is removed.
        """
        new = self.live.with_name(f"{TEMP_PREFIX}new-{self.live.name}")
        try:
            with held(self.live.with_name(f".{self.live.name}.lock"), _waiting):
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir(parents=True)
                try:
                    yield new
                    swap_folder(new, self.live)
                finally:
                    shutil.rmtree(new, ignore_errors=True)
        except OSError as error:
            raise StoreError(
                f"cannot build the site ({error.strerror or error})",
                where=str(new),
                next_step="Free space or correct the permissions, then publish again; the old site is untouched.",
            ) from error


def _waiting() -> None:
    dg.get_dagster_logger().info("another publisher is at work; waiting for it")


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
