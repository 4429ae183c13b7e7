"""The measured window of a point: the whole run, or its steady state. Spans in, seconds and tokens out.

Belongs here: which stretch of time a number is over. Not here: latency statistics (summary.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.units import seconds_from_ns


@dataclass(frozen=True)
class Span:
    """One request: when it was in flight, and the tokens that it moved (0 unless it succeeded)."""

    start_ns: int
    end_ns: int
    total_tok: int = 0


@dataclass(frozen=True)
class Window:
    """A stretch of the run, from ``start_ns`` to ``end_ns``."""

    start_ns: int
    end_ns: int

    @property
    def length_s(self) -> float:
        """Length in seconds."""
        return seconds_from_ns(self.end_ns - self.start_ns)


def whole_run(spans: Sequence[Span]) -> Window | None:
    """From the earliest request start to the latest request end. None without requests or without length."""
    if not spans:
        return None
    return _window(min(s.start_ns for s in spans), max(s.end_ns for s in spans))


def steady_state(spans: Sequence[Span], target_concurrency: int) -> Window | None:
    """From the moment the target concurrency is first reached until it is last held.

    None where fewer than the target were ever in flight at once. At one instant ends count before starts: a lane
    that sends its next request the moment the last one ends never holds two.
    """
    reached_ns = held_ns = None
    in_flight = 0
    for instant_ns, step in _steps(spans):
        if in_flight >= target_concurrency:
            held_ns = instant_ns
        in_flight += step
        if in_flight >= target_concurrency and reached_ns is None:
            reached_ns = instant_ns
    if reached_ns is None or held_ns is None:
        return None
    return _window(reached_ns, held_ns)


def achieved_concurrency(spans: Sequence[Span], window: Window) -> float:
    """Mean requests in flight = seconds of requests inside the window / window seconds. 0 without requests."""
    inside_ns = sum(_overlap_ns(span, window) for span in spans)
    return seconds_from_ns(inside_ns) / window.length_s


def held_share(spans: Sequence[Span], target_concurrency: int) -> float | None:
    """Mean requests in flight / target while the client was still sending. None without requests.

    From the first start to the last one, or to where the target was last held, if that is later: the end of a run,
    where nothing is sent any more, says nothing about the load. 0 where all started at once and below the target.
    """
    if not spans:
        return None
    steady = steady_state(spans, target_concurrency)
    until_ns = max([s.start_ns for s in spans] + ([steady.end_ns] if steady else []))
    sending = _window(min(s.start_ns for s in spans), until_ns)
    return achieved_concurrency(spans, sending) / target_concurrency if sending else 0.0


def throughput_tok_s(spans: Iterable[Span], window: Window) -> float:
    """Tokens per second of the requests that overlap the window.

    A request that crosses the border counts with the share of its time that lies inside, so that neither border
    makes tokens.
    """
    tokens = sum(span.total_tok * _share_inside(span, window) for span in spans)
    return tokens / window.length_s


def _window(start_ns: int, end_ns: int) -> Window | None:
    return Window(start_ns, end_ns) if end_ns > start_ns else None


def _steps(spans: Iterable[Span]) -> list[tuple[int, int]]:
    starts = [(span.start_ns, 1) for span in spans if span.end_ns > span.start_ns]
    ends = [(span.end_ns, -1) for span in spans if span.end_ns > span.start_ns]
    return sorted(starts + ends)


def _overlap_ns(span: Span, window: Window) -> int:
    return max(0, min(span.end_ns, window.end_ns) - max(span.start_ns, window.start_ns))


def _share_inside(span: Span, window: Window) -> float:
    if span.end_ns <= span.start_ns:
        return 1.0 if window.start_ns <= span.start_ns <= window.end_ns else 0.0
    return _overlap_ns(span, window) / (span.end_ns - span.start_ns)
