import csv
import datetime as dt
import io
import json
import re

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml

from pipeline.pages.data_page import DataFile, citation_cff, render_data_page
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.policy import policy_breaches
from pipeline.pages.published_tables import PUBLISHED, checksums, columns_csv, write_csv
from pipeline.tables.points import POINTS
from tests.unit.pages.pairs import point

KNOWN = SiteFacts(base_url="https://example.org/f/")
DAY = dt.date(2026, 10, 10)
FILES = {"points.parquet": DataFile(1234, "ab" * 32, 7), "published.duckdb": DataFile(99, "cd" * 32, None)}

SUFFIXES = {
    "tok": "_tok",
    "tok/s": "_tok_s",
    "tok/s/GPU": "_tok_s_gpu",
    "tok/s/user": "_tok_s_user",
    "req/s": "_req_s",
    "s": "_s",
    "W": "_w_gpu",
    "J/tok": "_j_output_tok",
    "MHz": "_mhz",
    "°C": "_c",
    "USD/GPU/h": "usd_per_gpu_hour",
}


def test_every_column_of_every_download_is_documented_with_unit_and_meaning():
    html = render_data_page(FILES, DAY, KNOWN)
    lines = list(csv.DictReader(io.StringIO(columns_csv())))
    assert len(lines) == sum(len(published.table.columns) for published in PUBLISHED)
    for line in lines:
        assert line["meaning"]
        assert f"<code>{line['column']}</code>" in html


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.file)
def test_the_name_of_a_column_with_a_unit_ends_in_it(published):
    for column in published.table.columns:
        if column.unit in SUFFIXES:
            assert column.name.endswith(SUFFIXES[column.unit]), column.name
        elif column.unit == "USD/Mtok":
            assert "usd_mtok" in column.name
        else:
            assert column.unit in ("", "1", "count", "percentile", "tok/s/GPU per tok/s/user"), column.name


def csv_of(rows):
    sink = io.BytesIO()
    write_csv(rows, sink)
    return sink.getvalue()


def test_csv_holds_what_parquet_holds():
    rows = POINTS.from_rows([point(50.0, 9000.0, reasons=["a", "b"], notes=['say "x", y'], valid=False)])
    text = csv_of(rows)
    (line,) = csv.DictReader(io.StringIO(text.decode()))
    assert list(line) == list(POINTS.names)
    assert (line["throughput_tok_s_gpu"], line["reasons"], line["notes"]) == ("9000", "a b", 'say "x", y')
    assert (line["valid"], line["run_date"], line["ttft_p99_s"]) == ("false", "2026-09-24", "")
    assert csv_of(rows) == text
    read = pa.csv.read_csv(io.BytesIO(text))
    assert read["tpot_p90_s"].to_pylist() == rows["tpot_p90_s"].to_pylist()


def test_csv_that_is_written_in_several_steps_is_that_of_one(monkeypatch):
    rows = POINTS.from_rows([point(50.0 + n, 9000.0, reasons=["a"] * n) for n in range(5)])
    whole = csv_of(rows)
    monkeypatch.setattr("pipeline.pages.published_tables.N_ROWS_AT_ONCE", 2)
    assert csv_of(rows) == whole
    assert csv_of(rows.slice(0, 0)).count(b"\n") == 1


def test_checksums_are_read_by_sha256sum():
    assert checksums({"b": "1" * 64, "a": "0" * 64}) == f"{'0' * 64}  a\n{'1' * 64}  b\n"


def test_the_page_links_each_file_and_names_its_hash_and_rows():
    html = render_data_page(FILES, DAY, KNOWN)
    assert '<a href="points.parquet">points.parquet</a></th><td class="n">7</td>\n<td class="n">1,234</td>' in html
    assert "ab" * 32 in html
    assert policy_breaches("data/index.html", html) == []


def test_the_dataset_is_described_for_machines():
    html = render_data_page(FILES, DAY, KNOWN)
    (text,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, flags=re.DOTALL)
    found = json.loads(text)
    assert (found["@type"], found["url"], found["dateModified"]) == (
        "Dataset",
        "https://example.org/f/data/",
        "2026-10-10",
    )
    assert [d["contentUrl"] for d in found["distribution"]] == [f"https://example.org/f/data/{name}" for name in FILES]
    assert found["distribution"][0]["sha256"] == "ab" * 32


def test_the_citation_file_is_a_citation_file():
    found = yaml.safe_load(citation_cff(DAY, KNOWN))
    assert {"cff-version", "title", "message", "authors"} <= set(found)
    assert (found["type"], found["date-released"], found["url"]) == ("dataset", DAY, "https://example.org/f/")
    assert set(yaml.safe_load(citation_cff(None, SiteFacts()))) & {"date-released", "url"} == set()
