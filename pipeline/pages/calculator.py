"""The calculator of a page: the numbers that it computes from, and its answers in words.

The same words come out of the browser (templates/calculator.js) and of `frontier cost`; a test holds them together.
Arithmetic is pipeline/cost's.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.cost.frontier_reading import FrontierCurve, FrontierReading, Knot, read_at
from pipeline.cost.what_if import Answer, Costs, Fleet, Question, Weights, answer, costs_of
from pipeline.errors import PriceError
from pipeline.pages import formats
from pipeline.pages.basis import target
from pipeline.pages.curve_record import FrontierPoint, Series
from pipeline.pages.page import Page
from pipeline.pages.point_record import PointRecord
from pipeline.registry.shipped import shipped_registry

W_PER_KW = 1_000
NOT_REACHED = "No configuration here is that fast."
NOT_SAID = "not known: the source does not say how the tokens divide"

Line = tuple[str, str]


@dataclass(frozen=True)
class PricedTier:
    """One price of the page that a reader can pick."""

    tier: str
    name: str
    usd_per_gpu_hour: float


@dataclass(frozen=True)
class CalculatorData:
    """Everything that the browser computes from: it lies in the page, so that no answer needs a request."""

    curves: tuple[FrontierCurve, ...]
    tiers: tuple[PricedTier, ...]
    targets_tok_s_user: tuple[float, ...]
    primary_tok_s_user: float
    all_in_w_gpu: float | None


def calculator_data(page: Page) -> CalculatorData:
    """The knots of every series with what their points say, and the prices of the page."""
    gpu = shipped_registry().gpus.get(page.gpu.slug)
    return CalculatorData(
        curves=page_curves(page),
        tiers=tuple(PricedTier(cost.tier, cost.name, cost.usd_per_gpu_hour) for cost in page.costs),
        targets_tok_s_user=tuple(row.target_tok_s_user for row in page.ladder),
        primary_tok_s_user=page.headline.target_tok_s_user,
        all_in_w_gpu=gpu.all_in_kw * W_PER_KW if gpu and gpu.all_in_kw is not None else None,
    )


def rate_of(data: CalculatorData, tier: str, where: str) -> float:
    """USD per GPU-hour of a tier of the page, of its first one where none is named. Raises PriceError."""
    rates = {priced.tier: priced.usd_per_gpu_hour for priced in data.tiers}
    if tier in rates or (not tier and rates):
        return rates[tier or data.tiers[0].tier]
    raise PriceError(
        f"no price of the tier {tier!r}" if tier else "no price",
        where=where,
        expected=formats.listed(list(rates)) or "a price",
        next_step="Name your own: --usd 1.50.",
    )


def calculator_json(data: CalculatorData) -> str:
    """The data as compact JSON text. Raises ValueError for NaN or an infinity."""
    return json.dumps(dataclasses.asdict(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def page_curves(page: Page) -> tuple[FrontierCurve, ...]:
    """The page's series as curves to read; of equal throughputs the freshest run comes first, as on the ladder."""
    points = {point.point_id: point for point in page.points}
    by_key = sorted(page.series, key=lambda series: series.curve_id)
    ordered = sorted(by_key, key=lambda series: series.run_date, reverse=True)
    return tuple(FrontierCurve(series.label, _knots(page, series, points)) for series in ordered)


def _knots(page: Page, series: Series, points: dict[str, PointRecord]) -> tuple[Knot, ...]:
    return tuple(_knot(knot, points[knot.point_id]) for knot in page.frontier if knot.series == series.label)


def _knot(knot: FrontierPoint, point: PointRecord) -> Knot:
    y = knot.throughput_tok_s_gpu
    output, computed = point.output_throughput_tok_s_gpu, point.computed_input_throughput_tok_s_gpu
    return Knot(
        speed_tok_s_user=knot.interactivity_tok_s_user,
        throughput_tok_s_gpu=y,
        slope=knot.slope,
        output_share=None if output is None else output / y,
        computed_input_share=None if computed is None else computed / y,
        n_gpus=point.n_gpus,
        power_w_gpu=point.power_w_gpu,
    )


def answer_lines(data: CalculatorData, question: Question) -> list[Line]:
    """The answer as terms and texts: throughput, costs, break-even prices, and what was asked beyond them."""
    found = answer(data.curves, question)
    lines = [*_reading_lines(found, question.weights), *_cap_lines(found, question)]
    if found.fleet and found.reading:
        lines.append((f"For {formats.throughput(question.load_tok_s or 0)} total tokens/s", _fleet_words(found)))
    return lines


def _reading_lines(found: Answer, weights: Weights) -> Iterator[Line]:
    reading, costs = found.reading, found.costs
    if reading is None or costs is None:
        yield "Throughput", NOT_REACHED
        return
    yield "Throughput", f"{_amount(reading)} tokens/s per GPU ({_basis(reading)}), {reading.series}"
    for kind in dataclasses.fields(Costs):
        words = "total" if kind.name == "total" else kind.name.replace("_", " ") + " only"
        yield f"Cost per 1M tokens, {words}", _dollars(reading, getattr(costs, kind.name))
    yield "Break-even price per 1M", _break_even(found, weights)


def _break_even(found: Answer, weights: Weights) -> str:
    prices, reading = found.break_even, found.reading
    if reading is None or prices is None:
        return NOT_SAID
    return (
        f"computed input {_dollars(reading, prices.computed_input)}, cached input "
        f"{_dollars(reading, prices.cached_input)}, output {_dollars(reading, prices.output)} "
        f"(weights {' : '.join(_weight(value) for value in vars(weights).values())})"
    )


def _weight(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _cap_lines(found: Answer, question: Question) -> Iterator[Line]:
    cap, reading, usd = question.cap_usd_mtok, found.under_cap, found.under_cap_usd_mtok
    if cap is None or cap <= 0:
        return
    term = f"Highest speed at {formats.usd_mtok(cap)} or less per 1M total tokens"
    if reading is None or usd is None:
        yield term, "none: every configuration here costs more"
        return
    about = "an estimated " if reading.basis == "interpolated" else ""
    speed = formats.throughput_at_least(reading.speed_tok_s_user).removesuffix(".0")
    yield term, f"{about}{speed} tokens/s per user, at {formats.usd_mtok(usd)}, {reading.series}"


def _fleet_words(found: Answer) -> str:
    reading, fleet = found.reading, found.fleet
    if reading is None or fleet is None:
        return ""
    most = "at most " if reading.basis == "faster_config" else ""
    whole = f" ({formats.counted(fleet.n_deployments, 'deployment')})" if fleet.n_deployments is not None else ""
    return (
        f"{most}{formats.counted(fleet.n_gpus, 'GPU')}{whole}, {formats.usd_gpu_hour(fleet.usd_per_hour)} per hour, "
        f"{formats.usd_mtok(fleet.usd_mtok)} per 1M total tokens; {_power(fleet)}"
    )


def _power(fleet: Fleet) -> str:
    if fleet.power_w is None:
        return "power not known"
    what = "measured at the device" if fleet.power_basis == "measured" else "host, network and cooling included"
    return f"{fleet.power_w / W_PER_KW:,.1f} kW ({what})"


def ladder_lines(data: CalculatorData, usd_per_gpu_hour: float) -> list[tuple[str, str, str]]:
    """(target, throughput, cost per million total tokens) of every target of the page at one price."""
    lines = []
    for speed in data.targets_tok_s_user:
        reading = read_at(data.curves, speed)
        if reading is None:
            lines.append((formats.speed(speed), "–", "–"))
        else:
            costs = costs_of(reading, usd_per_gpu_hour)
            lines.append((formats.speed(speed), _amount(reading), _dollars(reading, costs.total)))
    return lines


def _amount(reading: FrontierReading) -> str:
    value = reading.throughput_tok_s_gpu
    if reading.basis == "faster_config":
        return f"at least {formats.throughput_at_least(value)}"
    return f"an estimated {formats.throughput(value)}" if reading.basis == "interpolated" else formats.throughput(value)


def _dollars(reading: FrontierReading, usd: float | None) -> str:
    if usd is None:
        return NOT_SAID
    if reading.basis == "faster_config":
        return f"at most {formats.usd_mtok_at_most(usd)}"
    return formats.usd_mtok(usd)


def _basis(reading: FrontierReading) -> str:
    if reading.basis == "interpolated":
        return "interpolated between two points"
    if reading.basis == "faster_config":
        return f"a faster configuration serves it, at {target(reading.delivered_tok_s_user)}"
    return "a point of the frontier"
