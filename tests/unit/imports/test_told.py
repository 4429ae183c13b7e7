"""What is told beside the counts of an import."""

import datetime as dt

from pipeline.imports.told import told_of, told_words
from tests.unit.imports.foreign import VLLM_FACTS, vllm_row


def told(read, *rows, **declared):
    return told_words([told_of(read([row], **(VLLM_FACTS | declared)).points) for row in rows])


def night(**changes):
    """The same row a day later than vllm_row."""
    return vllm_row(date="20260608-003000", **changes)


def test_nothing_is_told_of_points_of_one_day_that_count(read):
    assert told(read, vllm_row(), vllm_row(max_concurrency=4)) == []


def test_why_points_do_not_count_is_told_once_a_reason(read):
    (words,) = told(read, vllm_row(), vllm_row(max_concurrency=4), n_gpus=None)
    assert words.startswith("2 points invalid, n_gpus_unknown: The number of GPUs held is neither recorded")


def test_a_declaration_that_the_file_overrules_is_told(read):
    (words,) = told(read, vllm_row(), model="gpt-oss-120b")
    assert words.startswith("1 point, declared_contradicts_file: A declared fact differs from the recorded one")
    assert words.endswith("(model)")


def test_a_sweep_over_midnight_whose_newest_day_has_fewer_points_is_told(read):
    (words,) = told(read, vllm_row(), vllm_row(max_concurrency=4), night(max_concurrency=8))
    assert "on h100" not in words
    assert "2 points of 2026-06-07, 1 point of 2026-06-08. A page reads the newest run of a series alone." in words
    assert told(read, vllm_row(), night(), night(max_concurrency=8)) == []


def test_the_day_on_which_the_run_began_may_be_declared_and_makes_one_run_of_it(read):
    declared = {"run_date": dt.date(2026, 6, 7)}
    assert told(read, vllm_row(), vllm_row(max_concurrency=4), night(max_concurrency=8), **declared) == []
    (found,) = read([night()], **(VLLM_FACTS | declared)).points.to_pylist()
    assert (found["run_date"], found["run_id"]) == (dt.date(2026, 6, 7), "imported-2026-06-07")
    assert "run_began_the_day_before" in found["notes"]
    assert "run_date" in found["declared"]


def test_no_other_day_may_be_declared_against_the_file(read):
    for day in (dt.date(2026, 6, 6), dt.date(2026, 6, 9)):
        (found,) = read([night()], **(VLLM_FACTS | {"run_date": day})).points.to_pylist()
        assert found["run_date"] == dt.date(2026, 6, 8)
        assert "declared_contradicts_file=run_date" in found["notes"]
