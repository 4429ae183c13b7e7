import re
import xml.etree.ElementTree as ET

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.chart_theme import DASHES, SERIES_COLOURS
from pipeline.pages.charts import frontier_svg
from tests.unit.pages.pairs import h100_rows, pair_of, point, renamed

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(rows, name: str = "DeepSeek V4.1 Flash") -> str:
    return frontier_svg(build_sections(renamed(pair_of(rows), name))[0])


def titles(svg: str) -> list[str]:
    return [title.text for title in ET.fromstring(svg).iter(f"{SVG}title")]


def test_the_same_page_gives_the_same_bytes():
    assert svg_of(h100_rows()) == svg_of(h100_rows())


def test_every_valid_point_is_a_mark_with_its_configuration_and_no_invalid_one_is():
    rows = [*h100_rows(), point(90.0, 4000.0, point_id="bad", valid=False, reasons=["no_success"])]
    words = titles(svg_of(rows))
    assert len(words) == 7
    assert "vLLM fp4, 11,385 tokens/s per GPU, 75 tokens/s per user, topology tp8, concurrency 13" in words[-4]
    assert not any("4,000" in text for text in words)


def test_the_picture_has_a_name_and_a_description_and_is_one_image():
    root = ET.fromstring(svg_of(h100_rows()))
    assert root.get("role") == "img"
    assert root.get("aria-label").startswith("Throughput per GPU against speed per user: DeepSeek V4.1 Flash on H100")
    assert root.find(f"{SVG}desc").text.startswith("2 series; throughput falls as the speed rises. SGLang fp4")


def test_the_picture_has_a_fixed_ratio_and_asks_for_nothing_from_outside():
    svg = svg_of(h100_rows())
    root = ET.fromstring(svg)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert not re.search(r'href="[^#]|src=|url\(|@import', svg)


@pytest.mark.parametrize("provenance", ["imported", "simulated"])
def test_the_chart_names_data_that_was_not_measured(provenance):
    root = ET.fromstring(svg_of([{**row, "provenance": provenance} for row in h100_rows()]))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert provenance.upper() in texts
    assert root.get("aria-label").endswith(f"({provenance})")


def test_targets_far_beyond_the_data_have_no_guide():
    texts = [t.text for t in ET.fromstring(svg_of([point(20.0, 900.0), point(80.0, 500.0)])).iter(f"{SVG}text")]
    assert {"30", "50", "75"} <= set(texts)
    assert not {"100", "150"} & set(texts)


def test_series_differ_in_colour_and_dash_and_engines_in_shape():
    svg = svg_of(h100_rows())
    lines = set(re.findall(r'stroke="(#[0-9a-f]+)" stroke-width="2\.5"(?: stroke-dasharray="([\d,]+)")?', svg))
    assert lines == {(SERIES_COLOURS[0], ""), (SERIES_COLOURS[1], ",".join(map(str, DASHES[1])))}
    assert set(re.findall(r'<use href="#([^"]+)"', svg)) == {"mark-circle", "mark-square"}


def test_a_name_with_markup_stays_text():
    svg = svg_of(h100_rows(), name='<script>alert("x")</script>')
    assert "<script" not in svg
    assert ET.fromstring(svg).get("aria-label").count("<script>") == 1


def test_an_engine_name_with_markup_stays_text_in_legend_and_titles():
    rows = [{**row, "engine": '<b>&"</text><script>'} for row in h100_rows()]
    root = ET.fromstring(svg_of(rows))
    assert {element.tag.removeprefix(SVG) for element in root.iter()}.isdisjoint({"script", "b"})
    assert '<b>&"</text><script> fp4' in {text.text for text in root.iter(f"{SVG}text")}


def test_a_page_without_a_frontier_has_no_chart():
    assert svg_of([point(None, None, valid=False, reasons=["no_success"])]) == ""
