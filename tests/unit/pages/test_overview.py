import dataclasses
import xml.etree.ElementTree as ET

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.checks import dead_links
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.overview import (
    overview,
    render_gpu_page,
    render_model_page,
    render_overview,
    robots_txt,
    sitemap_xml,
)
from pipeline.pages.site_files import pair_files, site_files
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


@pytest.fixture(scope="module")
def found():
    return overview(page for sections in pairs() for page in sections)


def test_one_row_per_model_workload_and_provenance_and_one_column_per_gpu(found):
    assert [(row.model.slug, row.workload.slug, row.provenance) for row in found.rows] == [
        ("deepseek_v4_1_flash", "agentx", "measured"),
        ("deepseek_v4_1_flash", "agentx", "simulated"),
    ]
    assert [gpu.slug for gpu in found.gpus] == ["b300", "h100", "h200"]


def test_a_cell_is_the_headline_of_its_page(found):
    cell = found.rows[0].cells[1]
    assert (cell.throughput_tok_s_gpu, cell.basis, cell.engine) == (11385.0, "faster_config", "vLLM")
    assert cell.path == "run/deepseek_v4_1_flash-on-h100/#agentx-measured"


def test_every_gap_has_a_reason(found):
    empty = [cell for row in found.rows for cell in row.cells if cell.throughput_tok_s_gpu is None]
    assert [(cell.gpu, cell.reason) for cell in empty] == [
        ("h200", "No point of this page is valid."),
        ("b300", "No point of this model on this GPU under this workload and provenance."),
        ("h200", "No point of this model on this GPU under this workload and provenance."),
    ]
    assert all(cell.engine is None and cell.cost_usd_mtok is None for cell in empty)


def test_the_overview_names_simulated_rows_and_marks_bounds(found):
    html = render_overview(found, SITE)
    assert '<span class="tag">simulated</span>' in html
    assert "≥ 11,385" in html
    assert "≤ $0.0286" in html
    assert "no valid point" in html


def test_a_model_page_has_its_gpus_and_a_gpu_page_its_models(found):
    model = render_model_page(found, "deepseek_v4_1_flash", SITE)
    gpu = render_gpu_page(found, "h100", SITE)
    assert model.count('<th scope="col" class="n">') == 3
    assert gpu.count('<th scope="col" class="n">') == 1
    assert "300,000" not in gpu


def test_no_page_is_an_overview_too():
    empty = overview([])
    assert (empty.as_of, empty.gpus, empty.rows) == (None, (), ())
    assert "There is no point to publish yet." in render_overview(empty, SITE)


def test_a_name_with_markup_stays_text_on_the_overview():
    sections = build_sections(renamed(pair_of(h100_rows()), "<script>"))
    assert "<script>" not in render_overview(overview(sections), SITE)


def test_every_link_of_the_whole_site_leads_somewhere():
    files = site_files(pairs(), SITE)
    for sections in pairs():
        files |= pair_files(sections, SITE)
    pages = [(path, text) for path, text in files.items() if path.endswith(".html")]
    assert len(pages) == 1 + 1 + 3 + 1 + 3
    assert dead_links(pages, {*files, "data/published.duckdb"}) == []


def test_the_same_pages_give_the_same_files():
    assert site_files(pairs(), SITE) == site_files(pairs(), SITE)


def test_the_sitemap_lists_each_page_once_with_its_whole_address():
    text = sitemap_xml(["run/b/", "", "run/a/", "run/a/"], KNOWN)
    locations = [element.text for element in ET.fromstring(text).iter() if element.tag.endswith("loc")]
    assert locations == ["https://example.org/f/", "https://example.org/f/run/a/", "https://example.org/f/run/b/"]


def test_robots_name_the_sitemap_only_where_the_address_is_known():
    assert robots_txt(KNOWN).endswith("Sitemap: https://example.org/f/sitemap.xml\n")
    assert "Sitemap" not in robots_txt(SITE)


def test_a_page_not_found_links_home_from_any_depth_where_the_address_is_known():
    assert 'href="https://example.org/f/"' in site_files([], KNOWN)["404.html"]
    assert 'href="./"' in site_files([], dataclasses.replace(KNOWN, base_url=None))["404.html"]
