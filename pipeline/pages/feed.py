"""What changed, in words: entries of the log for the page changes/ and for the Atom feed."""

from __future__ import annotations

import datetime as dt
import itertools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.cell import GpuRun
from pipeline.frontier.verdict_words import change_words
from pipeline.pages import formats
from pipeline.pages.basis import target
from pipeline.pages.changes import (
    FIRST,
    KEY_COLUMNS,
    NEW_BUILD,
    NEW_PRICE,
    NEW_RECIPE,
    NEW_RUN,
    PRICE_CORRECTION,
    WHY,
    SectionKey,
    corrected_prices,
)
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.paths import CHANGES_PATH, root_from
from pipeline.pages.templates_engine import environment
from pipeline.registry.registry import Registry
from pipeline.registry.shipped import shipped_registry

N_IN_FEED = 100
N_ON_PAGE = 400

NOISE_WORDS = {
    "outside": "The difference is outside the noise of the repeats.",
    "within": "The difference is within the noise of the repeats.",
    "unknown": "Whether the difference is noise is not known: a side was not repeated.",
    None: "",
}

RUN_REASONS = {NEW_BUILD, NEW_RECIPE, NEW_RUN}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """One changed reading. ``path`` leads to its run page from the site's root, None where that page is no more."""

    change_id: str
    published_on: dt.date
    pair: str
    target: str
    old: str
    new: str
    ratio: str
    costs: tuple[str, ...]
    why: str
    noise: str
    verdict: str
    path: str | None
    first: bool
    """Published for the first time, and nothing else."""

    @property
    def title(self) -> str:
        """One line: what, where, from, to."""
        change = f"{self.old} → {self.new}" + (f" ({self.ratio})" if self.ratio else "")
        return f"{self.pair}, at least {self.target}: {change}"

    @property
    def summary(self) -> str:
        """Why, whether it is noise, what that means for the series, and the costs."""
        costs = f"Cost per 1M total tokens, {'; '.join(self.costs)}." if self.costs else ""
        return " ".join(text for text in (self.why, self.noise, self.verdict, costs) if text)

    @property
    def urn(self) -> str:
        """The identity of the entry in the feed, the same at every address of the site."""
        return uuid.uuid5(uuid.NAMESPACE_URL, f"serving-frontier/change/{self.change_id}").urn


def entries(log: pa.Table, live: Mapping[SectionKey, str], n: int, verdicts: pa.Table) -> list[Entry]:
    """The newest n changes, newest publication first. ``live`` holds the folder of every section's page that exists.

    ``verdicts`` (VERDICTS) are those of cells_behind, at least.
    """
    registry, judged = shipped_registry(), _by_reading(verdicts)
    rows = _newest_first(_newest(log, n))
    return [_entry(row, live, registry, _verdict(row, judged)) for row in rows]


def _newest_first(rows: Sequence[Row]) -> list[Row]:
    """Later days and later publications first; the targets of one section in one publication stay ascending."""
    stretches: list[list[Row]] = []
    for row in rows:
        if stretches and _continues(stretches[-1][-1], row):
            stretches[-1].append(row)
        else:
            stretches.append([row])
    newest = sorted(reversed(stretches), key=lambda stretch: stretch[0]["published_on"], reverse=True)
    return [row for stretch in newest for row in stretch]


def _continues(last: Row, row: Row) -> bool:
    """The log names no publication: inside one, a section's targets follow each other and ascend."""
    same = ("published_on", *KEY_COLUMNS[:-1])
    together = all(last[name] == row[name] for name in same) and _is_first(last) == _is_first(row)
    return together and bool(last[KEY_COLUMNS[-1]] < row[KEY_COLUMNS[-1]])


def _is_first(row: Row) -> bool:
    return list(row["reasons"]) == [FIRST]


def _newest(log: pa.Table, n: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = log.slice(max(0, log.num_rows - n)).to_pylist()
    return rows


def cells_behind(log: pa.Table, n: int = N_ON_PAGE) -> list[GpuRun]:
    """The cells of the runs that the newest n changes came to, each once, by GPU and date."""
    pairs = {(row["gpu"], run.partition(" ")[0]) for row in _newest(log, n) for run in row["new_runs"]}
    return sorted(GpuRun(gpu, dt.date.fromisoformat(day)) for gpu, day in pairs)


def _by_reading(verdicts: pa.Table) -> dict[tuple[object, ...], Row]:
    return {(*(row[n] for n in KEY_COLUMNS), f"{row['run_date']} {row['run_id']}"): row for row in verdicts.to_pylist()}


def _verdict(row: Row, judged: Mapping[tuple[object, ...], Row]) -> str:
    """Words for a reading that another run gave; "" for a correction, a price, or a curve without a verdict."""
    if not RUN_REASONS & set(row["reasons"]):
        return ""
    found = [judged.get((*(row[name] for name in KEY_COLUMNS), run)) for run in row["new_runs"]]
    return " ".join(dict.fromkeys(change_words(verdict) for verdict in found if verdict))


def _entry(row: Row, live: Mapping[SectionKey, str], registry: Registry, verdict: str) -> Entry:
    return Entry(
        change_id=row["change_id"],
        published_on=row["published_on"],
        pair=_pair(row, registry),
        target=target(row["target_tok_s_user"]),
        old=_amount(row, "old"),
        new=_amount(row, "new"),
        ratio=_ratio(row["old_throughput_tok_s_gpu"], row["new_throughput_tok_s_gpu"]),
        costs=_cost_changes(row, registry),
        why=_why(row),
        noise=NOISE_WORDS[row["noise"]],
        verdict=verdict,
        path=live.get((row["model"], row["gpu"], row["workload"], row["provenance"])),
        first=_is_first(row),
    )


def _pair(row: Row, registry: Registry) -> str:
    model, gpu = registry.models.get(row["model"]), registry.gpus.get(row["gpu"])
    workload = registry.workload(row["workload"]).name
    provenance = "" if row["provenance"] == "measured" else f" ({row['provenance']})"
    return f"{model.name if model else row['model']} on {gpu.name if gpu else row['gpu']}, {workload}{provenance}"


def _amount(row: Row, when: str) -> str:
    value, basis = row[f"{when}_throughput_tok_s_gpu"], row[f"{when}_basis"]
    if value is None:
        return "not published" if basis is None else "not reached"
    if basis == "faster_config":
        return f"at least {formats.throughput_at_least(value)} tokens/s per GPU"
    about = "an estimated " if basis == "interpolated" else ""
    return f"{about}{formats.throughput(value)} tokens/s per GPU"


def _ratio(old: float | None, new: float | None) -> str:
    if not old or new is None:
        return ""
    change = new / old - 1
    return f"{change:+.1%}" if abs(change) >= 0.0005 else "" if change == 0 else f"{change * 100:+.1g}%"


def _cost_changes(row: Row, registry: Registry) -> tuple[str, ...]:
    """One text a price tier whose cost changed, as old → new."""
    old, new = _costs(row, "old"), _costs(row, "new")
    texts = []
    for tier in dict.fromkeys([*old, *new]):
        entry = registry.tiers.get(tier)
        before, after = (side.get(tier, "no cost") for side in (old, new))
        if before != after:
            shown = after if tier not in old else f"{before} → {after}"
            texts.append(f"{entry.name if entry else tier}: {shown}")
    return tuple(texts)


def _costs(row: Row, when: str) -> dict[str, str]:
    """The cost of each price tier, with the mark and the rounding of a bound where the reading is one."""
    bound = row[f"{when}_basis"] == "faster_config"
    tiers = [price_id.split("/")[1] for price_id in row[f"{when}_price_ids"]]
    costs = row[f"{when}_cost_usd_mtok"]
    texts = [f"≤ {formats.usd_mtok_at_most(cost)}" if bound else formats.usd_mtok(cost) for cost in costs]
    return dict(zip(tiers, texts, strict=True))


def _why(row: Row) -> str:
    """The reasons as one sentence, with what is new where the row names it."""
    details = {
        NEW_BUILD: _from_to(row, "engine_builds"),
        NEW_PRICE: _from_to(row, "price_ids"),
        PRICE_CORRECTION: formats.listed(corrected_prices(_rates(row, "old"), _rates(row, "new"))),
    }
    words = [WHY[code] + (f" ({details[code]})" if details.get(code) else "") for code in row["reasons"]]
    text = "; ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


def _rates(row: Row, when: str) -> dict[str, float]:
    return dict(zip(row[f"{when}_price_ids"], row[f"{when}_usd_per_gpu_hour"], strict=True))


def _from_to(row: Row, name: str) -> str:
    old = [word for word in row[f"old_{name}"] if word not in row[f"new_{name}"]]
    new = [word for word in row[f"new_{name}"] if word not in row[f"old_{name}"]]
    return f"{formats.listed(old) or 'none'} → {formats.listed(new) or 'none'}"


def render_changes(found: Sequence[Entry], n_all: int, site: SiteFacts) -> str:
    """changes/index.html: the entries by day. ``n_all`` is the length of the whole log."""
    by_day = [(day, list(group)) for day, group in itertools.groupby(found, key=lambda entry: entry.published_on)]
    days = [(day, len(group), _lines(group)) for day, group in by_day]
    template = environment().get_template("changes.html")
    return template.render(site=site, root=root_from(CHANGES_PATH), days=days, n_all=n_all, n_shown=len(found))


def _lines(found: Iterable[Entry]) -> list[list[Entry]]:
    """The entries as lines of the table: neighbours of one pair that are new there are one line."""
    lines: list[list[Entry]] = []
    for entry in found:
        last = lines[-1][-1] if lines else None
        if last and last.first and entry.first and last.pair == entry.pair:
            lines[-1].append(entry)
        else:
            lines.append([entry])
    return lines


def feed_xml(found: Iterable[Entry], site: SiteFacts, as_of: dt.date | None) -> str:
    """feed.xml (Atom). Without a known address its links are relative to the feed. ``as_of`` dates an empty feed."""
    shown = list(found)[:N_IN_FEED]
    updated = max((entry.published_on for entry in shown), default=as_of or dt.date(1970, 1, 1))
    feed_id = site.base_url or uuid.uuid5(uuid.NAMESPACE_URL, "serving-frontier/feed").urn
    template = environment().get_template("atom.xml")
    return template.render(site=site, entries=shown, updated=updated, feed_id=feed_id, base=site.base_url or "")
