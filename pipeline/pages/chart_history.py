"""The chart of one reading over run dates. The other charts are chart_data.py's."""

from __future__ import annotations

import datetime as dt

from pipeline.pages import chart_axes, chart_words, formats
from pipeline.pages.chart import Chart, Line, Mark
from pipeline.pages.curve_record import CurveHistory
from pipeline.pages.page import Page


def history_chart(page: Page) -> Chart | None:
    """The reading at the primary target by run date, with its spread; None below two dates with a value."""
    marks = _marks(page)
    if len({mark.x for mark in marks}) < 2:
        return None
    target = formats.speed(page.headline.target_tok_s_user)
    series = sorted({mark.series for mark in marks})
    words = chart_words.Words("", "tokens/s per GPU", _day, formats.throughput)
    return Chart(
        kind="history",
        title=chart_words.title(page, f"Throughput per GPU at {target} tokens/s per user, by run date"),
        caption="One mark a run; bars are one standard deviation over repeats, where a run has repeats.",
        alternative=chart_words.alternative(page, marks, words),
        x=chart_axes.day_axis([round(mark.x) for mark in marks]),
        y=chart_axes.throughput_axis([mark.y + (mark.y_std or 0.0) for mark in marks]),
        lines=tuple(Line(n, tuple((mark.x, mark.y) for mark in marks if mark.series == n)) for n in series),
        marks=marks,
    )


def _marks(page: Page) -> tuple[Mark, ...]:
    places = {series.label: n for n, series in enumerate(page.series)}
    found = []
    for curve in page.history:
        mark = _mark(curve, places[curve.series], page.headline.target_tok_s_user)
        found += [mark] if mark else []
    return tuple(sorted(found, key=lambda mark: (mark.series, mark.x)))


def _mark(curve: CurveHistory, place: int, target_tok_s_user: float) -> Mark | None:
    reading = next((r for r in curve.readings if r.target_tok_s_user == target_tok_s_user), None)
    if reading is None or reading.throughput_tok_s_gpu is None:
        return None
    value = reading.throughput_tok_s_gpu
    return Mark(
        series=place,
        x=float(curve.run_date.toordinal()),
        y=value,
        y_std=reading.throughput_std_tok_s_gpu,
        words=f"{curve.series}, {formats.throughput(value)} tokens/s per GPU, run {curve.run_date.isoformat()}",
    )


def _day(ordinal: float) -> str:
    return dt.date.fromordinal(round(ordinal)).isoformat()
