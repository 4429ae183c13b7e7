"""`frontier cost`: a reader's own price, speed, cost cap and load, from the stored pages.

The answers are those of the page's calculator, word for word.
"""

import math
from typing import Annotated, Optional

import typer
from rich.console import Console

from pipeline.cost.what_if import Question, Weights
from pipeline.errors import FrontierError

BOUNDS = {"--usd": (0.001, 1_000.0), "--speed": (0.0, 1e6), "--cap": (1e-9, 1e6), "--load": (1.0, 1e15)}
"""Least and most of each number: USD per GPU-hour as in the price book, tok/s per user, USD per 1M tokens, tok/s."""
MAX_WEIGHT = 1e9


def cost(
    gpu: str,
    model: str,
    usd: Annotated[Optional[float], typer.Option(help="USD per GPU-hour; default: the tier.")] = None,  # noqa: UP045
    tier: Annotated[str, typer.Option(help="Price tier of the page; default: its first one.")] = "",
    speed: Annotated[float, typer.Option(help="Minimum speed, tok/s per user.")] = 50.0,
    cap: Annotated[Optional[float], typer.Option(help="Cost cap, USD per million total tokens.")] = None,  # noqa: UP045
    load: Annotated[Optional[float], typer.Option(help="Load, total tokens/s.")] = None,  # noqa: UP045
    weights: Annotated[str, typer.Option(help="Weights of a computed input, cached input and output token.")] = "1,1,1",
) -> None:
    """Costs and break-even prices at your price, the highest speed under a cap, GPUs and power of a load."""
    from pipeline.launch import stored_pages
    from pipeline.pages.calculator import answer_lines, calculator_data, ladder_lines, rate_of
    from pipeline.pages.wording import section_title
    from pipeline.terminal import line_rows, priced_ladder_rows

    out = Console(highlight=False, markup=False)
    for name, value in (("--usd", usd), ("--speed", speed), ("--cap", cap), ("--load", load)):
        _refuse_beyond(name, value)
    if usd is not None and tier:
        raise FrontierError(
            "a price and a tier, which has its own", where=f"--usd {usd:g} --tier {tier}", next_step="Leave one out."
        )
    parsed = _weights(weights)
    for page in stored_pages(gpu, model, "cost"):
        data = calculator_data(page)
        rate = usd if usd is not None else rate_of(data, tier, f"{model} on {gpu}")
        question = Question(rate, speed, cap, load, parsed, data.all_in_w_gpu)
        out.print(f"{page.title}: {section_title(page)}", style="bold")
        out.print(f"{rate:g} USD per GPU-hour, at least {speed:g} tokens/s per user")
        out.print(line_rows(answer_lines(data, question)))
        out.print(priced_ladder_rows(ladder_lines(data, rate)))


def _refuse_beyond(name: str, value: float | None) -> None:
    least, most = BOUNDS[name]
    if value is None or (least <= value <= most and math.isfinite(value)):
        return
    raise FrontierError(
        "not a number that can be answered for",
        where=name,
        expected=f"{least:g} to {most:g}",
        found=f"{value:g}",
        next_step="Correct the number.",
    )


def _weights(text: str) -> Weights:
    try:
        computed, cached, output = (float(part) for part in text.split(","))
    except ValueError:
        computed = cached = output = -1.0
    if not all(0 <= weight <= MAX_WEIGHT for weight in (computed, cached, output)):
        raise FrontierError(
            "not three weights",
            where=f"--weights {text}",
            expected=f"three numbers from 0 to {MAX_WEIGHT:g}, with commas",
            next_step="Write e.g. --weights 1,0.1,5 for input, cached input and output.",
        )
    return Weights(computed, cached, output)
