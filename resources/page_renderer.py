"""Stored pages to the files of a site, several at a time: drawing charts takes most of a publication.

Each process draws and writes whole pairs, then the comparisons of whole models, and hands back only what the rest of
the site needs of them. Few are on their way at a time, and what was drawn is remembered in a file, so memory does not
depend on how many pages are drawn. What the live site was drawn from the same pages by the same code is taken over
from it.
"""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from pipeline.errors import StoreError
from pipeline.pages.compare_page import compare_files
from pipeline.pages.drawing import Drawing, drawing_key, drawing_of, key_of_all
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.site_files import Sections, pair_files, without_unread_points
from resources.drawings import Drawings, drawing_code, new_drawings, read_drawings
from resources.page_store import read_sections, sections_in
from resources.site import SiteFolder

N_FILES_A_TASK = 4
N_TASKS_A_PROCESS = 3
"""Tasks that are given out at a time: one at work, one that waits for it, and one whose answers wait to be read."""

Run = Callable[..., Iterator[Any]]
"""``map``, or the same over several processes."""


@dataclass(frozen=True)
class Rendered:
    """Some files that are in place: what they are, and how many were written, taken over, and drawn for it."""

    drawing: Drawing
    n_written: int
    n_kept: int
    drawn: bool


@dataclass(frozen=True)
class RenderedPair(Rendered):
    """One pair; its sections are without what nobody else reads."""

    sections: Sections


@dataclass(frozen=True)
class Place:
    """Where everything of one publication comes from and goes to."""

    new: Path
    live: Path
    facts: SiteFacts
    code: str


@dataclass
class Drawer:
    """One publication at work. Drawings, ``known`` and new ones, are by pair (gpu/model) and by model (compare/model).

    ``keys`` are those of the pairs that are in place.
    """

    folder: SiteFolder
    place: Place
    run: Run
    known: Drawings
    drawings: Drawings
    keys: dict[str, str] = field(default_factory=dict)

    def pairs(self, files: Sequence[Path]) -> Iterator[RenderedPair]:
        """Put the files of every stored pair in place, in order. Raises StoreError."""
        names = [f"{path.parent.name}/{path.stem}" for path in files]
        task = partial(render_pair, place=self.place)
        for name, pair in zip(names, self.run(task, files, map(self.known.get, names)), strict=True):
            self._count(name, pair)
            self.keys[name] = pair.drawing.key
            yield pair

    def comparisons(self, files: Sequence[Path]) -> Iterator[Rendered]:
        """Put the comparisons of every model in place, whose pairs are drawn. Raises StoreError."""
        models: dict[str, list[Path]] = {}
        for path in files:
            models.setdefault(path.stem, []).append(path)
        names = [f"compare/{model}" for model in models]
        keys = [
            key_of_all(self.keys[f"{path.parent.name}/{path.stem}"] for path in stored) for stored in models.values()
        ]
        task = partial(render_comparisons, place=self.place)
        for name, model in zip(names, self.run(task, models.values(), keys, map(self.known.get, names)), strict=True):
            self._count(name, model)
            yield model

    def _count(self, name: str, rendered: Rendered) -> None:
        self.folder.n_written += rendered.n_written
        self.folder.n_kept += rendered.n_kept
        self.drawings.put(name, rendered.drawing)


class PageRenderer(dg.ConfigurableResource):
    """``n_processes`` draw at once (0: one a core). Few pages are drawn in this process: a new one takes a second."""

    n_processes: int = Field(default=0, ge=0, le=64)
    n_pages_alone: int = Field(default=40, ge=0)

    @contextmanager
    def drawer(self, folder: SiteFolder, facts: SiteFacts, n_pairs: int) -> Iterator[Drawer]:
        """Draws into the folder; at the end what was drawn is remembered for the next publication."""
        place = Place(folder.new, folder.live, facts, drawing_code())
        with new_drawings(folder.live) as new, read_drawings(folder.live) as known, self._run(n_pairs) as run:
            yield Drawer(folder, place, run, known, new)

    @contextmanager
    def _run(self, n_pairs: int) -> Iterator[Run]:
        n_processes = self.n_processes or os.cpu_count() or 1
        alone = multiprocessing.current_process().daemon  # such a process may not start another one
        if alone or n_processes == 1 or n_pairs <= self.n_pages_alone:
            yield map
            return
        # Not forked: Dagster's process has threads, and the chart library does not survive a fork.
        with ProcessPoolExecutor(n_processes, multiprocessing.get_context("spawn")) as pool:
            try:
                yield partial(_map, pool, n_ahead=n_processes * N_TASKS_A_PROCESS)
            except BrokenProcessPool:
                raise StoreError(
                    "a process that drew pages ended without an answer",
                    where="site",
                    next_step="Free memory, then publish again; the old site is untouched.",
                ) from None


def _map(pool: ProcessPoolExecutor, task: Callable[..., Any], *arguments: Iterable[Any], n_ahead: int) -> Iterator[Any]:
    """``map`` in order, several calls a task; arguments are read and answers held of ``n_ahead`` tasks only."""
    calls, waiting = zip(*arguments, strict=True), deque[Future[list[Any]]]()
    while some := list(islice(calls, N_FILES_A_TASK)):
        waiting.append(pool.submit(_called, task, some))
        if len(waiting) >= n_ahead:
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


def _called(task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [task(*call) for call in calls]


def render_pair(file: Path, known: Drawing | None, *, place: Place) -> RenderedPair:
    """Put the files of one stored pair into the new site. Raises StoreError, OSError."""
    stored = file.read_bytes()
    sections, key = sections_in(stored, file), drawing_key(stored, place.facts, place.code)
    done = _in_place(place, key, known, lambda: pair_files(sections, place.facts))
    return RenderedPair(**vars(done), sections=without_unread_points(sections))


def render_comparisons(files: Sequence[Path], key: str, known: Drawing | None, *, place: Place) -> Rendered:
    """Put the comparisons of the stored pairs of one model into the new site. Raises StoreError, OSError."""

    def made() -> dict[str, str]:
        return compare_files([without_unread_points(read_sections(file)) for file in files], place.facts)

    return _in_place(place, key, known, made)


def _in_place(place: Place, key: str, known: Drawing | None, made: Callable[[], Mapping[str, str | bytes]]) -> Rendered:
    """The files of the live site where they are this drawing, otherwise made anew."""
    folder = SiteFolder(place.new, place.live)
    if known and known.key == key and not known.breaches and folder.take_over(known.files):
        return Rendered(known, 0, folder.n_kept, drawn=False)
    files = made()
    folder.write_all(files)
    return Rendered(drawing_of(key, files, place.facts), folder.n_written, folder.n_kept, drawn=True)
