"""A reader's own question to a frontier: my price, my speed, my cap, my load, my weights of the kinds of token.

Belongs here: dollars, GPUs and watts from readings. Reading the frontier is frontier_reading.py's, words and formats
are pipeline/pages/calculator.py's. The browser computes the same (pipeline/pages/templates/calculator.js).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.cost.frontier_reading import FrontierCurve, FrontierReading, fastest_at, read_at
from pipeline.units import S_PER_HOUR, TOK_PER_MTOK, usd_per_mtok

_NOISE = 1e-9
"""Relative size below which a remainder is floating-point noise: not one more GPU, and not above the cap."""


@dataclass(frozen=True)
class Weights:
    """What one token of a kind counts, against the others: 1, 0.1, 5 is a cached token at a tenth of an input token."""

    computed_input: float = 1.0
    cached_input: float = 1.0
    output: float = 1.0


@dataclass(frozen=True)
class Question:
    """One price in USD per GPU-hour and one minimum speed; ``cap_usd_mtok`` and ``load_tok_s`` (total tokens) or None.

    ``all_in_w_gpu`` is data-centre power per GPU, for a load where no power was measured; None where not known.
    """

    usd_per_gpu_hour: float
    speed_tok_s_user: float
    cap_usd_mtok: float | None
    load_tok_s: float | None
    weights: Weights
    all_in_w_gpu: float | None


@dataclass(frozen=True)
class Costs:
    """USD per million tokens of a reading: all dollars over total, over computed input, over output tokens."""

    total: float | None
    computed_input: float | None
    output: float | None


@dataclass(frozen=True)
class BreakEven:
    """Prices in USD per million tokens of each kind that together pay for the GPU, in the ratio of the weights."""

    computed_input: float
    cached_input: float
    output: float


@dataclass(frozen=True)
class Fleet:
    """What carries a load. ``n_gpus`` is rounded up to whole deployments where their size is known (``n_deployments``).

    ``power_w`` by ``power_basis``: measured, all_in (data-centre power of the registry) or None. ``usd_mtok`` is what
    a token costs at exactly this load, idle share included.
    """

    n_gpus: int
    n_deployments: int | None
    usd_per_hour: float
    usd_mtok: float
    power_w: float | None
    power_basis: str | None


@dataclass(frozen=True)
class Answer:
    """Everything that the question asks for; None where the frontier or the question has nothing to say."""

    reading: FrontierReading | None
    costs: Costs | None
    break_even: BreakEven | None
    under_cap: FrontierReading | None
    under_cap_usd_mtok: float | None
    fleet: Fleet | None


def answer(curves: Sequence[FrontierCurve], question: Question) -> Answer:
    """The question put to the frontier of one page section."""
    rate = question.usd_per_gpu_hour
    reading = read_at(curves, question.speed_tok_s_user)
    capped = _under_cap(curves, question)
    return Answer(
        reading=reading,
        costs=costs_of(reading, rate) if reading else None,
        break_even=break_even(reading, rate, question.weights) if reading else None,
        under_cap=capped,
        under_cap_usd_mtok=usd_per_mtok(rate, capped.throughput_tok_s_gpu) if capped else None,
        fleet=fleet(reading, question) if reading else None,
    )


def costs_of(reading: FrontierReading, usd_per_gpu_hour: float) -> Costs:
    """The three costs of a reading at a price; a kind without a positive throughput has none."""
    return Costs(
        total=usd_per_mtok(usd_per_gpu_hour, reading.throughput_tok_s_gpu),
        computed_input=_cost(usd_per_gpu_hour, reading.computed_input_tok_s_gpu),
        output=_cost(usd_per_gpu_hour, reading.output_tok_s_gpu),
    )


def _cost(usd_per_gpu_hour: float, tok_s_gpu: float | None) -> float | None:
    return None if tok_s_gpu is None else usd_per_mtok(usd_per_gpu_hour, tok_s_gpu)


def break_even(reading: FrontierReading, usd_per_gpu_hour: float, weights: Weights) -> BreakEven | None:
    """USD per million tokens of each kind: price of kind = weight × rate × 1e6 / (weighted tok/s/GPU × 3600).

    Weights 1, 1, 1 give the cost per total token; 0, 0, 1 the cost per output token. None where the source does not
    say how the tokens divide, or where no token of a positive weight is served.
    """
    computed, output = reading.computed_input_tok_s_gpu, reading.output_tok_s_gpu
    if computed is None or output is None:
        return None
    cached = max(0.0, reading.throughput_tok_s_gpu - computed - output)
    weighted = computed * weights.computed_input + cached * weights.cached_input + output * weights.output
    unit = usd_per_mtok(usd_per_gpu_hour, weighted)
    if unit is None:
        return None
    return BreakEven(unit * weights.computed_input, unit * weights.cached_input, unit * weights.output)


def _under_cap(curves: Sequence[FrontierCurve], question: Question) -> FrontierReading | None:
    cap = question.cap_usd_mtok
    if cap is None or cap <= 0:
        return None
    wanted = question.usd_per_gpu_hour * TOK_PER_MTOK / (cap * S_PER_HOUR)
    return fastest_at(curves, wanted * (1 - _NOISE))


def fleet(reading: FrontierReading, question: Question) -> Fleet | None:
    """GPUs, power and dollars per hour that carry the load at the reading. None without a positive load."""
    load = question.load_tok_s
    if load is None or load <= 0:
        return None
    size = reading.n_gpus
    n_units = math.ceil(load / (reading.throughput_tok_s_gpu * (size or 1)) * (1 - _NOISE))
    n_gpus = n_units * (size or 1)
    usd_per_hour = n_gpus * question.usd_per_gpu_hour
    measured = reading.power_w_gpu
    power_w_gpu = measured if measured is not None else question.all_in_w_gpu
    return Fleet(
        n_gpus=n_gpus,
        n_deployments=n_units if size else None,
        usd_per_hour=usd_per_hour,
        usd_mtok=usd_per_hour * TOK_PER_MTOK / (load * S_PER_HOUR),
        power_w=None if power_w_gpu is None else n_gpus * power_w_gpu,
        power_basis=None if power_w_gpu is None else "measured" if measured is not None else "all_in",
    )
