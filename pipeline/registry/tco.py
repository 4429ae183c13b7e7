"""The inputs of the computed price tier: total cost of ownership, one TOML table a GPU, every value dated and sourced.

Strict: an unknown input is an error, and so is a missing one, since there is no harmless default for a cost.
The arithmetic is pipeline/cost/tco.py's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import RegistryError
from pipeline.registry.entries import Line
from pipeline.registry.loader import nearest, registry_error, toml_blocks


@dataclass(frozen=True)
class InputKind:
    """What an input is, its unit, and the bounds outside of which it is refused as a slip."""

    label: str
    unit: str
    least: float
    most: float


IT_POWER = "it_power_kw_gpu"
ALL_IN_POWER = "all_in_power_kw_gpu"

INPUTS = {
    "server_capital_usd_gpu": InputKind("Server, capital cost per GPU", "USD", 1, 1_000_000),
    "network_capital_usd_gpu": InputKind("Network, capital cost per GPU", "USD", 0, 1_000_000),
    "life_years": InputKind("Life, years over which both are paid off", "years", 0.5, 20),
    "cost_of_capital_share_year": InputKind("Cost of capital", "share per year", 0, 1),
    "maintenance_share_year": InputKind("Maintenance and operation, of the capital cost", "share per year", 0, 1),
    "colocation_usd_kw_month": InputKind("Colocation, per kW of IT power", "USD per kW and month", 0, 2_000),
    IT_POWER: InputKind("IT power per GPU, host and network included", "kW", 0.01, 20),
    ALL_IN_POWER: InputKind("Data-centre power per GPU, cooling included", "kW", 0.01, 20),
    "power_usd_kwh": InputKind("Price of electricity", "USD per kWh", 0, 2),
    "pue": InputKind("PUE, data-centre power over IT power", "1", 1, 3),
    "utilisation_share": InputKind("Utilisation, share of hours that serve", "share", 0.01, 1),
}
"""Every input by its key in tco.toml; of the two powers exactly one is given."""


class DatedInput(BaseModel):
    """One value of one input since a day, and where it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    value: float
    as_of: dt.date
    source: Line


Inputs = Mapping[str, tuple[DatedInput, ...]]
"""The history of every input of one GPU by its key, the oldest value first."""


def parse_tco(text: str, file: str, gpus: Iterable[str]) -> dict[str, Inputs]:
    """The inputs by GPU slug; empty for a text without a table. Raises RegistryError."""
    known = set(gpus)
    found = {}
    for gpu, body in toml_blocks(text, file).items():
        where = f"{file} [{gpu}]"
        if gpu not in known:
            raise RegistryError(f"unknown gpu {gpu!r}", where=where, next_step=nearest(gpu, known))
        if not isinstance(body, dict):
            raise RegistryError("not a block", where=where, next_step="Write it as a [gpu] block.")
        found[gpu] = _inputs(body, where)
    return found


def _inputs(body: Mapping[str, object], where: str) -> Inputs:
    for key in body:
        if key not in INPUTS:
            raise RegistryError(f"unknown key {key!r}", where=where, next_step=nearest(key, INPUTS))
    missing = [key for key in INPUTS if key not in body and key not in (IT_POWER, ALL_IN_POWER)]
    if missing:
        raise RegistryError(
            f"{missing[0]} is missing",
            where=where,
            expected="every input, with its day and its source",
            found=f"{len(body)} of {len(INPUTS) - 1}",
            next_step=f"Add {', '.join(missing)}.",
        )
    if (IT_POWER in body) == (ALL_IN_POWER in body):
        raise RegistryError(
            "the power of one GPU is given twice or not at all",
            where=where,
            expected=f"either {IT_POWER} or {ALL_IN_POWER}",
            next_step="Keep the one that the source states.",
        )
    return {key: _history(body[key], INPUTS[key], f"{where} {key}") for key in INPUTS if key in body}


def _history(given: object, kind: InputKind, where: str) -> tuple[DatedInput, ...]:
    """One value, or a list of values of different days."""
    values = [_value(entry, kind, where) for entry in (given if isinstance(given, list) else [given])]
    days = [value.as_of for value in values]
    if not values or len(set(days)) < len(days):
        raise RegistryError(
            "two values of one day" if values else "no value",
            where=where,
            expected="one value a day",
            next_step="Keep one: a later value is one of a later day.",
        )
    return tuple(sorted(values, key=lambda value: value.as_of))


def _value(given: object, kind: InputKind, where: str) -> DatedInput:
    try:
        value = DatedInput.model_validate(given)
    except ValidationError as error:
        if not isinstance(given, dict):
            raise RegistryError(
                "not a dated value",
                where=where,
                expected='{ value = …, as_of = YYYY-MM-DD, source = "…" }',
                found=repr(given),
                next_step="Write it so.",
            ) from None
        raise registry_error(error, DatedInput, where) from None
    if not kind.least <= value.value <= kind.most:
        raise RegistryError(
            f"not a plausible value of {kind.label!r}",
            where=where,
            expected=f"{kind.least:g} to {kind.most:g} {kind.unit}",
            found=f"{value.value:g}",
            next_step="Check its unit.",
        )
    return value
