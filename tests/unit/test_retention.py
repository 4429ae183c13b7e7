import datetime as dt

import pytest

from pipeline.cell import GpuRun
from pipeline.errors import FrontierError
from pipeline.retention import cells_of, first_kept_day, prunable
from tests.unit.frontier.point_rows import curve, points_table

TODAY = dt.date(2026, 11, 1)


def cell(day: int, gpu: str = "h100") -> GpuRun:
    return GpuRun(gpu, dt.date(2026, 10, day))


def test_thirty_days_before_the_first_of_november_is_the_second_of_october():
    assert first_kept_day(TODAY, 30) == dt.date(2026, 10, 2)


def test_today_is_never_old():
    with pytest.raises(FrontierError, match=r"--older-than 0: today's results .* expected 1 to 36,500 days"):
        first_kept_day(TODAY, 0)


@pytest.mark.parametrize("days", [36_501, 99_999_999_999_999])
def test_more_days_than_the_calendar_has_are_refused(days):
    with pytest.raises(FrontierError, match=rf"--older-than {days}: nothing is that old; expected 1 to 36,500 days"):
        first_kept_day(TODAY, days)
    assert first_kept_day(TODAY, 36_500) == dt.date(1926, 11, 26)


def test_older_cells_go_unless_a_page_stands_on_them():
    cells = [cell(1), cell(2), cell(3), cell(1, "b300"), cell(1)]
    assert prunable(cells, {cell(2)}, dt.date(2026, 10, 3)) == [cell(1, "b300"), cell(1)]


def test_the_cells_of_points_are_their_gpus_and_days():
    rows = curve((50.0, 900.0), (60.0, 800.0), gpu="h100", run_date=dt.date(2026, 10, 1))
    assert cells_of(points_table(rows)) == {cell(1)}
