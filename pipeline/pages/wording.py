"""The sentences of a page's head: title, banner, quick answer, chart. Readings are basis.py's, answers faq.py's.

Every sentence says only what the data of its page shows: a bound is called a bound, an estimate an estimate,
and what is not known is named as not known. Number formats are formats.py's.
"""

from __future__ import annotations

from pipeline.pages import formats
from pipeline.pages.basis import amount, basis_clause, point_noun, price, target
from pipeline.pages.curve_record import Series
from pipeline.pages.page import Page, Provenance, Question, TierCost
from pipeline.pages.point_record import PointRecord

_OPENING = {"measured": "", "imported": "In imported results, ", "simulated": "In simulation, "}

ROLE_WORD = {
    "frontier": "on the frontier",
    "off_frontier": "not on the frontier",
    "superseded": "superseded",
    "invalid": "invalid",
}

BANNERS = {
    "measured": None,
    "imported": "Imported: numbers taken over from result files or pages; not measured by this pipeline.",
    "simulated": "Simulated: numbers computed by a simulator; no hardware served a request.",
}


def title(model: str, gpu: str, provenance: Provenance) -> str:
    """Running {model} on {gpu}, with the provenance where it is not measured."""
    text = f"Running {model} on {gpu}"
    return text if provenance == "measured" else f"{text} ({provenance})"


def banner(provenance: Provenance) -> str | None:
    """What imported and simulated data is; None for measured data."""
    return BANNERS[provenance]


def section_title(page: Page) -> str:
    """What sets a section apart from the others of its run page; of a measured one, the devices' own names."""
    devices = sorted({point.device_name for point in page.points if point.device_name})
    where = f" on {formats.listed(devices)}" if page.provenance == "measured" and devices else ""
    return f"{page.workload.name} workload, {page.provenance}{where}"


def engine_of(page: Page, slug: str | None) -> str:
    """The engine's name; "an unknown engine" without one."""
    names = {engine.slug: engine.name for engine in page.engines}
    return names.get(slug, slug) if slug else "an unknown engine"


def tier_of(page: Page, slug: str) -> TierCost:
    """The price row of a tier of the page."""
    return next(cost for cost in page.costs if cost.tier == slug)


def checkpoint(precision: str | None) -> str:
    """The format of the checkpoint's weights: "an fp4 checkpoint"."""
    if precision is None:
        return "a checkpoint of unsaid number format"
    article = "an" if precision[0] in "aeiou" or precision.startswith(("f", "mx", "nv")) else "a"
    return f"{article} {precision} checkpoint"


def quick_answer(page: Page) -> str:
    """The headline: throughput at the primary target, what it counts, its cost and its engine."""
    head = page.headline
    if head.throughput_tok_s_gpu is None:
        return _no_headline(page)
    return (
        f"{_OPENING[page.provenance]}{page.model.name} sustains {amount(head)} tokens/s per GPU on {page.gpu.name} at "
        f"{target(head.target_tok_s_user)} ({basis_clause(page)}){_cost_clause(page)}, "
        f"served by {engine_of(page, head.engine)} from {checkpoint(head.precision)}."
    )


def _cost_clause(page: Page) -> str:
    head = page.headline
    if head.cost_usd_mtok is None or head.price_tier is None:
        return ""
    tier = tier_of(page, head.price_tier)
    rate = formats.usd_gpu_hour(tier.usd_per_gpu_hour)
    return (
        f", which works out to {price(head, head.cost_usd_mtok)} per million total tokens at the price tier "
        f"“{tier.name}” ({rate} per GPU-hour)"
    )


def _no_headline(page: Page) -> str:
    peak = page.peak
    pair = f"{page.model.name} on {page.gpu.name}"
    if peak.throughput_tok_s_gpu is None:
        n = formats.counted(page.counts.n_points, "point")
        return f"There is no valid point of {pair}: {n} recorded, each with the reason why it does not count."
    fastest = max(page.frontier, key=lambda knot: knot.interactivity_tok_s_user)
    opening = _OPENING[page.provenance]
    return (
        f"{opening}{'no' if opening else 'No'} configuration of {pair} reaches "
        f"{target(page.headline.target_tok_s_user)}: the fastest delivers "
        f"{formats.speed(fastest.interactivity_tok_s_user)}, at "
        f"{formats.throughput(fastest.throughput_tok_s_gpu)} tokens/s per GPU."
    )


def what_counts(page: Page) -> str:
    """What a token is in the page's throughput, and how many of them are output."""
    head = page.headline
    text = "Total tokens are input and output tokens together, input served from the prefix cache included"
    if head.throughput_tok_s_gpu is None:
        return f"{text}."
    if head.output_share is None:
        return f"{text}; how many of them are output is not known, because the source does not say."
    cached = f", and {formats.percent(head.cache_hit_share)} of the input" if head.cache_hit_share is not None else ""
    cached += " came from the prefix cache" if cached else ""
    return f"{text}; output is {formats.percent(head.output_share)} of them{cached}."


def per_user_speed(page: Page) -> str:
    """What the speed per user means at the workload's percentile."""
    p = page.workload.percentile
    return (
        f"Tokens/s per user is 1 / p{p} of the time per output token: "
        f"{'half' if p == 50 else f'{p}%'} of the requests are at least that fast."
    )


def peak_sentence(page: Page) -> str | None:
    """The highest throughput with the speed of that point; None without a valid point."""
    peak = page.peak
    if peak.throughput_tok_s_gpu is None or peak.interactivity_tok_s_user is None:
        return None
    return (
        f"Peak throughput is {formats.throughput(peak.throughput_tok_s_gpu)} tokens/s per GPU, "
        f"at {target(peak.interactivity_tok_s_user)}."
    )


def fastest_sentence(page: Page) -> str | None:
    """Both latencies of the point with the lowest TTFT; None where no point has one."""
    fastest = page.fastest
    if fastest.ttft_s is None:
        return None
    p = fastest.percentile
    tpot = "its time per output token was not recorded"
    if fastest.tpot_s is not None:
        tpot = f"the p{p} time per output token of the same point is {formats.latency(fastest.tpot_s)}"
    return f"The lowest p{p} time to first token is {formats.latency(fastest.ttft_s)}; {tpot}."


def format_notes(page: Page) -> tuple[str, ...]:
    """One sentence for every checkpoint format that the GPU's hardware does not compute in."""
    return tuple(
        f"{precision} is the number format of the checkpoint's weights: {page.gpu.name} has no {precision} "
        f"arithmetic and computes in another format."
        for precision in page.precisions
        if precision not in page.gpu.formats
    )


def published_reading_note(page: Page) -> str | None:
    """What a value read off a published ladder is; None where the page has no such point."""
    n = sum(point.published_reading for point in page.points)
    if not n:
        return None
    what = "1 point is a value read off a published ladder, not a raw point"
    if n > 1:
        what = f"{n:,} points are values read off a published ladder, not raw points"
    return f"{what}: concurrency, topology and requests are not known."


def chart_caption(page: Page) -> str:
    """How to read the chart."""
    noun = point_noun(page, [knot.point_id for knot in page.frontier])
    faint = any(point.role == "off_frontier" for point in page.points)
    small = " Small faint marks are valid points off their series’ frontier." if faint else ""
    return f"Marks are {noun}s; the lines between them are estimates.{small} Dotted rules are the speed targets."


def chart_alternative(page: Page) -> str:
    """The chart in words."""
    if not page.frontier:
        return "No valid point to draw."
    lines = [_line_words(page, series) for series in page.series]
    return f"{formats.counted(len(lines), 'series')}; throughput falls as the speed rises. {' '.join(lines)}"


def _line_words(page: Page, series: Series) -> str:
    knots = [knot for knot in page.frontier if knot.series == series.label]
    slow, fast = knots[0], knots[-1]
    where = f"{series.label}, run {series.run_date.isoformat()}:"
    first = (
        f"{formats.throughput(slow.throughput_tok_s_gpu)} tokens/s per GPU at {target(slow.interactivity_tok_s_user)}"
    )
    if len(knots) == 1:
        return f"{where} {first} (one point)."
    return (
        f"{where} {first}, down to {formats.throughput(fast.throughput_tok_s_gpu)} at "
        f"{formats.speed(fast.interactivity_tok_s_user)} ({len(knots)} points)."
    )


def lower_cost_at_slower(page: Page) -> str | None:
    """Whether a slower target lowers the cost; None where the page cannot say."""
    head = page.headline
    slower = [row.at_least for row in page.ladder if row.target_tok_s_user < head.target_tok_s_user]
    costs = [(r.cost_usd_mtok or {}).get(head.price_tier or "") for r in slower]
    known = [cost for cost in costs if cost is not None]
    if head.cost_usd_mtok is None or not known:
        return None
    if min(known) < head.cost_usd_mtok * (1 - 1e-9):
        return "Slower targets lower the cost further."
    return "Slower targets do not lower the cost: no configuration here serves more tokens at a lower speed."


def question(text: str, answer: list[str | None]) -> Question:
    """A question with the sentences of its answer that exist."""
    return Question(question=text, answer=" ".join(sentence for sentence in answer if sentence))


def repeats_words(point: PointRecord) -> str:
    """How often a point was run and how far its throughput spread."""
    if point.n_repeats is None:
        return "repeats not said; spread unknown"
    if point.n_repeats < 2 or point.throughput_std_tok_s_gpu is None:
        return f"{formats.counted(point.n_repeats, 'run')}; spread unknown"
    return f"mean of {point.n_repeats} runs, ± {formats.throughput(point.throughput_std_tok_s_gpu)} tokens/s per GPU"


WINDOWS = {"whole_run": "the whole run", "steady_state": "steady state, while the target concurrency was held"}


def window_words(point: PointRecord) -> str:
    """The measured window, its length, and how many requests it holds."""
    words = [WINDOWS.get(point.window or "", point.window or "window not said")]
    words += [formats.latency(point.window_s)] if point.window_s is not None else []
    if point.n_successful is not None:
        failed = f", {point.n_failed:,} failed" if point.n_failed else ""
        words.append(f"{formats.counted(point.n_successful, 'request')} ok{failed}")
    return ", ".join(words)


def point_words(point: PointRecord) -> str:
    """One point of the chart in words: its numbers and its configuration."""
    speed, tokens = point.interactivity_tok_s_user, point.throughput_tok_s_gpu
    words = [
        point.series,
        f"{formats.throughput(tokens)} tokens/s per GPU" if tokens is not None else "",
        f"{target(speed)}" if speed is not None else "",
        f"topology {point.topology}" if point.topology else "",
        f"concurrency {point.concurrency:,}" if point.concurrency is not None else "",
        f"speculation {point.spec_method}" if point.spec_method else "",
        f"build {point.engine_build}" if point.engine_build else "",
        "published reading, not a raw point" if point.published_reading else "",
        f"run {point.run_date.isoformat()}",
    ]
    return ", ".join(word for word in words if word)
