"""Pages, prices, devices and builds as rows of a terminal table, and raw. Numbers are formatted as on the pages.

Not here: how a table is fitted into the terminal (sheets.py), and the formats (pages/formats.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from pipeline.builds.fingerprint import Fingerprint
from pipeline.cost.tco import ComputedRate
from pipeline.pages.basis import basis_words
from pipeline.pages.formats import exact_rate, throughput, throughput_at_least, usd_mtok, usd_mtok_at_most
from pipeline.pages.page import LadderRow, Page
from pipeline.pages.wording import section_title
from pipeline.registry.builds import Build
from pipeline.registry.entries import Price
from pipeline.sheets import Column, Sheet


def ladder_sheet(page: Page) -> Sheet:
    """The at_least ladder of a page section: one row a speed target, one cost column a tier."""
    tiers = [cost.tier for cost in page.costs]
    costs = (Column(f"$/Mtok {tier}") for tier in tiers)
    columns = (*_columns("tok/s/user", "tok/s/GPU"), *costs, *_columns("engine", "precision"), Column("basis", True))
    rows = [_cells(page, row, tiers) for row in page.ladder]
    return Sheet(columns, rows, [_ladder_record(page, row, tiers) for row in page.ladder])


def _ladder_record(page: Page, row: LadderRow, tiers: list[str]) -> dict[str, object]:
    reading = row.at_least
    costs = reading.cost_usd_mtok or {}
    return {
        "section": section_title(page),
        "target_tok_s_user": row.target_tok_s_user,
        "throughput_tok_s_gpu": reading.throughput_tok_s_gpu,
        "delivered_tok_s_user": reading.delivered_tok_s_user,
        **{f"cost_usd_mtok_{tier}": costs.get(tier) for tier in tiers},
        "engine": reading.engine,
        "precision": reading.precision,
        "basis": reading.basis,
    }


def _cells(page: Page, row: LadderRow, tiers: list[str]) -> list[str]:
    reading = row.at_least
    costs = reading.cost_usd_mtok or {}
    bound = reading.basis == "faster_config"
    tok_s = f"≥ {throughput_at_least(reading.throughput_tok_s_gpu or 0)}" if bound else None
    return [
        f"≥ {row.target_tok_s_user:g}",
        "–" if reading.throughput_tok_s_gpu is None else tok_s or throughput(reading.throughput_tok_s_gpu),
        *("–" if tier not in costs else _cost(costs[tier], bound=bound) for tier in tiers),
        reading.engine or "–",
        reading.precision or "–",
        basis_words(reading, page),
    ]


def _cost(usd: float, *, bound: bool) -> str:
    return f"≤ {usd_mtok_at_most(usd)}" if bound else usd_mtok(usd)


def price_sheet(prices: Sequence[Price]) -> Sheet:
    """The rows of the price book."""
    columns = (*_columns("gpu", "tier", "USD/GPU/h", "from", "to"), Column("source", True), Column("corrected", True))
    return Sheet(columns, [_price_cells(p) for p in prices], [p.model_dump() for p in prices])


def _price_cells(price: Price) -> list[str]:
    said = f"no longer said since {price.corrected_on}: {price.correction_reason}" if price.replaced else ""
    said = said or (f"said since {price.recorded_on}" if price.recorded_on else "")
    end = str(price.valid_to) if price.valid_to else ""
    usd = exact_rate(price.usd_per_gpu_hour)
    return [price.gpu, price.tier, usd, str(price.valid_from), end, price.source, said]


def tco_sheet(rate: ComputedRate) -> Sheet:
    """The parts of a computed price, its sums, and its inputs."""
    parts = [(part.name, part.usd_per_gpu_hour, "computed") for part in rate.parts]
    owned = ("An hour that is owned", rate.usd_per_owned_hour, "sum of the parts")
    serves = ("An hour that serves", rate.usd_per_gpu_hour, "that over the utilisation")
    columns = (Column("what", True), *_columns("value", "unit", "of"), Column("source", True))
    computed = [(name, usd, "USD/GPU/h", None, source) for name, usd, source in (*parts, owned, serves)]
    given = [(given.name, given.value, given.unit, given.as_of, given.source) for given in rate.inputs]
    rows = [[name, f"{usd:.4f}", unit, "", source] for name, usd, unit, _, source in computed]
    rows += [[name, f"{value:,.10g}", unit, str(day), source] for name, value, unit, day, source in given]
    names = ("what", "value", "unit", "as_of", "source")
    return Sheet(columns, rows, [dict(zip(names, row, strict=True)) for row in (*computed, *given)])


def device_sheet(states: Iterable[tuple[str, str]]) -> Sheet:
    """Devices and who uses them."""
    rows = list(states)
    columns = (Column("device"), Column("state", True))
    return Sheet(columns, rows, [{"device": device, "state": state} for device, state in rows])


def line_rows(lines: Iterable[tuple[str, str]]) -> Table:
    """Terms and their texts, without a head."""
    table = Table(show_header=False)
    for name in ("term", "text"):
        table.add_column(name, overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table


def priced_ladder_rows(lines: Iterable[tuple[str, str, str]]) -> Table:
    """Every speed target at one price."""
    table = Table("at least, tok/s/user", "tok/s/GPU", "$/Mtok total")
    for line in lines:
        table.add_row(*line)
    return table


def build_sheet(builds: Mapping[str, tuple[Build, Fingerprint | None]]) -> Sheet:
    """Engine builds: what the registry names, and what is built of it."""
    columns = _columns("build", "engine", "version", "host", "kind", "built", "MiB", "on")
    rows = [_build_cells(slug, *found) for slug, found in builds.items()]
    return Sheet(columns, rows, [_build_record(slug, *found) for slug, found in builds.items()])


def _build_cells(slug: str, build: Build, made: Fingerprint | None) -> list[str]:
    ours = (made.build_hash, _mib(made.size_mib), f"{made.built_at:%Y-%m-%d}") if made else ("–", "–", "–")
    return [slug, build.engine, build.version, build.host, build.kind, *ours]


def _build_record(slug: str, build: Build, made: Fingerprint | None) -> dict[str, object]:
    return {
        "build": slug,
        "engine": build.engine,
        "version": build.version,
        "host": build.host,
        "kind": build.kind,
        "build_hash": made.build_hash if made else None,
        "size_mib": made.size_mib if made else None,
        "built_at": made.built_at if made else None,
    }


def _mib(size_mib: float | None) -> str:
    return "–" if size_mib is None else f"{size_mib:,.0f}"


def _columns(*titles: str) -> tuple[Column, ...]:
    return tuple(Column(title) for title in titles)
