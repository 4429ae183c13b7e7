"""The HTML of comparisons, and where it lies. What is compared, and what follows from it, is compare.py's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.pages import formats
from pipeline.pages.compare import ComparedReading, Comparison, compare_gpus, compare_within
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import ModelRef, Page
from pipeline.pages.paths import compare_path, model_path, root_from, run_path
from pipeline.pages.templates_engine import environment


@dataclass(frozen=True)
class ComparePage:
    """One page of comparisons: two GPUs, or what there is to compare on one. ``path`` is from the site's root."""

    path: str
    title: str
    model: ModelRef
    gpus: tuple[tuple[str, str], ...]
    comparisons: tuple[Comparison, ...]


def compare_files(model: Sequence[Sequence[Page]], site: SiteFacts) -> dict[str, str]:
    """Every comparison of one model by path, and the page that lists them. ``model``: its sections, GPU by GPU."""
    pages = compare_pages(model)
    ref = model[0][0].model
    folder = compare_path(ref.slug)
    shared = {"site": site, "model": ref, "model_path": model_path(ref.slug)}
    files = {
        f"{page.path}index.html": _rendered("compare.html", page.path, shared | {"page": page, **_words()})
        for page in pages
    }
    files[f"{folder}index.html"] = _rendered("compare_list.html", folder, shared | {"pages": pages})
    return files


def compare_pages(model: Sequence[Sequence[Page]]) -> list[ComparePage]:
    """The pages with something to compare: every pair of GPUs by name, then every GPU on its own."""
    ordered = sorted(model, key=lambda sections: (sections[0].gpu.name, sections[0].gpu.slug))
    pairs = (_gpus(first, second) for first, second in itertools.combinations(ordered, 2))
    return [page for page in (*pairs, *map(_within, ordered)) if page.comparisons]


def _gpus(first: Sequence[Page], second: Sequence[Page]) -> ComparePage:
    one, two = first[0], second[0]
    return ComparePage(
        path=f"{compare_path(one.model.slug)}{one.gpu.slug}-vs-{two.gpu.slug}/",
        title=f"{one.model.name}: {one.gpu.name} against {two.gpu.name}",
        model=one.model,
        gpus=tuple((page.gpu.name, run_path(page.model.slug, page.gpu.slug)) for page in (one, two)),
        comparisons=compare_gpus(first, second),
    )


def _within(sections: Sequence[Page]) -> ComparePage:
    own = sections[0]
    return ComparePage(
        path=f"{compare_path(own.model.slug)}on-{own.gpu.slug}/",
        title=f"{own.model.name} on {own.gpu.name}: engines, formats, runs and builds",
        model=own.model,
        gpus=((own.gpu.name, run_path(own.model.slug, own.gpu.slug)),),
        comparisons=tuple(found for page in sections for found in compare_within(page)),
    )


COMPARED = {"gpus": "GPUs", "engines": "Engines", "formats": "Checkpoint formats", "runs": "Runs", "builds": "Builds"}


def _words() -> dict[str, object]:
    return {"sentence": sentence, "verdict_words": verdict_words, "COMPARED": COMPARED}


def _rendered(template: str, path: str, facts: dict[str, object]) -> str:
    return environment().get_template(template).render(root=root_from(path), path=path, **facts)


def sentence(found: Comparison) -> str:
    """The comparison in one sentence, at its own target."""
    row = next(row for row in found.rows if row.target_tok_s_user == found.about_tok_s_user)
    assert row.ratio is not None, "a comparison is about a target that both sides serve"
    text = (
        f"At {formats.speed(row.target_tok_s_user)} tokens/s per user, {found.first.label} serves "
        f"{formats.ratio(row.ratio)} times the tokens per GPU of {found.second.label}"
    )
    if row.cost_ratio is not None:
        text += f", at {formats.ratio(row.cost_ratio)} times the cost per token"
    return f"{text}: {verdict_words(row, found)}."


def verdict_words(row: ComparedReading, found: Comparison) -> str:
    """The verdict of one row, with the side that it speaks for."""
    first, second = found.first.label, found.second.label
    return {
        "first": f"{first} is better",
        "second": f"{second} is better",
        "within_noise": "within noise",
        "equal": "equal",
        "first_unknown": f"{first} is higher, spread unknown",
        "second_unknown": f"{second} is higher, spread unknown",
        "no_value": "not comparable: one side does not reach this speed",
    }[row.verdict]
