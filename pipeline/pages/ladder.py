"""Readings and their costs to the ladder, the headline and the cost tiers of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.cost.price_book import PriceCorrection
from pipeline.cost.tco import ComputedRate
from pipeline.frontier.targets import PRIMARY_TARGET_TOK_S_USER, TARGETS_TOK_S_USER
from pipeline.pages.highlights import NO_VALID_POINT
from pipeline.pages.page import AtLeast, AtTarget, CostKinds, Headline, LadderRow, TierCost
from pipeline.registry.entries import COMPUTED_TIER
from pipeline.registry.registry import Registry

Row = Mapping[str, Any]
Spreads = Mapping[tuple[object, ...], float]

OUTPUT_UNKNOWN = "The source does not say how many of the tokens are output."
CACHE_UNKNOWN = "The source does not say how many input tokens came from the prefix cache."
NO_VALUE = "There is no throughput to price."
NOT_ITS_PRICE = "The price of this day never held on or after the day of the run."


@dataclass(frozen=True)
class Priced:
    """Everything with a dollar sign on one page: cost rows by reading, and price rows, valid at the as-of date.

    ``no_price`` says that no price holds, and on which day. ``corrections`` are by price_id; ``computed`` is what the
    row of the computed tier was computed from.
    """

    costs: Mapping[tuple[object, ...], Sequence[Row]]
    prices: Sequence[Row]
    registry: Registry
    no_price: str
    corrections: Mapping[str, tuple[PriceCorrection, ...]] = field(default_factory=dict)
    computed: ComputedRate | None = None

    def by_tier(self, reading: Row) -> dict[str, Row]:
        """The cost rows of one reading by tier, in the order of the tiers; empty where it has none."""
        found = self.costs.get(_reading_key(reading), ())
        return {cost["tier"]: cost for cost in sorted(found, key=lambda cost: self.rank(cost["tier"]))}

    def rank(self, tier: str) -> tuple[int, str]:
        """Where a tier stands in tables; a tier without an entry stands last."""
        entry = self.registry.tiers.get(tier)
        return (entry.rank if entry else 1_000, tier)

    def why_no_cost(self, reading: Row) -> str | None:
        """None where the reading has a cost."""
        if reading["throughput_tok_s_gpu"] is None:
            return NO_VALUE
        if not self.prices:
            return self.no_price
        return None if self.by_tier(reading) else NOT_ITS_PRICE


def costs_by_reading(costs: Sequence[Row]) -> dict[tuple[object, ...], list[Row]]:
    """Cost rows under the reading that they price."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for cost in costs:
        found.setdefault(_reading_key(cost), []).append(cost)
    return found


def _reading_key(row: Row) -> tuple[object, ...]:
    return (row["curve_id"], row["reading"], row["target_tok_s_user"])


def ladder(readings: Sequence[Row], priced: Priced, spreads: Spreads) -> tuple[LadderRow, ...]:
    """One row per target, from the slowest to the fastest. Without readings every row is unreachable.

    ``spreads`` are standard deviations in tok/s/GPU by curve and target.
    """
    known = {(row["reading"], row["target_tok_s_user"]): row for row in readings}
    targets = sorted({float(t) for t in TARGETS_TOK_S_USER} | {row["target_tok_s_user"] for row in readings})
    return tuple(
        LadderRow(
            target_tok_s_user=target,
            at_least=_at_least(known.get(("at_least", target), absent_reading("at_least", target)), priced, spreads),
            at_target=_at_target(known.get(("at_target", target), absent_reading("at_target", target)), priced),
        )
        for target in targets
    )


def absent_reading(reading: str, target_tok_s_user: float) -> dict[str, Any]:
    """The reading of a page without a valid point."""
    names = ("throughput_tok_s_gpu", "delivered_tok_s_user", "engine", "precision", "curve_id")
    more = ("run_date", "output_throughput_tok_s_gpu", "computed_input_throughput_tok_s_gpu", "cache_hit_share")
    empty: dict[str, Any] = dict.fromkeys((*names, *more))
    return empty | {
        "reading": reading,
        "target_tok_s_user": target_tok_s_user,
        "basis": "unreachable",
        "reason": NO_VALID_POINT,
        "point_ids": [],
    }


def _total_costs(reading: Row, priced: Priced) -> dict[str, float] | None:
    return {tier: cost["usd_mtok_total"] for tier, cost in priced.by_tier(reading).items()} or None


def _at_least(reading: Row, priced: Priced, spreads: Spreads) -> AtLeast:
    return AtLeast(
        throughput_tok_s_gpu=reading["throughput_tok_s_gpu"],
        throughput_std_tok_s_gpu=spreads.get((reading["curve_id"], reading["target_tok_s_user"])),
        delivered_tok_s_user=reading["delivered_tok_s_user"],
        basis=reading["basis"],
        engine=reading["engine"],
        precision=reading["precision"],
        run_date=reading["run_date"],
        point_ids=tuple(reading["point_ids"] or ()),
        cost_usd_mtok=_total_costs(reading, priced),
        output_share=output_share(reading),
        output_share_reason=_why_no_output_share(reading),
        cache_hit_share=reading["cache_hit_share"],
        cache_hit_share_reason=_why_no_cache_share(reading),
        reason=reading["reason"],
        cost_reason=priced.why_no_cost(reading),
    )


def _at_target(reading: Row, priced: Priced) -> AtTarget:
    return AtTarget(
        throughput_tok_s_gpu=reading["throughput_tok_s_gpu"],
        engine=reading["engine"],
        precision=reading["precision"],
        cost_usd_mtok=_total_costs(reading, priced),
        reason=reading["reason"],
        cost_reason=priced.why_no_cost(reading),
    )


def output_share(row: Row) -> float | None:
    """Output tokens over total tokens of a reading or a point; None where either is not known or total is 0."""
    output, total = row["output_throughput_tok_s_gpu"], row["throughput_tok_s_gpu"]
    return None if output is None or not total else float(output / total)


def _why_no_output_share(reading: Row) -> str | None:
    return None if output_share(reading) is not None else reading["reason"] or OUTPUT_UNKNOWN


def _why_no_cache_share(reading: Row) -> str | None:
    return None if reading["cache_hit_share"] is not None else reading["reason"] or CACHE_UNKNOWN


def primary_reading(readings: Sequence[Row]) -> Row:
    """The at_least reading at the primary target."""
    for row in readings:
        if row["reading"] == "at_least" and row["target_tok_s_user"] == PRIMARY_TARGET_TOK_S_USER:
            return row
    return absent_reading("at_least", float(PRIMARY_TARGET_TOK_S_USER))


def headline(reading: Row, priced: Priced) -> Headline:
    """The primary reading at the first tier that has a price."""
    tier, cost = next(iter(priced.by_tier(reading).items()), (None, {}))
    return Headline(
        target_tok_s_user=reading["target_tok_s_user"],
        throughput_tok_s_gpu=reading["throughput_tok_s_gpu"],
        delivered_tok_s_user=reading["delivered_tok_s_user"],
        basis=reading["basis"],
        cost_usd_mtok=cost.get("usd_mtok_total"),
        cost_usd_mtok_computed_input=cost.get("usd_mtok_computed_input"),
        cost_usd_mtok_output=cost.get("usd_mtok_output"),
        price_tier=tier,
        engine=reading["engine"],
        precision=reading["precision"],
        output_share=output_share(reading),
        output_share_reason=_why_no_output_share(reading),
        cache_hit_share=reading["cache_hit_share"],
        cache_hit_share_reason=_why_no_cache_share(reading),
        point_ids=tuple(reading["point_ids"] or ()),
        reason=reading["reason"],
        cost_reason=priced.why_no_cost(reading),
    )


def tier_costs(reading: Row, priced: Priced) -> tuple[TierCost, ...]:
    """Every price row with the primary reading's cost at it, in the order of the tiers."""
    costs = priced.by_tier(reading)
    prices = sorted(priced.prices, key=lambda price: priced.rank(price["tier"]))
    return tuple(_tier_cost(price, costs.get(price["tier"]), reading, priced) for price in prices)


def _tier_cost(price: Row, cost: Row | None, reading: Row, priced: Priced) -> TierCost:
    entry = priced.registry.tiers.get(price["tier"])
    kinds = ("usd_mtok_total", "usd_mtok_computed_input", "usd_mtok_output")
    total, computed_input, output = (cost[kind] if cost else None for kind in kinds)
    unknown = [OUTPUT_UNKNOWN] if output is None else []
    unknown += [CACHE_UNKNOWN] if computed_input is None else []
    return TierCost(
        tier=price["tier"],
        name=entry.name if entry else price["tier"],
        price_id=price["price_id"],
        usd_per_gpu_hour=price["usd_per_gpu_hour"],
        valid_from=price["valid_from"],
        valid_to=price["valid_to"],
        source=price["source"],
        target_tok_s_user=reading["target_tok_s_user"],
        cost_usd_mtok=CostKinds(total=total, computed_input=computed_input, output=output),
        cache_hit_share=reading["cache_hit_share"],
        reason=(reading["reason"] or NOT_ITS_PRICE) if cost is None else " ".join(unknown) or None,
        corrections=priced.corrections.get(price["price_id"], ()),
        computed=priced.computed if price["tier"] == COMPUTED_TIER else None,
    )
