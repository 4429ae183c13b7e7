import datetime as dt

import pytest

from pipeline.cell import GpuRun
from pipeline.errors import SweepRefusedError
from pipeline.sweep.past_day import Asked, refuse_past

TODAY = dt.date(2026, 11, 2)
NOW = dt.datetime(2026, 11, 2, 9, 30, tzinfo=dt.UTC)
CELL = GpuRun("h100", dt.date(2026, 11, 1))
BUILDS = {"vllm_cuda": "0.33.0", "sglang_cuda": "0.5.23"}


def refusal(asked: Asked) -> str:
    with pytest.raises(SweepRefusedError) as error:
        refuse_past(CELL, NOW, asked)
    return str(error.value)


def test_today_needs_no_words():
    refuse_past(GpuRun("h100", TODAY), NOW, Asked(False, {}, BUILDS))


def test_a_past_day_says_what_to_type():
    said = refusal(Asked(False, {}, BUILDS, ("--kind measured", "--recipe a")))
    assert said == (
        "sweep h100|2026-11-01: the run date is past, and a sweep says what is true on its day; expected 2026-11-02, "
        "found 2026-11-01. Sweep today, or measure it again: frontier sweep h100 --run-date 2026-11-01 --again "
        "--kind measured --recipe a --build vllm_cuda=0.33.0 --build sglang_cuda=0.5.23 "
        '(in the UI: measure_again: true, versions: {vllm_cuda: "0.33.0", sglang_cuda: "0.5.23"}).'
    )


def test_measuring_again_without_a_version_of_every_build_is_refused_and_keeps_what_was_named():
    said = refusal(Asked(True, {"vllm_cuda": "0.32.0"}, BUILDS))
    assert "it is not said which version of sglang_cuda measures it again" in said
    assert "--build vllm_cuda=0.32.0 --build sglang_cuda=0.5.23" in said
    assert "which version of vllm_cuda and sglang_cuda measures" in refusal(Asked(True, {}, BUILDS))


def test_measuring_again_with_every_build_named_is_done():
    refuse_past(CELL, NOW, Asked(True, BUILDS, BUILDS))


def test_a_version_alone_does_not_ask_for_measuring_again():
    assert "--again" in refusal(Asked(False, BUILDS, BUILDS))


def test_a_simulation_is_pinned_by_its_lock_and_only_has_to_be_asked_for():
    assert "measure it again: frontier sweep h100 --run-date 2026-11-01 --again (in the UI" in refusal(
        Asked(False, {}, {})
    )
    refuse_past(CELL, NOW, Asked(True, {}, {}))


def asked_on(day: int, hour: int) -> Asked:
    return Asked(False, {}, BUILDS, at=dt.datetime(2026, 11, day, hour, tzinfo=dt.UTC))


def test_what_was_asked_for_on_its_day_and_waited_over_midnight_is_of_that_day():
    refuse_past(CELL, NOW, asked_on(1, 22))


def test_what_is_asked_for_after_its_day_is_refused_however_soon():
    midnight = dt.datetime(2026, 11, 2, 0, 1, tzinfo=dt.UTC)
    with pytest.raises(SweepRefusedError, match="the run date is past"):
        refuse_past(CELL, midnight, Asked(False, {}, BUILDS, at=dt.datetime(2026, 11, 2, 0, 0, tzinfo=dt.UTC)))


def test_a_day_after_it_was_asked_for_it_is_the_next_nights_turn():
    refuse_past(CELL, dt.datetime(2026, 11, 2, 22, 0, tzinfo=dt.UTC), asked_on(1, 22))
    with pytest.raises(SweepRefusedError, match="it starts more than 24 h after it was asked for, and"):
        refuse_past(CELL, dt.datetime(2026, 11, 2, 22, 1, tzinfo=dt.UTC), asked_on(1, 22))
