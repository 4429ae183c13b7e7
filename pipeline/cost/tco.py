"""Total cost of ownership: stated inputs to USD per GPU-hour with its parts, and to rows of the price book.

    capital      C = server + network                                              USD
    annuity      a = r / (1 - (1 + r)^-n), and 1 / n where r = 0                   1/year
    capital, interest included   C × a / 8760                                      USD/h
    maintenance                  C × m / 8760                                      USD/h
    colocation                   c × P × 12 / 8760                                 USD/h
    electricity                  e × P × PUE                                       USD/h
    an hour that is owned        the sum of the four                               USD/h
    an hour that serves          that sum / utilisation: the computed price        USD/h

r is the cost of capital per year, n the life in years, m maintenance as a share of the capital cost per year, c the
colocation rent in USD per kW of IT power and month, P the IT power in kW (data-centre power / PUE where that is the
stated one), e the price of electricity in USD/kWh. Power is taken as drawn in every hour, idle ones included: what a
GPU draws while it waits is no input. Nothing is left at the end of the life. A year has 8,760 hours.

This is arithmetic on estimates. It knows nothing of taxes, staff, software, storage, or what somebody really paid.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.registry.entries import COMPUTED_TIER, Price
from pipeline.registry.price_rows import validated_price
from pipeline.registry.tco import ALL_IN_POWER, INPUTS, IT_POWER, DatedInput, Inputs

HOURS_PER_YEAR = 8_760
MONTHS_PER_YEAR = 12


@dataclass(frozen=True)
class CostPart:
    """One part of the computed price, in USD per GPU-hour."""

    name: str
    usd_per_gpu_hour: float


@dataclass(frozen=True)
class CostInput:
    """One input as it is shown: what it is, its value and unit, the day it is of, and where it comes from."""

    name: str
    value: float
    unit: str
    as_of: dt.date
    source: str


@dataclass(frozen=True)
class ComputedRate:
    """The computed price from one day on: parts add up to an owned hour, and utilisation makes it one that serves."""

    valid_from: dt.date
    usd_per_gpu_hour: float
    usd_per_owned_hour: float
    parts: tuple[CostPart, ...]
    inputs: tuple[CostInput, ...]

    @property
    def fingerprint(self) -> str:
        """Hash of the inputs: the same inputs, the same price."""
        return hashlib.sha256(repr(self.inputs).encode()).hexdigest()[:8]


def annuity_share(cost_of_capital_share_year: float, life_years: float) -> float:
    """What is paid back a year, interest included, per dollar of capital: r / (1 − (1 + r)^−n), 1 / n for r = 0."""
    r = cost_of_capital_share_year
    return 1 / life_years if r == 0 else r / (1 - (1 + r) ** -life_years)


def cost_parts(values: Mapping[str, float]) -> tuple[CostPart, ...]:
    """The four parts of an owned hour, in USD per GPU-hour, from the inputs by key."""
    capital_usd = values["server_capital_usd_gpu"] + values["network_capital_usd_gpu"]
    it_power_kw = values[IT_POWER] if IT_POWER in values else values[ALL_IN_POWER] / values["pue"]
    annuity = annuity_share(values["cost_of_capital_share_year"], values["life_years"])
    yearly_rent_usd = values["colocation_usd_kw_month"] * it_power_kw * MONTHS_PER_YEAR
    return (
        CostPart("Capital, interest included", capital_usd * annuity / HOURS_PER_YEAR),
        CostPart("Maintenance and operation", capital_usd * values["maintenance_share_year"] / HOURS_PER_YEAR),
        CostPart("Colocation", yearly_rent_usd / HOURS_PER_YEAR),
        CostPart("Electricity", values["power_usd_kwh"] * it_power_kw * values["pue"]),
    )


def computed_rates(inputs: Inputs) -> tuple[ComputedRate, ...]:
    """The computed price at every day on which an input changed, from the first day on which all are known."""
    first = max(history[0].as_of for history in inputs.values())
    days = {value.as_of for history in inputs.values() for value in history if value.as_of > first}
    return tuple(_rate(_known_on(inputs, day), day) for day in [first, *sorted(days)])


def _known_on(inputs: Inputs, day: dt.date) -> dict[str, DatedInput]:
    return {key: [v for v in history if v.as_of <= day][-1] for key, history in inputs.items()}


def _rate(known: Mapping[str, DatedInput], day: dt.date) -> ComputedRate:
    values = {key: dated.value for key, dated in known.items()}
    parts = cost_parts(values)
    owned_usd = sum(part.usd_per_gpu_hour for part in parts)
    return ComputedRate(
        valid_from=day,
        usd_per_gpu_hour=owned_usd / values["utilisation_share"],
        usd_per_owned_hour=owned_usd,
        parts=parts,
        inputs=tuple(
            CostInput(INPUTS[key].label, dated.value, INPUTS[key].unit, dated.as_of, dated.source)
            for key, dated in known.items()
        ),
    )


def computed_prices(gpu: str, inputs: Inputs, file: str) -> tuple[Price, ...]:
    """Rows of the price book: each computed price until the next one, the last one without an end.

    The source names the file and the fingerprint of the inputs, so the version of the book changes with them.
    Raises PriceError where they come to more than a price can be.
    """
    rates = computed_rates(inputs)
    ends = [*(rate.valid_from for rate in rates[1:]), None]
    return tuple(
        validated_price(
            {
                "gpu": gpu,
                "tier": COMPUTED_TIER,
                "usd_per_gpu_hour": rate.usd_per_gpu_hour,
                "valid_from": rate.valid_from,
                "valid_to": end,
                "source": f"computed: {file} {rate.fingerprint}",
            },
            f"{file} [{gpu}]",
        )
        for rate, end in zip(rates, ends, strict=True)
    )


def rate_as_of(inputs: Inputs, as_of: dt.date) -> ComputedRate | None:
    """The computed price that holds on a day; None before the first one."""
    return next((rate for rate in reversed(computed_rates(inputs)) if rate.valid_from <= as_of), None)
