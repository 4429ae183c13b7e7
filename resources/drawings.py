"""What the published site was drawn from, beside it: the memory that lets the next publication take pages over.

It is no part of the site and never trusted alone: a file is taken over only where the live one has the hash that is
remembered. So it can be late, damaged or gone; then pages are drawn again.
"""

import hashlib
import io
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter, ValidationError

from pipeline.pages.drawing import Drawing
from resources.atomic_files import write_with

DRAWING = TypeAdapter(Drawing)
LIBRARIES = ("vl-convert-python", "altair", "jinja2", "markupsafe")
NOT_DRAWN_WITH = {".csv", ".lock", ".in", ".pyc"}


class Drawings:
    """Drawings by pair or model in an open file, of which only the places of its lines are held.

    A line is a name, a tab and the drawing as JSON. A line that this version does not read is no drawing.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._places: dict[str, int] = {}
        place = 0
        for line in file:
            name, tab, _ = line.partition(b"\t")
            if tab:
                self._places[name.decode(errors="replace")] = place
            place += len(line)

    def put(self, name: str, drawing: Drawing) -> None:
        """Remember one drawing, once a name. Raises OSError."""
        self._places[name] = self.file.seek(0, io.SEEK_END)
        self.file.write(b"\t".join([name.encode(), DRAWING.dump_json(drawing)]) + b"\n")

    def get(self, name: str) -> Drawing | None:
        """The drawing of that name; None where none is remembered."""
        if name not in self._places:
            return None
        self.file.seek(self._places[name])
        try:
            return DRAWING.validate_json(self.file.readline().partition(b"\t")[2])
        except ValidationError:
            return None

    def __iter__(self) -> Iterator[Drawing]:
        """Every drawing, in the order in which they were put, made when it is asked for."""
        return (drawing for drawing in map(self.get, self._places) if drawing)


def drawings_file(live: Path) -> Path:
    """Where the memory of a site is: a hidden file beside its folder."""
    return live.with_name(f".{live.name}.drawings.json")


@contextmanager
def read_drawings(live: Path) -> Iterator[Drawings]:
    """What is remembered of a site; nothing where there is no memory."""
    path = drawings_file(live)
    with path.open("rb") if path.is_file() else io.BytesIO() as file:
        yield Drawings(file)


@contextmanager
def new_drawings(live: Path) -> Iterator[Drawings]:
    """An empty memory; what is put into it takes the place of what was remembered of the site, at the end.

    Raises StoreError, OSError.
    """

    def copied(temp: Path) -> None:
        with temp.open("wb") as target:
            file.seek(0)
            shutil.copyfileobj(file, target)

    with tempfile.TemporaryFile(dir=live.parent) as file:
        yield Drawings(file)
        write_with(drawings_file(live), copied)


@cache
def drawing_code() -> str:
    """A hash of the code, templates and libraries that draw: every file of pipeline/ but prices, results and locks."""
    found = hashlib.sha256(platform.python_version().encode())
    for name in LIBRARIES:
        found.update(f"{name}=={metadata.version(name)}".encode())
    root = Path(str(resources.files("pipeline")))
    for path in sorted(path for path in root.rglob("*") if path.is_file() and path.suffix not in NOT_DRAWN_WITH):
        found.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return found.hexdigest()
