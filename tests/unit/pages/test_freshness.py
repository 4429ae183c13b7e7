"""When a section says that it is old; the GPU of the tests is due 30 days after its newest run."""

import dataclasses
import datetime as dt

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.freshness import freshness_sentence, overdue_sentence
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.overview import overview
from pipeline.pages.overview_page import render_overview
from pipeline.pages.run_page import run_files
from pipeline.registry.shipped import shipped_registry
from tests.unit.pages.pairs import pair_of, point

RUN_DATE = dt.date(2026, 9, 24)
DUE_ON = dt.date(2026, 10, 24)
NEXT_DAY = dt.date(2026, 10, 25)


def page(as_of=DUE_ON, registry=None, **columns):
    pair = dataclasses.replace(pair_of([point(50.0, 9000.0, **columns)], []), as_of=as_of)
    return build_sections(dataclasses.replace(pair, registry=registry or pair.registry))[0]


def html_of(section) -> str:
    return run_files((section,), SiteFacts())["index.html"]


def test_a_measured_section_says_when_it_was_measured_and_when_it_is_due():
    fresh = page().freshness
    assert (fresh.last_run_date, fresh.age_days, fresh.due_on, fresh.overdue) == (RUN_DATE, 30, DUE_ON, False)
    assert freshness_sentence(page()) == "Measured on 2026-09-24; due again by 2026-10-24."
    assert overdue_sentence(page()) is None
    assert '<p class="note" data-due="2026-10-24">Measured on 2026-09-24;' in html_of(page())
    assert "Overdue" not in html_of(page())


def test_a_page_that_is_made_after_the_day_says_so_first_and_leaves_nothing_to_the_script():
    late = page(as_of=NEXT_DAY)
    assert late.freshness.overdue
    html = html_of(late)
    assert "Overdue: these numbers were due to be measured again by 2026-10-24." in html
    assert "data-due" not in html


@pytest.mark.parametrize(
    ("provenance", "words"),
    [
        ("imported", "The newest imported run is of 2026-09-24. Imported results are as old as their files"),
        ("simulated", "Simulated on 2026-09-24. A simulation gives the same numbers"),
    ],
)
def test_what_is_not_measured_here_has_an_age_and_is_never_overdue(provenance, words):
    late = page(as_of=dt.date(2027, 9, 24), provenance=provenance)
    assert (late.freshness.age_days, late.freshness.due_on, late.freshness.overdue) == (365, None, False)
    assert freshness_sentence(late).startswith(words)
    assert "data-due" not in html_of(late)


def test_a_retired_gpu_is_not_due():
    registry = shipped_registry()
    gpus = {**registry.gpus, "h100": registry.gpus["h100"].model_copy(update={"retired": True})}
    retired = page(as_of=NEXT_DAY, registry=dataclasses.replace(registry, gpus=gpus))
    assert freshness_sentence(retired).endswith("The GPU is retired: it is not measured again.")


def test_a_section_without_a_valid_point_has_no_age():
    nothing = page(valid=False, reasons=["no_success"])
    assert (nothing.freshness.last_run_date, nothing.freshness.reason) == (None, "No point of this page is valid.")
    assert freshness_sentence(nothing) is None


def test_the_overview_marks_what_is_overdue_and_leaves_the_day_of_the_others_to_the_script():
    late, fine = ("".join(render_overview(overview([(page(as_of=day),)]), SiteFacts())) for day in (NEXT_DAY, DUE_ON))
    assert '<span class="cell gap">overdue since 2026-10-24</span>' in late
    assert '<span class="cell gap" data-due="2026-10-24"></span>' in fine
    assert overview([(page(as_of=NEXT_DAY),)]).rows[0].cells[0].overdue


def test_the_same_day_gives_the_same_bytes():
    assert html_of(page()) == html_of(page())
