"""The charts of a page as data: which points and lines each one holds. Their sentences are chart_words.py's.

A chart that would hold nothing is not there. Superseded and invalid points are in none; valid points below the
frontier of their series are faint.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from pipeline.pages import chart_axes, chart_words, formats, wording
from pipeline.pages.chart import Chart, Line, Mark
from pipeline.pages.chart_history import history_chart
from pipeline.pages.curve_record import FrontierPoint
from pipeline.pages.interpolant import sampled_line
from pipeline.pages.page import Page
from pipeline.pages.point_record import Latency, PointRecord
from pipeline.pages.records import latency_at
from pipeline.units import usd_per_mtok

GUIDE_MARGIN = 1.1
"""Targets up to this many times the fastest point get a guide; farther ones would squeeze the data."""

GUIDE_GAP = 0.06
"""Share of the axis that two labelled guides keep apart."""

N_WITH_WORDS = 120
"""Up to this many frontier points each mark says its point; beyond, the table does."""

Read = Callable[[PointRecord], float | None]


def charts_of(page: Page) -> tuple[Chart, ...]:
    """Every chart that the page has data for, the frontier first. Without a frontier there is none."""
    if not page.frontier:
        return ()
    found = (
        frontier_chart(page),
        cost_chart(page),
        prefill_chart(page),
        decode_chart(page),
        _against_latency(page, "ttft"),
        _against_latency(page, "e2el"),
        _by_concurrency(page, "ttft"),
        _by_concurrency(page, "tpot"),
        history_chart(page),
    )
    return tuple(chart for chart in found if chart is not None)


def frontier_chart(page: Page) -> Chart:
    """Throughput per GPU against speed per user, with the interpolated frontier of every series."""
    marks = _marks(page, _speed, _throughput, with_words=len(page.frontier) <= N_WITH_WORDS)
    lines = tuple(Line(n, tuple(sampled_line(_knots(page, n)))) for n in range(len(page.series)))
    xy = [*_positions(marks), *itertools.chain.from_iterable(line.xy for line in lines)]
    return Chart(
        kind="frontier",
        title=chart_words.title(page, "Throughput per GPU against speed per user"),
        caption=wording.chart_caption(page),
        alternative=wording.chart_alternative(page),
        x=chart_axes.speed_axis([x for x, _ in xy]),
        y=chart_axes.throughput_axis([y for _, y in xy]),
        lines=lines,
        marks=marks,
        guides=_guides(page, max(x for x, _ in xy)),
    )


def cost_chart(page: Page) -> Chart | None:
    """Dollars per million total tokens against speed: the frontier at the headline's price."""
    priced = {tier for row in page.ladder for tier in row.at_least.cost_usd_mtok or ()}
    tier = next((cost for cost in page.costs if cost.tier in priced), None)
    if tier is None:
        return None
    rate = tier.usd_per_gpu_hour
    marks = _marks(page, _speed, lambda p: usd_per_mtok(rate, p.throughput_tok_s_gpu or 0.0))
    sampled = (sampled_line(_knots(page, n)) for n in range(len(page.series)))
    lines = tuple(Line(n, tuple(_priced(line, rate))) for n, line in enumerate(sampled))
    xy = [*_positions(marks), *itertools.chain.from_iterable(line.xy for line in lines)]
    words = chart_words.Words("tokens/s per user", "per million total tokens", formats.speed, formats.usd_mtok)
    return Chart(
        kind="cost",
        title=chart_words.title(page, "Cost per million total tokens against speed per user"),
        caption=chart_words.cost_caption(tier),
        alternative=chart_words.alternative(page, marks, words),
        x=chart_axes.speed_axis([x for x, _ in xy]),
        y=chart_axes.cost_axis([y for _, y in xy]),
        lines=lines,
        marks=marks,
        guides=_guides(page, max(x for x, _ in xy)),
    )


def prefill_chart(page: Page) -> Chart | None:
    """Input tokens that were computed, per GPU, against speed; None where the source does not say."""
    return _of_one_kind(page, "prefill", lambda p: p.computed_input_throughput_tok_s_gpu)


def decode_chart(page: Page) -> Chart | None:
    """Output tokens per GPU against speed: what decoding alone yields; None where the source does not say."""
    return _of_one_kind(page, "decode", lambda p: p.output_throughput_tok_s_gpu)


def _of_one_kind(page: Page, kind: str, tokens: Read) -> Chart | None:
    marks = _marks(page, _speed, tokens)
    if not marks:
        return None
    what = chart_words.ONE_KIND[kind]
    words = chart_words.Words("tokens/s per user", f"{what}/s per GPU", formats.speed, formats.throughput)
    return Chart(
        kind=kind,
        title=chart_words.title(page, f"{formats.capitalized(what)} per GPU against speed per user"),
        caption=chart_words.one_kind_caption(what),
        alternative=chart_words.alternative(page, marks, words),
        x=chart_axes.speed_axis([mark.x for mark in marks]),
        y=chart_axes.throughput_axis([mark.y for mark in marks], f"{formats.capitalized(what)}/s per GPU"),
        lines=_joined(marks),
        marks=marks,
        guides=_guides(page, max(mark.x for mark in marks)),
    )


def _against_latency(page: Page, latency: str) -> Chart | None:
    marks = _marks(page, _latency(page, latency), _throughput)
    if not marks:
        return None
    what = chart_words.LATENCY[latency]
    p = page.workload.percentile
    words = chart_words.Words(what, "tokens/s per GPU", formats.latency, formats.throughput)
    return Chart(
        kind=latency,
        title=chart_words.title(page, f"Throughput per GPU against p{p} {what}"),
        caption=chart_words.against_latency_caption(what),
        alternative=chart_words.alternative(page, marks, words),
        x=chart_axes.latency_axis([mark.x for mark in marks], f"p{p} {what}"),
        y=chart_axes.throughput_axis([mark.y for mark in marks]),
        lines=tuple(Line(n, tuple(_unbeaten(mark for mark in marks if mark.series == n))) for n in _places(marks)),
        marks=marks,
    )


def _unbeaten(marks: Iterable[Mark]) -> Iterable[tuple[float, float]]:
    """Positions that no other one beats on both axes: a lower latency and a higher throughput."""
    best = 0.0
    for mark in sorted(marks, key=lambda mark: (mark.x, -mark.y)):
        if mark.y > best:
            best = mark.y
            yield mark.x, mark.y


def _by_concurrency(page: Page, latency: str) -> Chart | None:
    marks = _marks(page, lambda p: float(p.concurrency) if p.concurrency else None, _latency(page, latency))
    if len({mark.x for mark in marks}) < 2:
        return None
    what = chart_words.LATENCY[latency]
    p = page.workload.percentile
    words = chart_words.Words("requests in flight", what, lambda n: f"{n:,.0f}", formats.latency)
    return Chart(
        kind=f"{latency}-by-concurrency",
        title=chart_words.title(page, f"p{p} {what} against requests in flight"),
        caption=chart_words.BY_CONCURRENCY,
        alternative=chart_words.alternative(page, marks, words),
        x=chart_axes.concurrency_axis([mark.x for mark in marks]),
        y=chart_axes.latency_axis([mark.y for mark in marks], f"p{p} {what}"),
        lines=tuple(_configurations(page, marks)),
        marks=marks,
    )


def _configurations(page: Page, marks: Sequence[Mark]) -> Iterable[Line]:
    """One line a configuration: what differs only in the concurrency."""
    known = sorted(
        ((_configuration(page.points[m.point or 0]), m) for m in marks), key=lambda pair: (pair[0], pair[1].x)
    )
    for _, group in itertools.groupby(known, key=lambda pair: pair[0]):
        found = [mark for _, mark in group]
        yield Line(found[0].series, tuple(_positions(found)))


def _configuration(point: PointRecord) -> tuple[str, ...]:
    return tuple(map(str, (point.series, point.topology, point.engine_build, point.spec_method, point.run_id)))


def _marks(page: Page, x: Read, y: Read, *, with_words: bool = False) -> tuple[Mark, ...]:
    places = {series.label: n for n, series in enumerate(page.series)}
    return tuple(
        Mark(
            series=places[point.series],
            x=x_value,
            y=y_value,
            point=n,
            faint=point.role == "off_frontier",
            x_std=_std(point, point.interactivity_std_tok_s_user) if x is _speed else None,
            y_std=_std(point, point.throughput_std_tok_s_gpu) if y is _throughput else None,
            words=wording.point_words(point) if with_words else "",
        )
        for n, point in enumerate(page.points)
        if point.role in ("frontier", "off_frontier")
        and (x_value := x(point)) is not None
        and (y_value := y(point)) is not None
        and x_value > 0
        and y_value > 0
    )


def _std(point: PointRecord, std: float | None) -> float | None:
    return std if std and (point.n_repeats or 0) > 1 else None


def _speed(point: PointRecord) -> float | None:
    return point.interactivity_tok_s_user


def _throughput(point: PointRecord) -> float | None:
    return point.throughput_tok_s_gpu


def _latency(page: Page, name: str) -> Read:
    def read(point: PointRecord) -> float | None:
        latency: Latency = getattr(point.latency, name)
        return latency_at(latency, page.workload.percentile)

    return read


def _priced(line: Iterable[tuple[float, float]], rate: float) -> Iterable[tuple[float, float]]:
    return ((x, usd) for x, y in line if (usd := usd_per_mtok(rate, y)) is not None)


def _knots(page: Page, place: int) -> list[FrontierPoint]:
    return [knot for knot in page.frontier if knot.series == page.series[place].label]


def _positions(marks: Iterable[Mark]) -> list[tuple[float, float]]:
    return [(mark.x, mark.y) for mark in marks]


def _places(marks: Iterable[Mark]) -> list[int]:
    return sorted({mark.series for mark in marks})


def _joined(marks: Sequence[Mark]) -> tuple[Line, ...]:
    """Straight lines through the frontier points of every series."""
    known = [mark for mark in marks if not mark.faint]
    return tuple(Line(n, tuple(sorted(_positions(mark for mark in known if mark.series == n)))) for n in _places(known))


def _guides(page: Page, fastest: float) -> tuple[tuple[float, str], ...]:
    targets = [row.target_tok_s_user for row in page.ladder if row.target_tok_s_user <= GUIDE_MARGIN * fastest]
    reach = max(fastest, *targets) if targets else fastest
    guides: list[tuple[float, str]] = []
    last = -1.0
    for target in targets:
        shown = (target - last) / reach >= GUIDE_GAP
        last = target if shown else last
        guides.append((target, formats.speed(target) if shown else ""))
    return tuple(guides)
