"""The HTML pages of one model on one GPU, and their downloads as text. Writing the files is a resource's."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import AtLeast, AtTarget, LadderRow, Page, to_json
from pipeline.pages.paths import (
    POINTS_FOLDER,
    compare_path,
    gpu_path,
    model_path,
    root_from,
    run_path,
    section_files,
    section_folder,
    share_picture_file,
)
from pipeline.pages.point_record import PointRecord
from pipeline.pages.section_view import SectionView, all_points, section_view
from pipeline.pages.structured_data import structured_data
from pipeline.pages.templates_engine import environment


def run_files(sections: tuple[Page, ...], site: SiteFacts) -> dict[str, str]:
    """Every file of a run page's folder by name: pages, and of each section data, ladder, points and chart.

    The first section is the page; every other one has a page of its own below it, and so has a list of points that is
    too long for its page. Raises ValueError for no section.
    """
    files: dict[str, str] = {}
    for page in sections:
        view = section_view(page, sections[0], site.base_url)
        files |= _pages(view, sections, site)
        texts = {"data": to_json(page), "ladder": ladder_csv(page), "points": points_csv(page)}
        texts["frontier"] = view.frontier_file
        files |= {name: texts[kind] for kind, name in section_files(page, of=sections[0]).items()}
    return files


def _pages(view: SectionView, sections: Sequence[Page], site: SiteFacts) -> dict[str, str]:
    page, folder = view.page, section_folder(view.page, of=sections[0])
    files = {f"{folder}index.html": _rendered("run_page.html", page, sections, site, view=view)}
    if view.points.n_left_out:
        path = f"{folder}{POINTS_FOLDER}"
        files[f"{path}index.html"] = _rendered("points.html", page, sections, site, table=all_points(page), below=path)
    return files


def _rendered(template: str, page: Page, sections: Sequence[Page], site: SiteFacts, **more: Any) -> str:
    own, *_ = sections
    run = run_path(own.model.slug, own.gpu.slug)
    path = run + more.get("below", section_folder(page, of=own))
    here = root_from(path)
    return (
        environment()
        .get_template(template)
        .render(
            site=site,
            root=here,
            run=here + run,
            path=path,
            page=page,
            own=page is own,
            others=[(other, section_folder(other, of=own)) for other in sections if other is not page],
            model_path=model_path(own.model.slug),
            compare_path=compare_path(own.model.slug),
            gpu_path=gpu_path(own.gpu.slug),
            picture=run + share_picture_file(page, of=own) if page.frontier else None,
            structured_data=structured_data(page, own, site),
            **more,
        )
    )


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
