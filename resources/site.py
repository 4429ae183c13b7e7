"""The published folder: built beside the live one, swapped in by rename, never half written."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import dagster as dg

from pipeline.errors import StoreError
from resources.atomic_files import TEMP_PREFIX, restore_folder, sha256_of, sha256_of_file, swap_folder
from resources.file_lock import held


@dataclass
class SiteFolder:
    """A site in the making. A file that the live site holds with the same bytes is taken over, not written again."""

    new: Path
    live: Path
    n_written: int = 0
    n_kept: int = 0

    def write_all(self, files: Mapping[str, str | bytes]) -> None:
        """Texts and bytes by relative path. Raises OSError."""
        for name, content in files.items():
            self.write(name, content)

    def write(self, name: str, content: str | bytes) -> bool:
        """One file. Returns whether it was taken over from the live site. Raises OSError."""
        body = content.encode() if isinstance(content, str) else content
        old = self.live / name
        if old.is_file() and old.stat().st_size == len(body) and old.read_bytes() == body and self.keep(name):
            return True
        path = self.new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        self.n_written += 1
        return False

    def write_parts(self, name: str, parts: Iterable[str]) -> bool:
        """As write, part by part: the text is never held as a whole. Raises OSError."""
        return self.fill(name, lambda file: file.writelines(part.encode() for part in parts))

    def fill(self, name: str, fill: Callable[[BinaryIO], object]) -> bool:
        """As write, a file that ``fill`` writes: its content is never held as a whole. Raises OSError."""
        path, old = self.new / name, self.live / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = path.with_name(f"{TEMP_PREFIX}{path.name}")
        with temp.open("wb") as file:
            fill(file)
        same = old.is_file() and old.stat().st_size == temp.stat().st_size
        if same and sha256_of_file(old) == sha256_of_file(temp) and self.keep(name):
            temp.unlink()
            return True
        temp.rename(path)
        self.n_written += 1
        return False

    def keep(self, name: str) -> bool:
        """Take a file of the live site over by a second link to it; False where there is none, or no links."""
        path = self.new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(self.live / name, path)
        except OSError:
            return False
        self.n_kept += 1
        return True

    def take_over(self, hashes: Mapping[str, str]) -> bool:
        """Take these files of the live site over where all of them have these SHA-256; else none, and False."""
        if not all(self._is(name, sha256) for name, sha256 in hashes.items()):
            return False
        for n, name in enumerate(hashes):
            if not self.keep(name):
                # A link that stayed would be written through: into the live site.
                for taken in list(hashes)[:n]:
                    (self.new / taken).unlink()
                self.n_kept -= n
                return False
        return True

    def _is(self, name: str, sha256: str) -> bool:
        path = self.live / name
        return path.is_file() and sha256_of(path.read_bytes()) == sha256

    def files(self) -> set[str]:
        """Relative paths of every file, with /."""
        folders = ((Path(top).relative_to(self.new), names) for top, _, names in os.walk(self.new))
        return {(folder / name).as_posix() for folder, names in folders for name in names}  # rglob holds all paths

    def pages(self, among: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Relative path and text of every HTML page among some files, one at a time, in the order of their folders."""
        for name in sorted((name for name in among if name.endswith(".html")), key=lambda name: name.split("/")):
            yield name, (self.new / name).read_text(encoding="utf-8")


class Site(dg.ConfigurableResource):
    """A static site under ``site_dir``. A failed build leaves the old one as it was."""

    site_dir: str
    base_url: str = ""

    @property
    def live(self) -> Path:
        """The folder that a file server shows."""
        return Path(self.site_dir)

    @contextmanager
    def build(self) -> Iterator[SiteFolder]:
        """An empty site to fill, by one publisher at a time.

        At the end it takes the place of the live one; after an error it is removed.
        """
        new = self.live.with_name(f"{TEMP_PREFIX}new-{self.live.name}")
        try:
            with held(self.live.with_name(f".{self.live.name}.lock"), _waiting):
                restore_folder(self.live)
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir(parents=True)
                try:
                    yield SiteFolder(new, self.live)
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
