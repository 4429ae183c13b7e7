"""The reference pages' text from our data, for comparison: their sentences, formats and reading, defects included.

Reading: at_target. Two defects of theirs are kept on purpose, because the text is a comparison: seconds are printed
as ms, and a row without a value names the engine of the next faster target that has one. Ours is run_page.py's.
"""

from __future__ import annotations

from pipeline.pages import formats
from pipeline.pages.highlights import in_use
from pipeline.pages.page import AtTarget, LadderRow, Page
from pipeline.pages.records import latency_at

DATE_SEPARATOR = " → "
NOTHING = "-"


def render_reference_text(page: Page) -> str:
    """One page as the reference prints it, without a newline at the end.."""
    sections = (_title, _quick_answer, _facts, _ladder, _tiers, _faq)
    return "\n".join(line for section in sections for line in section(page))


def _title(page: Page) -> list[str]:
    return [f"Running {page.model.name} on {page.gpu.name}", "Quick answer"]


def _primary(page: Page) -> AtTarget:
    target = page.headline.target_tok_s_user
    return next(row.at_target for row in page.ladder if row.target_tok_s_user == target)


def _throughput(value_tok_s_gpu: float | None) -> str:
    return NOTHING if value_tok_s_gpu is None else formats.throughput(value_tok_s_gpu)


def _usd(reading: AtTarget, tier: str) -> str:
    value = (reading.cost_usd_mtok or {}).get(tier)
    return NOTHING if value is None else formats.usd_mtok_reference(value)


def _engine(page: Page, slug: str | None) -> str:
    return next((engine.name for engine in page.engines if engine.slug == slug), NOTHING)


def _first_tier(page: Page) -> str:
    return page.costs[0].tier if page.costs else ""


def _quick_answer(page: Page) -> list[str]:
    reading = _primary(page)
    ttft_s, tpot_s = _minimum_s(page, "ttft"), _minimum_s(page, "tpot")
    return [
        f"{page.model.name} sustains {_throughput(reading.throughput_tok_s_gpu)} tokens/s per GPU on {page.gpu.name} "
        f"at {formats.speed(page.headline.target_tok_s_user)} tokens/s per user, which works out to "
        f"{_usd(reading, _first_tier(page))} per million tokens at hyperscaler pricing, served by "
        f"{_engine(page, reading.engine)}. Fastest measured TTFT: {ttft_s} ms; fastest TPOT: {tpot_s} ms "
        "(each the best across all configs, not one run)."
    ]


def _minimum_s(page: Page, latency: str) -> str:
    """The lowest latency in s, 1 decimal, of any point: two minima, not one point."""
    found = [latency_at(getattr(point.latency, latency), page.workload.percentile) for point in in_use(page.points)]
    known = [value for value in found if value is not None]
    return f"{min(known):.1f}" if known else NOTHING


def _facts(page: Page) -> list[str]:
    first, last = page.run_dates.first.isoformat(), page.run_dates.last.isoformat()
    return [
        "Benchmarked configs",
        str(page.counts.n_points),
        "Serving engines",
        _engines(page),
        "Precisions",
        ", ".join(page.precisions),
        "Run dates",
        f"{first}{DATE_SEPARATOR}{last}",
    ]


def _engines(page: Page) -> str:
    return ", ".join(engine.name for engine in page.engines)


def _ladder(page: Page) -> list[str]:
    return [
        "Throughput at every interactivity target",
        "Serving is a trade-off: push more concurrent users through a GPU and each user's tokens arrive slower. The "
        "ladder below reads the measured frontier at each per-user speed target on the "
        f"{page.workload.name} workload, using the best engine and precision at that point.",
        "| Per-user target | Tokens/s per GPU | $ / 1M tokens | Engine | Precision |",
        "|---|---|---|---|---|",
        *(_ladder_line(page, n, row) for n, row in enumerate(page.ladder)),
    ]


def _ladder_line(page: Page, n: int, row: LadderRow) -> str:
    reading = row.at_target
    named = next((r.at_target for r in page.ladder[n:] if r.at_target.engine is not None), reading)
    cells = (
        f"{formats.speed(row.target_tok_s_user)} tok/s",
        _throughput(reading.throughput_tok_s_gpu),
        _usd(reading, _first_tier(page)),
        _engine(page, named.engine),
        named.precision or NOTHING,
    )
    return f"| {' | '.join(cells)} |"


def _tiers(page: Page) -> list[str]:
    reading, target = _primary(page), formats.speed(page.headline.target_tok_s_user)
    rows = [
        f"| {cost.name} | {formats.usd_gpu_hour(cost.usd_per_gpu_hour)} | {_usd(reading, cost.tier)} |"
        for cost in page.costs
    ]
    return [
        "What serving actually costs",
        f"Converting the {target} tokens/s per user operating point to $ per million total tokens across rental "
        "pricing tiers from the SemiAnalysis AI Cloud TCO model.",
        "| Pricing tier | $ / GPU / hr | $ / 1M tokens |",
        "|---|---|---|",
        *rows,
    ]


def _faq(page: Page) -> list[str]:
    pair, target = f"{page.model.name} on {page.gpu.name}", formats.speed(page.headline.target_tok_s_user)
    return [
        "Frequently asked questions",
        f"- How fast is {pair}?",
        _how_fast(page, target),
        f"- How much does it cost to serve {pair}?",
        f"- {_usd(_primary(page), _first_tier(page))} per million total tokens at large-hyperscaler-volume ownership "
        f"$/GPU/hr pricing, at {target} tokens/s per user. The retail rental tier is tabulated above; slower "
        "interactivity targets lower the cost further.",
        f"- Which serving engines run {pair}?",
        f"- The runs behind this page used {_engines(page)} in {', '.join(page.precisions).upper()}. Engines are "
        "rebuilt and re-benchmarked continuously, so the best config can change between visits.",
        f"- How are these {page.model.name} numbers measured?",
        f"- Every number is measured on real {page.gpu.name} hardware by the InferenceX fleet, sweeping concurrency on "
        f"the {page.workload.name} workload to trace the throughput-versus-interactivity frontier; the newest run "
        f"landed on {page.run_dates.last.isoformat()}. The same derivation powers the InferenceX overview leaderboard.",
    ]


def _how_fast(page: Page, target: str) -> str:
    reading = _primary(page)
    return (
        f"- At an interactivity target of {target} tokens/s per user on the {page.workload.name} workload, "
        f"{page.gpu.name} sustains {_throughput(reading.throughput_tok_s_gpu)} tokens/s per GPU serving "
        f"{page.model.name} with {_engine(page, reading.engine)} in {(reading.precision or NOTHING).upper()}. Peak "
        f"measured throughput across all configs is {_throughput(page.peak.throughput_tok_s_gpu)} tokens/s per GPU."
    )
