"""What a page was made from against what is there: nothing where they agree, one sentence a kind where they do not."""

import dataclasses
import datetime as dt

from pipeline.pages.page_inputs import PageInputs, changed_inputs

MADE = PageInputs(
    gpu="h100",
    as_of=dt.date(2026, 10, 10),
    files={f"raw/h100/2026-10-0{n}/points.parquet": f"hash{n}" for n in (1, 2, 3, 4, 5)},
    prices="p1",
    code="c1",
    registry="r1",
    pages={"m": "page1"},
)


def changes(**now):
    return changed_inputs(MADE, dataclasses.replace(MADE, as_of=dt.date(2026, 10, 20), **now))


def test_the_same_versions_on_a_later_day_are_current():
    assert changes() == ()


def test_a_changed_a_new_and_a_lost_file_are_named():
    files = {**MADE.files, "raw/h100/2026-10-05/points.parquet": "other", "raw/h100/2026-10-06/points.parquet": "new"}
    del files["raw/h100/2026-10-01/points.parquet"]
    assert changes(files=files) == (
        "1 input file (raw/h100/2026-10-06/points.parquet) is new",
        "1 input file (raw/h100/2026-10-01/points.parquet) is gone",
        "1 input file (raw/h100/2026-10-05/points.parquet) is changed",
    )


def test_of_many_files_the_newest_days_are_named():
    (words,) = changes(files={})
    assert words.startswith("5 input files (raw/h100/2026-10-05/points.parquet, ")
    assert words.endswith(" and 2 more) are gone")


def test_prices_code_registry_and_the_stored_page_are_told_apart():
    assert changes(prices="p2") == (
        "the price rows of 2026-10-20 are not those that it was made with, as of 2026-10-10",
    )
    assert changes(code="c2") == ("it was made by other code (frontier, costs, pages)",)
    assert changes(registry="r2") == ("it was made with another registry (names, workloads, tiers)",)
    assert changes(pages={}) == ("its stored page of m is gone",)
