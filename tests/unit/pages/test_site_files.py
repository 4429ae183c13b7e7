"""What is kept of each page while a site is made: a few kB, whatever is on the page."""

import dataclasses
import tracemalloc

from pipeline.pages.build import build_sections
from pipeline.pages.changes import LastStates, Publication
from pipeline.pages.page import ModelRef
from pipeline.pages.site_files import SiteContents
from pipeline.tables.changes import CHANGES
from tests.unit.pages.pairs import h100_rows, pair_of

KIB = 1024


def kept_kib(n_pages):
    """What the contents and the changes of a first publication hold of so many pages."""
    (page,) = build_sections(pair_of(h100_rows()))
    contents, publication = SiteContents(), Publication(LastStates(CHANGES.empty()))
    tracemalloc.start()
    for n in range(n_pages):
        sections = (dataclasses.replace(page, model=ModelRef(f"model_{n}", f"Model {n}")),)
        contents.add(sections)
        publication.add(sections)
    held = tracemalloc.get_traced_memory()[0] / KIB
    tracemalloc.stop()
    assert len(contents.live) == n_pages
    return held


def test_a_page_more_is_a_few_kb_more():
    small, large = kept_kib(30), kept_kib(120)
    assert 1 < (large - small) / 90 < 8
