"""Pages, prices and builds as terminal tables. Numbers are formatted as on the pages (pages/formats.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table

from pipeline.builds.fingerprint import Fingerprint
from pipeline.pages.basis import basis_words
from pipeline.pages.formats import throughput, throughput_at_least, usd_mtok, usd_mtok_at_most
from pipeline.pages.page import LadderRow, Page
from pipeline.registry.builds import Build
from pipeline.registry.entries import Price


def ladder_table(page: Page) -> Table:
    """The at_least ladder of a page section: one row a speed target, one cost column a tier."""
    tiers = [cost.tier for cost in page.costs]
    table = _table("tok/s/user", "tok/s/GPU", *(f"$/Mtok {tier}" for tier in tiers), "engine", "precision", "basis")
    for row in page.ladder:
        table.add_row(*_cells(page, row, tiers))
    return table


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


def price_rows(prices: Iterable[Price]) -> Table:
    """Price rows as a table."""
    table = _table("gpu", "tier", "USD/GPU/h", "from", "to", "source")
    for p in prices:
        end = str(p.valid_to) if p.valid_to else ""
        table.add_row(p.gpu, p.tier, f"{p.usd_per_gpu_hour:.2f}", str(p.valid_from), end, p.source)
    return table


def build_rows(builds: Mapping[str, tuple[Build, Fingerprint | None]]) -> Table:
    """Engine builds as a table: what the registry names, and what is built of it."""
    table = _table("build", "engine", "version", "host", "built", "MiB", "on")
    for slug, (build, made) in builds.items():
        ours = (made.build_hash, f"{made.size_mib:,.0f}", f"{made.built_at:%Y-%m-%d}") if made else ("–", "–", "–")
        table.add_row(slug, build.engine, build.version, build.host, *ours)
    return table


def _table(*columns: str) -> Table:
    """A table whose cells break into lines instead of losing text on a narrow terminal."""
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
