"""The HTML page of one model on one GPU, and its downloads as text. Writing the files is a resource's."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from pipeline.pages.charts import frontier_svg
from pipeline.pages.faq import counts, run_dates
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.method import Fact, method_facts, used_points
from pipeline.pages.page import AtLeast, AtTarget, LadderRow, Page, to_json
from pipeline.pages.paths import gpu_path, model_path, root_from, run_path, section_files, section_id
from pipeline.pages.point_record import PointRecord
from pipeline.pages.structured_data import structured_data
from pipeline.pages.templates_engine import environment, safe_link
from pipeline.pages.wording import section_title


@dataclasses.dataclass(frozen=True)
class SectionView:
    """One section with everything that its template needs and its Page does not hold."""

    page: Page
    id: str
    title: str
    chart: Markup
    files: dict[str, str]
    facts: tuple[Fact, ...]
    method: tuple[Fact, ...]
    runs: tuple[tuple[str, str], ...]


def run_files(sections: tuple[Page, ...], site: SiteFacts) -> dict[str, str]:
    """Every file of a run page's folder by name: index.html, and of each section data, ladder, points and chart.

    The first section is the page, the others follow below. Raises ValueError for none.
    """
    charts = [frontier_svg(page) for page in sections]
    files = {"index.html": _rendered(sections, charts, site)}
    for page, chart in zip(sections, charts, strict=True):
        texts = {"data": to_json(page), "ladder": ladder_csv(page), "points": points_csv(page), "frontier": chart}
        files |= {name: texts[kind] for kind, name in section_files(page, of=sections[0]).items()}
    return files


def _rendered(sections: Sequence[Page], charts: Sequence[str], site: SiteFacts) -> str:
    own, *_ = sections
    views = [_view(page, chart, own) for page, chart in zip(sections, charts, strict=True)]
    return (
        environment()
        .get_template("run_page.html")
        .render(
            site=site,
            root=root_from(run_path(own.model.slug, own.gpu.slug)),
            page=own,
            sections=views,
            model_path=model_path(own.model.slug),
            gpu_path=gpu_path(own.gpu.slug),
            structured_data=structured_data(own, site),
        )
    )


def _view(page: Page, chart: str, own: Page) -> SectionView:
    return SectionView(
        page=page,
        id=section_id(page),
        title=section_title(page),
        chart=Markup(chart),
        files=section_files(page, of=own),
        facts=_facts(page),
        method=method_facts(page),
        runs=_runs(used_points(page)),
    )


def _facts(page: Page) -> tuple[Fact, ...]:
    return (
        Fact("Series and points", counts(page)),
        Fact("Serving engines", ", ".join(engine.name for engine in page.engines)),
        Fact("Checkpoint formats", ", ".join(page.precisions) or "not said"),
        Fact("Run dates", run_dates(page)),
    )


def _runs(points: Iterable[PointRecord]) -> tuple[tuple[str, str], ...]:
    """(run id, link) of the runs that have one, each once."""
    return tuple(sorted({(point.run_id, url) for point in points if (url := safe_link(point.run_url))}))


def ladder_csv(page: Page) -> str:
    """Every target under both readings, one line each; units are in the column names, lists are split by spaces."""
    tiers = [cost.tier for cost in page.costs]
    head = ["target_tok_s_user", "reading", "throughput_tok_s_gpu", "delivered_tok_s_user", "basis", "engine"]
    head += ["precision", *(f"cost_{tier}_usd_mtok" for tier in tiers), "point_ids", "reason"]
    lines = [line for row in page.ladder for line in _ladder_lines(row, tiers)]
    return _csv([head, *lines])


def _ladder_lines(row: LadderRow, tiers: list[str]) -> list[list[object]]:
    least, exact = row.at_least, row.at_target
    first = [least.throughput_tok_s_gpu, least.delivered_tok_s_user, least.basis, least.engine, least.precision]
    second = [exact.throughput_tok_s_gpu, None, None, exact.engine, exact.precision]
    ids = " ".join(least.point_ids)
    return [
        [row.target_tok_s_user, "at_least", *first, *_tier_cells(least, tiers), ids, least.reason],
        [row.target_tok_s_user, "at_target", *second, *_tier_cells(exact, tiers), None, exact.reason],
    ]


def _tier_cells(reading: AtLeast | AtTarget, tiers: list[str]) -> list[float | None]:
    return [(reading.cost_usd_mtok or {}).get(tier) for tier in tiers]


def points_csv(page: Page) -> str:
    """Every point of the section, one line each, with all that data.json holds of it; lists are split by spaces."""
    rows = [_flat(point) for point in page.points]
    head = list(rows[0]) if rows else [field.name for field in dataclasses.fields(PointRecord)]
    return _csv([head, *([row[name] for name in head] for row in rows)])


def _flat(point: PointRecord) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in vars(point).items():
        if name == "latency":
            flat |= {f"{kind}_{stat}": v for kind, stats in vars(value).items() for stat, v in vars(stats).items()}
        else:
            flat[name] = " ".join(value) if isinstance(value, tuple) else value
    return flat


def _csv(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
