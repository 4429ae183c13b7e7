import csv
import dataclasses
import io
import json
import re
from html.parser import HTMLParser

import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.run_page import ladder_csv, points_csv, run_files
from tests.unit.pages.pairs import h100_rows, pair_of, point, renamed

SITE = SiteFacts()
NASTY = '<script>alert("x")</script>'


class Tags(HTMLParser):
    """Every start tag with its attributes, the text of one kind of element, and whether all tags are closed."""

    VOID = {"meta", "link", "br", "path", "line", "rect", "input"}

    def __init__(self, html: str, texts_of: str = ""):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.texts_of = texts_of
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == self.texts_of:
            self.texts.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag
        elif self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] == self.texts_of:
            self.texts[-1] += text

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def many_sections():
    rows = h100_rows()
    rows.append(point(90.0, 4000.0, point_id="failed", valid=False, reasons=["no_success"]))
    rows.append(point(60.0, 99.0, point_id="simulated", provenance="simulated"))
    rows.append(
        point(None, None, point_id="only", workload="fixed_1k1k", percentile=50, valid=False, reasons=["no_success"])
    )
    return build_sections(pair_of(rows))


def html_of(sections=None) -> str:
    return run_files(sections or many_sections(), SITE)["index.html"]


def test_the_sections_of_the_page_stand_in_the_order_of_the_contract():
    assert [text.strip() for text in Tags(html_of(), "h2").texts] == [
        "Quick answer",
        "The frontier",
        "Throughput at every speed target",
        "What serving costs",
        "How it was measured",
        "Questions and answers",
        "Downloads",
        "Other results for this pair",
        "Comparisons",
    ]
    assert Tags(html_of(), "h1").texts == ["Running DeepSeek V4.1 Flash on H100"]


def test_every_tag_is_closed():
    assert Tags(html_of()).open == []


def test_every_table_has_a_caption_and_scopes_and_scrolls_inside_its_own_focusable_region():
    html = html_of()
    tags = Tags(html)
    tables = tags.all("table")
    assert len(tables) == 10
    assert len(tags.all("caption")) == len(tables)
    assert {th.get("scope") for th in tags.all("th")} == {"row", "col", "rowgroup"}
    regions = [div for div in tags.all("div") if div.get("role") == "region"]
    assert len(regions) == len([table for table in tables if table.get("class") != "evidence-table"])
    assert all(div["tabindex"] == "0" and div["aria-label"] for div in regions)


def test_ids_are_unique_and_every_link_inside_the_page_leads_somewhere():
    tags = Tags(html_of())
    ids = [attributes["id"] for _, attributes in tags.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    anchors = {a["href"][1:] for a in tags.all("a") if a["href"].startswith("#")}
    assert anchors <= set(ids)
    assert "p-vllm-75.0-run1" in anchors


def test_nothing_is_loaded_from_outside_and_no_script_stands_in_the_page():
    tags = Tags(html_of())
    loaded = [a["href"] for a in tags.all("link")] + [i.get("src") for i in tags.all("img")]
    assert loaded == ["../../feed.xml", "../../favicon.svg", "../../style.css"]
    scripts = tags.all("script")
    assert {s["src"] for s in scripts if "src" in s} == {"../../calculator.js", "../../page.js"}
    assert {s["type"] for s in scripts if "src" not in s} == {"application/ld+json", "application/json"}


def test_each_row_of_the_ladder_opens_to_the_points_that_it_was_read_from():
    rows = h100_rows()
    facts = {"concurrency": 64, "engine_build": "v0.33.0", "n_repeats": 3, "throughput_std_tok_s_gpu": 120.0}
    rows[3] |= {**facts, "window": "steady_state", "window_s": 60.0, "n_successful": 900, "source_sha256": "ab" * 32}
    (page,) = build_sections(pair_of(rows))
    opened = html_of((page,)).split("Evidence of 50: 1 point")[1].split("</details>")[0]
    for said in (
        'href="#p-vllm-75.0-run1"',
        "<td>64</td>",
        "<td>tp8, 8</td>",
        "vLLM v0.33.0",
        "steady state, while the target concurrency was held, 60.0 s, 900 requests ok",
        "mean of 3 runs, ± 120 tokens/s per GPU",
        "test.json, row 0",
        "abababababab",
    ):
        assert said in opened


def test_what_a_person_declared_is_said():
    rows = [point(50.0, 900.0, declared=["n_gpus", "precision"])]
    html = html_of(build_sections(pair_of(rows)))
    assert "<dt>Declared by a person, not recorded</dt><dd>n_gpus, precision</dd>" in html
    assert "Declared by a person, not recorded in the file: n_gpus, precision." in html


def test_many_points_have_a_page_of_their_own_and_every_cited_one_stays():
    rows = [point(20.0 + n, 9000.0 - 10 * n - (n % 3) * 500, concurrency=n + 1) for n in range(90)]
    sections = build_sections(pair_of(rows))
    files = run_files(sections, SITE)
    n_frontier = len(sections[0].frontier)
    assert files["points/index.html"].count("<tr id=") == 90
    assert n_frontier <= files["index.html"].count("<tr id=") < 90
    tags = Tags(files["index.html"])
    ids = {attributes.get("id") for _, attributes in tags.tags}
    assert {a["href"][1:] for a in tags.all("a") if a["href"].startswith("#")} <= ids


def test_links_are_relative_so_the_site_works_from_any_folder():
    links = [a["href"] for a in Tags(html_of()).all("a")]
    assert not [link for link in links if link.startswith(("/", "http"))]


def test_a_name_with_markup_stays_text_everywhere():
    sections = build_sections(renamed(pair_of(h100_rows()), NASTY))
    html = html_of(sections)
    tags = Tags(html, "h1")
    assert "<script>alert" not in html
    assert tags.texts == [f"Running {NASTY} on H100"]
    assert len([script for script in tags.all("script") if "src" not in script]) == 2


def test_the_structured_data_says_what_the_page_says():
    sections = build_sections(renamed(pair_of(h100_rows()), "</script><b>"))
    (text,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html_of(sections), re.DOTALL)
    page, faq, trail, data = json.loads(text)["@graph"]
    assert (page["@type"], faq["@type"], trail["@type"]) == ("WebPage", "FAQPage", "BreadcrumbList")
    names = [download["contentUrl"].rpartition("/")[2] for download in data["distribution"]]
    assert (data["@type"], names) == ("Dataset", ["data.json", "ladder.csv", "points.csv"])
    assert page["name"] == "Running </script><b> on H100"
    asked = [(q["name"], q["acceptedAnswer"]["text"]) for q in faq["mainEntity"]]
    assert asked == [(q.question, q.answer) for q in sections[0].faq]


def test_a_link_to_a_run_is_http_or_it_is_no_link():
    rows = h100_rows()
    rows[0]["run_url"], rows[-1]["run_url"] = "javascript:alert(1)", "https://example.org/run/7"
    html = html_of(build_sections(pair_of(rows)))
    assert "javascript:" not in html
    assert html.count('href="https://example.org/run/7"') == 2


def test_a_bound_is_marked_and_rounded_to_its_safe_side():
    (row,) = [r for r in html_of().split("<tbody") if r.startswith(' class="primary"') and "11,385" in r]
    assert '<abbr title="at least">≥</abbr> 11,385' in row
    assert '<abbr title="at most">≤</abbr> $0.0286' in row


def test_an_unreachable_row_shows_its_reason_and_no_engine():
    (page,) = build_sections(pair_of([point(50.0, 900.0), point(90.0, 500.0)]))
    row = html_of((page,)).split('<th scope="row">200<')[1].split("</tbody>")[0]
    assert re.findall(r"<td[^>]*>(.*?)</td>", row)[-1].startswith("unreachable: No series reaches 200 tok/s/user")
    assert "Evidence" not in row
    assert "vLLM" not in row


def test_an_invalid_point_is_in_the_table_with_the_number_of_its_reason():
    html = html_of()
    row = html.split('<tr id="p-failed"')[1].split("</tr>")[0]
    assert "invalid" in row
    assert row.endswith("<td>1</td>")
    assert re.search(r'<ol class="notes">\s*<li>No request succeeded\.</li>', html)


def test_every_section_has_its_own_files_and_the_first_has_the_plain_names():
    files = run_files(many_sections(), SITE)
    assert sorted(files) == [
        "agentx-simulated/index.html",
        "data-agentx-simulated.json",
        "data-fixed_1k1k-measured.json",
        "data.json",
        "fixed_1k1k-measured/index.html",
        "frontier-agentx-simulated.svg",
        "frontier.svg",
        "index.html",
        "ladder-agentx-simulated.csv",
        "ladder-fixed_1k1k-measured.csv",
        "ladder.csv",
        "points-agentx-simulated.csv",
        "points-fixed_1k1k-measured.csv",
        "points.csv",
    ]
    assert json.loads(files["data-agentx-simulated.json"])["provenance"] == "simulated"


def test_the_ladder_as_csv_has_both_readings_and_units_in_its_names():
    rows = list(csv.DictReader(io.StringIO(ladder_csv(many_sections()[0]))))
    assert len(rows) == 12
    at_50 = rows[2]
    assert (at_50["target_tok_s_user"], at_50["reading"], at_50["basis"]) == ("50.0", "at_least", "faster_config")
    assert float(at_50["cost_owning_hyperscaler_usd_mtok"]) == pytest.approx(0.0285463, rel=1e-5)
    assert at_50["point_ids"] == "vllm-75.0-run1"
    assert (rows[3]["reading"], rows[3]["engine"]) == ("at_target", "sglang")


def test_the_points_as_csv_have_every_point_and_flat_latencies():
    page = many_sections()[0]
    rows = list(csv.DictReader(io.StringIO(points_csv(page))))
    assert len(rows) == len(page.points) == 8
    (failed,) = [row for row in rows if row["point_id"] == "failed"]
    assert (failed["valid"], failed["reasons"], failed["role"]) == ("False", "no_success", "invalid")
    assert float(rows[-2]["ttft_p90_s"]) > 0


def test_the_site_address_makes_the_page_canonical():
    html = run_files(many_sections(), dataclasses.replace(SITE, base_url="https://example.org/"))["index.html"]
    assert '<link rel="canonical" href="https://example.org/run/deepseek_v4_1_flash-on-h100/">' in html
