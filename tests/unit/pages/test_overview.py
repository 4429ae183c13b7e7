import dataclasses
import json
import re
import xml.etree.ElementTree as ET

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.checks import dead_links, page_links
from pipeline.pages.compare_page import compare_files
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.overview import overview, overview_json, robots_txt, sitemap_xml
from pipeline.pages.overview_page import render_gpu_page, render_model_page, render_overview
from pipeline.pages.page import dumped
from pipeline.pages.site_files import SiteContents, pair_files, site_files
from tests.unit.pages.pairs import h100_rows, pair_of, point, price, renamed

SITE = SiteFacts()
KNOWN = SiteFacts(base_url="https://example.org/f/")


def pairs():
    h100 = [*h100_rows(), point(60.0, 99.0, point_id="simulated", provenance="simulated")]
    b300 = [point(50.0, 300000.0, gpu="b300"), point(80.0, 200000.0, gpu="b300")]
    h200 = [point(None, None, gpu="h200", point_id="bad", valid=False, reasons=["no_success"])]
    return [
        build_sections(pair_of(h100)),
        build_sections(pair_of(b300, [price("owning_hyperscaler", 2.26, "b300")])),
        build_sections(pair_of(h200, [])),
    ]


def whole_site(facts):
    """Every file but those of the pairs."""
    compared = compare_files(pairs(), facts)
    return compared | texts_of(pairs(), compared, facts)


def texts_of(pairs, compared, facts):
    return {path: "".join(parts) for path, parts in site_files(SiteContents(pairs), compared, facts)}


@pytest.fixture(scope="module")
def found():
    return overview(pairs())


def test_one_row_per_model_workload_and_provenance_and_one_column_per_gpu(found):
    assert [(row.model.slug, row.workload.slug, row.provenance) for row in found.rows] == [
        ("deepseek_v4_1_flash", "agentx", "measured"),
        ("deepseek_v4_1_flash", "agentx", "simulated"),
    ]
    assert [gpu.slug for gpu in found.gpus] == ["b300", "h100", "h200"]


def test_a_cell_is_the_headline_of_its_page(found):
    cell = found.rows[0].cells[1]
    assert (cell.throughput_tok_s_gpu, cell.basis, cell.engine) == (11385.0, "faster_config", "vLLM")
    assert cell.path == "run/deepseek_v4_1_flash-on-h100/"
    assert found.rows[1].cells[1].path == "run/deepseek_v4_1_flash-on-h100/agentx-simulated/"


def test_the_json_in_parts_is_that_of_the_whole(found):
    rows = [{**vars(row), "cells": row.cells} for row in found.rows]
    for row in rows:
        del row["packed"]
    assert "".join(overview_json(found)) == dumped({**vars(found), "rows": rows})
    assert "".join(overview_json(overview([]))) == dumped(vars(overview([])))


def test_every_gap_has_a_reason(found):
    empty = [cell for row in found.rows for cell in row.cells if cell.throughput_tok_s_gpu is None]
    assert [(cell.gpu, cell.reason) for cell in empty] == [
        ("h200", "No point of this page is valid."),
        ("b300", "No point of this model on this GPU under this workload and provenance."),
        ("h200", "No point of this model on this GPU under this workload and provenance."),
    ]
    assert all(cell.engine is None and cell.cost_usd_mtok is None for cell in empty)


def test_the_overview_names_simulated_rows_and_marks_bounds(found):
    html = "".join(render_overview(found, SITE))
    assert '<span class="tag simulated">simulated</span>' in html
    assert "≥ 11,385" in html
    assert "≤ $0.0286" in html
    assert "no valid point" in html


def test_a_model_page_has_its_gpus_and_a_gpu_page_its_models(found):
    model = "".join(render_model_page(found, "deepseek_v4_1_flash", SITE))
    gpu = "".join(render_gpu_page(found, "h100", SITE))
    assert model.count('<th scope="col" class="n">') == 3
    assert gpu.count('<th scope="col" class="n">') == 1
    assert "300,000" not in gpu


def test_no_page_is_an_overview_too():
    empty = overview([])
    assert (empty.as_of, empty.gpus, empty.rows) == (None, (), ())
    assert "There is no point to publish yet." in "".join(render_overview(empty, SITE))


def test_a_name_with_markup_stays_text_on_the_overview():
    sections = build_sections(renamed(pair_of(h100_rows()), "<script>"))
    assert "<script>" not in "".join(render_overview(overview([sections]), SITE))


def test_every_link_of_the_whole_site_leads_somewhere():
    files = whole_site(SITE)
    for sections in pairs():
        files |= pair_files(sections, SITE)
    pages = [(path, text) for path, text in files.items() if path.endswith(".html")]
    assert len(pages) == 1 + 1 + 3 + 1 + 4 + 3
    elsewhere = {"data/index.html", "changes/index.html", "feed.xml"}
    assert dead_links((page_links(*page) for page in pages), {*files, *elsewhere}) == []


def test_the_same_pages_give_the_same_files():
    assert whole_site(SITE) == whole_site(SITE)


def test_the_sitemap_has_every_page_of_the_site_but_lists_of_points():
    files = whole_site(KNOWN)
    pages = {path.removesuffix("index.html") for path in files if path.endswith("index.html")}
    for sections in pairs():
        pages |= {
            path.removesuffix("index.html") for path in pair_files(sections, KNOWN) if path.endswith("/index.html")
        }
    locations = [element.text for element in ET.fromstring(files["sitemap.xml"]).iter() if element.tag.endswith("loc")]
    assert {location.removeprefix(KNOWN.base_url) for location in locations} == pages | {"changes/", "data/"}


def test_the_sitemap_lists_each_page_once_with_its_whole_address():
    text = "".join(sitemap_xml(["run/b/", "", "run/a/", "run/a/"], KNOWN))
    locations = [element.text for element in ET.fromstring(text).iter() if element.tag.endswith("loc")]
    assert locations == ["https://example.org/f/", "https://example.org/f/run/a/", "https://example.org/f/run/b/"]


def test_robots_name_the_sitemap_only_where_the_address_is_known():
    assert robots_txt(KNOWN).endswith("Sitemap: https://example.org/f/sitemap.xml\n")
    assert "Sitemap" not in robots_txt(SITE)


def test_a_page_not_found_links_home_from_any_depth():
    assert 'href="https://example.org/f/"' in texts_of([], [], KNOWN)["404.html"]
    assert 'href="/"' in texts_of([], [], dataclasses.replace(KNOWN, base_url=None))["404.html"]


def test_the_best_of_a_row_is_bold_and_says_of_how_many(found):
    html = "".join(render_overview(found, SITE))
    assert '<a class="cell v best" href="./run/deepseek_v4_1_flash-on-b300/">300,000</a>' in html
    assert "highest of 2 and cheapest of 2" in html


def test_a_model_page_ranks_its_gpus_by_throughput_and_by_cost(found):
    rankings = "".join(render_model_page(found, "deepseek_v4_1_flash", SITE)).split("<h2>Rankings</h2>")[1]
    by_throughput, by_cost = rankings.split("<ol>")[1:3]
    assert by_throughput.index("B300") < by_throughput.index("H100")
    assert "≥ 11,385 tokens/s per GPU" in by_throughput
    assert "≤ $0.0286 per million total tokens, Owning at Large Hyperscaler Volume" in by_cost


def test_what_the_script_reads_has_every_target_and_cannot_end_its_element():
    sections = build_sections(pair_of([{**row, "engine": "</script><b>"} for row in h100_rows()]))
    html = "".join(render_overview(overview([sections]), SITE))
    (text,) = re.findall(r'<script type="application/json" id="readings">(.*?)</script>', html, re.DOTALL)
    ((cell,),) = json.loads(text)
    assert [len(reading) for reading in cell] == [4] * 6
    assert cell[1][0] == 11385.0
    assert cell[1][2] == "</script><b> fp4"
