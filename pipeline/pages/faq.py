"""Questions and answers of a page, plain text. The same facts as the page above them, in sentences."""

from __future__ import annotations

from pipeline.pages import basis, formats, wording
from pipeline.pages.page import Page, Question

_SOURCE = {
    "measured": "Every point is measured on {gpu} hardware",
    "imported": "Every point is taken over from result files or published pages and was not measured by this pipeline",
    "simulated": "Every point is computed by a simulator; no {gpu} served a request",
}


def faq(page: Page) -> tuple[Question, ...]:
    """The questions that the page can answer, in reading order."""
    questions = [_how_fast(page), _how_much(page), _which_engines(page), _how_measured(page), _what_counts(page)]
    questions += [_formats(page)] if wording.format_notes(page) else []
    questions += [_unreachable(page)] if _missing_targets(page) else []
    return tuple(questions)


def _pair(page: Page) -> str:
    return f"{page.model.name} on {page.gpu.name}"


def _how_fast(page: Page) -> Question:
    head = page.headline
    answer = [wording.quick_answer(page)]
    if head.throughput_tok_s_gpu is not None:
        answer = [
            f"At {basis.target(head.target_tok_s_user)} on the {page.workload.name} workload, {page.gpu.name} "
            f"sustains {basis.amount(head)} tokens/s per GPU serving {page.model.name} with "
            f"{wording.engine_of(page, head.engine)} from {wording.checkpoint(head.precision)}: "
            f"{basis.basis_words(head, page)}."
        ]
    return wording.question(f"How fast is {_pair(page)}?", [*answer, wording.peak_sentence(page)])


def _how_much(page: Page) -> Question:
    head = page.headline
    answer: list[str | None] = [_no_cost(page)]
    if head.cost_usd_mtok is not None and head.price_tier is not None:
        tier = wording.tier_of(page, head.price_tier)
        answer = [
            f"{formats.capitalized(basis.price(head, head.cost_usd_mtok))} per million total tokens at "
            f"{basis.target(head.target_tok_s_user)}, at the price tier “{tier.name}” "
            f"({formats.usd_gpu_hour(tier.usd_per_gpu_hour)} per GPU-hour, valid from {tier.valid_from.isoformat()}).",
            _output_cost(page),
            wording.lower_cost_at_slower(page),
        ]
    return wording.question(f"How much does it cost to serve {_pair(page)}?", answer)


def _no_cost(page: Page) -> str:
    return f"There is no cost to state. {page.headline.reason or page.headline.cost_reason}"


def _output_cost(page: Page) -> str:
    head = page.headline
    if head.cost_usd_mtok_output is None:
        return "The cost per output token is not known: the source does not say how many tokens were output."
    cost = basis.price(head, head.cost_usd_mtok_output)
    return f"The same dollars divided by the output tokens alone are {cost} per million output tokens."


def _which_engines(page: Page) -> Question:
    names = formats.listed([engine.name for engine in page.engines])
    stored = formats.listed(page.precisions) or "a number format that was not said"
    return wording.question(
        f"Which serving engines run {_pair(page)}?",
        [f"The points behind this page used {names}, with checkpoints in {stored}, in runs dated {run_dates(page)}."],
    )


def run_dates(page: Page) -> str:
    """The run dates of the page: 2026-09-18 to 2026-09-24."""
    return formats.day_range(page.run_dates.first, page.run_dates.last)


def counts(page: Page) -> str:
    """What the page stands on: series, configurations, points, and how many of them are invalid."""
    c = page.counts
    words = [formats.counted(c.n_series, "series")]
    words += [formats.counted(c.n_configs, "configuration")] if c.n_configs else []
    words += [formats.counted(c.n_points, "point")]
    return ", ".join(words) + (f", {c.n_invalid_points:,} of them invalid" if c.n_invalid_points else "")


def _how_measured(page: Page) -> Question:
    return wording.question(
        f"How are these {page.model.name} numbers {_verb(page)}?",
        [
            f"{_SOURCE[page.provenance].format(gpu=page.gpu.name)}, on the {page.workload.name} workload "
            f"({page.workload.description}).",
            f"The page stands on {counts(page)}.",
            wording.per_user_speed(page),
            "A speed target is a minimum: its reading is the highest throughput that any series keeps at that speed.",
            wording.published_reading_note(page),
        ],
    )


def _verb(page: Page) -> str:
    return {"measured": "measured", "imported": "obtained", "simulated": "simulated"}[page.provenance]


def _what_counts(page: Page) -> Question:
    return wording.question("Which tokens do the throughput and the cost count?", [wording.what_counts(page)])


def _formats(page: Page) -> Question:
    missing = formats.listed([p for p in page.precisions if p not in page.gpu.formats])
    return wording.question(f"What does {missing} mean on {page.gpu.name}?", list(wording.format_notes(page)))


def _missing_targets(page: Page) -> list[str]:
    rows = [row for row in page.ladder if row.at_least.basis == "unreachable"]
    return [formats.speed(row.target_tok_s_user) for row in rows] if page.frontier else []


def _unreachable(page: Page) -> Question:
    missing = _missing_targets(page)
    fastest = max(knot.interactivity_tok_s_user for knot in page.frontier)
    return wording.question(
        f"Why is there no value at {formats.listed(missing)} tokens/s per user?",
        [f"No series of this page reaches that speed: its fastest point runs at {basis.target(fastest)}."],
    )
