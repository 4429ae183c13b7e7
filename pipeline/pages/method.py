"""How the points of a page came about: terms and texts of the section "How it was measured"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipeline.pages import formats, wording
from pipeline.pages.page import Page
from pipeline.pages.point_record import PointRecord
from pipeline.pages.runs import run_facts

NOT_SAID = "not recorded"
N_LISTED = 6


@dataclass(frozen=True)
class Fact:
    """One term and what the data says about it."""

    term: str
    text: str


def method_facts(page: Page) -> tuple[Fact, ...]:
    """What a reader needs to judge the numbers. Of valid points in use; of all points where none is valid."""
    points = used_points(page)
    return (
        Fact("Workload", f"{page.workload.name}: {page.workload.description}"),
        Fact("Percentile", f"p{page.workload.percentile}. {wording.per_user_speed(page)}"),
        Fact("Window", _distinct(points, lambda p: wording.WINDOWS.get(p.window or "", p.window))),
        Fact("Requests", _requests(points)),
        Fact("Repeats", _repeats(points)),
        Fact("Load client's own error", _client_error(points)),
        Fact("Engine builds", _distinct(points, _build)),
        Fact("Topologies", _distinct(points, lambda p: p.topology)),
        Fact("GPUs held", _distinct(points, lambda p: str(p.n_gpus) if p.n_gpus else None)),
        Fact("Speculative decoding", _distinct(points, _speculation)),
        Fact("KV cache offload", _distinct(points, lambda p: p.kv_offload)),
        Fact("Device", _distinct(points, lambda p: p.device_name)),
        Fact("Power", _power(points)),
        *([Fact("Declared by a person, not recorded", _declared(points))] if any(p.declared for p in points) else []),
        Fact("Clock and temperature", _clock(points)),
        *(Fact(term, text) for term, text in run_facts(page.runs)),
    )


def used_points(page: Page) -> list[PointRecord]:
    """The points that the numbers of the page come from."""
    used = [point for point in page.points if point.role in ("frontier", "off_frontier")]
    return used or [point for point in page.points if point.role == "invalid"] or list(page.points)


def _distinct(points: Iterable[PointRecord], of: Callable[[PointRecord], str | None]) -> str:
    values = [of(point) for point in points]
    said = sorted({value for value in values if value})
    if not said:
        return NOT_SAID
    more = f" and {len(said) - N_LISTED} more, in the points table" if len(said) > N_LISTED else ""
    return ", ".join(said[:N_LISTED]) + more + (f"; {NOT_SAID} for some points" if None in values else "")


def _declared(points: Iterable[PointRecord]) -> str:
    return ", ".join(sorted({column for point in points for column in point.declared}))


def _build(point: PointRecord) -> str | None:
    return f"{point.engine_name} {point.engine_build}" if point.engine_build else None


def _speculation(point: PointRecord) -> str | None:
    if point.spec_method is None or point.spec_accept_len_tok is None:
        return point.spec_method
    return f"{point.spec_method} ({point.spec_accept_len_tok:.2f} tokens accepted per step)"


def _requests(points: list[PointRecord]) -> str:
    known = [p for p in points if p.n_requested is not None and p.n_failed is not None]
    if not known:
        return NOT_SAID
    requested, failed = sum(p.n_requested or 0 for p in known), sum(p.n_failed or 0 for p in known)
    warmup = [p.n_warmup for p in known if p.n_warmup is not None]
    text = f"{formats.counted(requested, 'request')}, {failed:,} failed"
    return f"{text}; {sum(warmup):,} warm-up requests excluded" if warmup else f"{text}; warm-up {NOT_SAID}"


def _repeats(points: list[PointRecord]) -> str:
    counts = sorted({p.n_repeats for p in points if p.n_repeats})
    if not counts:
        return f"{NOT_SAID}; no spread is known"
    if counts == [1]:
        return "one run per point: no spread is known"
    return f"mean of {formats.listed([str(n) for n in counts])} repeats{_spread(points)}"


def _spread(points: list[PointRecord]) -> str:
    """How far the throughput of the repeats spreads, as a share of it."""
    shares = [
        p.throughput_std_tok_s_gpu / p.throughput_tok_s_gpu
        for p in points
        if p.throughput_std_tok_s_gpu is not None and p.throughput_tok_s_gpu
    ]
    if not shares:
        return "; no spread is known"
    return f"; their standard deviation is at most ± {formats.percent(max(shares))} of the throughput, point by point"


def _client_error(points: list[PointRecord]) -> str:
    shares = [p.client_error_share for p in points if p.client_error_share is not None]
    if not shares:
        return "not measured"
    return f"at most {formats.percent(max(shares))} of the time per output token"


def _power(points: list[PointRecord]) -> str:
    watts = _range([p.power_w_gpu for p in points], "W")
    joules = [p.energy_j_output_tok for p in points if p.energy_j_output_tok is not None]
    if watts is None:
        return NOT_SAID
    energy = f"; {min(joules):.3g} J to {max(joules):.3g} J per output token" if joules else ""
    return f"{watts} per GPU{energy}"


def _clock(points: list[PointRecord]) -> str:
    clocks = _range([p.clock_mhz for p in points], "MHz")
    heats = [p.temperature_max_c for p in points if p.temperature_max_c is not None]
    said = [*([f"{clocks} on average"] if clocks else []), *([f"at most {max(heats):.0f} °C"] if heats else [])]
    return "; ".join(said) or NOT_SAID


def _range(values: Iterable[float | None], unit: str) -> str | None:
    known = [value for value in values if value is not None]
    return f"{min(known):,.0f} {unit} to {max(known):,.0f} {unit}" if known else None
