"""Stale pages are found by recomputing, whatever the event log says; each with the command that mends it."""

import dataclasses
import datetime as dt
import shutil
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from assets.page_audit import Audited, findings, measured_in_time, pages_are_current
from assets.underived import underived
from pipeline.automation import BUILD_PAGES, PUBLISH_SITE
from pipeline.cell import parse_cell
from pipeline.cli import app
from pipeline.definitions import outside
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from resources.clock import Clock
from tests.graph.conftest import AS_OF, PUBLISHED_READINGS, Graph
from tests.unit.frontier.point_rows import curve

CURVE = ((60.0, 9000.0), (90.0, 7000.0), (150.0, 3000.0))


def audited(graph: Graph, today: str = AS_OF) -> Audited:
    here = outside(graph.home)
    stores = (here.result_store, here.sweep_store, here.page_store)
    return Audited(*stores, graph.book, here.publisher, here.warehouse, dt.date.fromisoformat(today))


def found(graph: Graph, today: str = AS_OF) -> list[str]:
    return [str(finding) for finding in findings(audited(graph, today))]


def older_version(path: Path) -> None:
    pq.write_table(pq.read_table(path).drop_columns(["client_cpu_cores", "clock_mhz"]), path)


@pytest.fixture
def published(graph) -> Graph:
    graph.derive(graph.seed(*CURVE))
    graph.publish()
    return graph


def test_what_was_just_published_is_current_also_on_another_day(published):
    assert found(published) == found(published, "2027-03-01") == []


def test_a_cell_that_was_derived_after_the_page_makes_it_stale_until_it_is_published(published):
    published.derive(published.seed((55.0, 9500.0), name="b.json", run_id="r2", run_date=dt.date(2026, 10, 5)))
    (finding,) = found(published)
    assert finding.startswith("pages of b300: 4 input files (raw/b300/2026-10-05/points.parquet, ")
    assert finding.endswith("are new. Mend: frontier publish")
    published.publish()
    assert found(published) == []


def test_a_price_that_holds_since_the_page_was_made_makes_it_stale(published):
    row = {"gpu": "b300", "tier": "retail", "usd_per_gpu_hour": 5.0, "source": "test"}
    published.book.add({**row, "valid_from": dt.date(2026, 12, 1)})
    (finding,) = found(published)  # the page names the end of the old price
    assert "the price rows of 2026-11-01 are not those that it was made with, as of 2026-11-01" in finding
    published.runs.run("price_cell", partition="b300|2026-10-02")
    published.publish()
    assert found(published, "2026-11-30") == []
    (finding,) = found(published, "2026-12-01")
    assert "the price rows of 2026-12-01 are not" in finding


def test_curves_that_are_not_those_of_their_raw_results_are_found(published):
    cell = parse_cell("b300|2026-10-02")
    readings = published.store.read("frontier", cell, READINGS)
    published.store.write("frontier", cell, READINGS, readings.slice(1))
    words = found(published)
    assert "b300|2026-10-02: its readings are not those of its raw results. Mend: frontier check --mend" in words


def test_a_sweep_that_was_not_derived_is_found(published):
    cell = parse_cell("h100|2026-10-31")
    (row,) = curve((50.0, 900.0), gpu="h100", run_date=cell.run_date)
    audited(published).sweep_store.put(cell, "point", row, {})
    assert found(published) == ["h100|2026-10-31: its imports or sweeps are not derived. Mend: frontier check --mend"]
    published.derive(cell.key)
    assert not [words for words in found(published) if "not derived" in words]


def test_a_site_that_does_not_show_the_stored_page_is_found(published):
    data = published.home / "site/run/deepseek_v4_1_flash-on-b300/data.json"
    data.write_text(data.read_text().replace("9000.0", "9001.0"))
    assert found(published) == [
        "site/run/deepseek_v4_1_flash-on-b300/data.json: is not the stored page. Mend: frontier publish"
    ]
    data.unlink()
    assert found(published) == [
        "site/run/deepseek_v4_1_flash-on-b300/data.json: is not published. Mend: frontier publish"
    ]


def test_a_stored_page_that_was_altered_is_found(published):
    page = published.home / "store/pages/b300/deepseek_v4_1_flash.json"
    page.write_text(page.read_text().replace("9000.0", "9001.0"))
    assert any(
        "its stored page of deepseek_v4_1_flash is not the one that was made" in words for words in found(published)
    )


def test_published_files_that_were_altered_or_deleted_are_named_and_a_publication_mends_them(published):
    site = published.home / "site"
    whole = (site / "index.html").read_bytes()
    (site / "index.html").unlink()  # a copy of its own, whatever else holds its bytes
    (site / "index.html").write_bytes(whole.replace(b"9", b"8"))
    (site / "style.css").unlink()
    (site / "data/points.parquet").unlink()
    assert found(published) == [
        "site: 2 published files (data/points.parquet, style.css) are gone. Mend: frontier publish",
        "site: 1 published file (index.html) is not as published. Mend: frontier publish",
    ]
    published.runs.run("publish_site")
    assert found(published) == []
    assert (site / "index.html").read_bytes() == whole


def test_a_page_that_prints_another_number_than_its_data_is_named_with_both(published):
    page = published.home / "site/run/deepseek_v4_1_flash-on-b300/index.html"
    whole = page.read_text()
    page.unlink()  # a copy of its own, whatever else holds its bytes
    page.write_text(whole.replace("</abbr> 9,000<", "</abbr> 9,010<", 1))
    assert page.read_text() != whole
    assert found(published) == [
        "site/run/deepseek_v4_1_flash-on-b300/index.html: at 30 tokens/s per user it prints ≥ 9,010 as tokens/s per "
        "GPU, not ≥ 9,000. Mend: frontier publish"
    ]
    published.runs.run("publish_site")
    assert found(published) == []
    assert page.read_text() == whole


def test_stored_and_published_pages_that_were_deleted_are_named(published):
    shutil.rmtree(published.home / "store/pages")
    shutil.rmtree(published.home / "site/run")
    said = found(published)
    assert said[0] == "pages of b300: its stored page of deepseek_v4_1_flash is gone. Mend: frontier publish"
    assert "published files (run/deepseek_v4_1_flash-on-b300/" in said[1]
    assert said[2:] == []


def test_damaged_files_that_nothing_derives_are_named_with_what_a_person_can_do(published):
    cell = parse_cell("b300|2026-10-02")
    (row,) = curve((50.0, 900.0), gpu="b300", model="deepseek_v4_1_flash", run_date=cell.run_date)
    audited(published).sweep_store.put(cell, "point", row, {})
    published.derive(cell.key)
    published.publish()
    victims = [min((published.home / "store" / f).rglob("*.parquet")) for f in ("imports", "sweeps", "changes")]
    for victim in victims:
        victim.write_bytes(victim.read_bytes()[:-9])
    said = list(findings(audited(published)))
    assert [finding.where for finding in said] == [str(victim) for victim in victims]
    advice = ("import its source file again", "restore it from a backup", "do not delete it")
    assert all(words in finding.mend for words, finding in zip(advice, said, strict=True))
    assert not any(finding.is_mendable for finding in said)


def test_everything_derived_may_be_deleted_and_publishing_derives_it_from_imports(published, monkeypatch):
    monkeypatch.setenv("FRONTIER_HOME", str(published.home))
    monkeypatch.setenv("FRONTIER_PRICES", str(published.home / "prices.csv"))
    page = published.home / "site/run/deepseek_v4_1_flash-on-b300/ladder.csv"
    before = page.read_bytes()
    for stage in ("raw", "frontier", "costs", "pages"):
        shutil.rmtree(published.home / "store" / stage)
    assert [str(f) for f in findings(audited(published)) if f.cell] == [
        "b300|2026-10-02: its imports or sweeps are not derived. Mend: frontier check --mend"
    ]
    assert CliRunner().invoke(app, ["publish"]).exit_code == 0
    assert page.read_bytes() == before
    assert not [f for f in findings(audited(published)) if f.cell]


def test_importing_one_file_keeps_the_pages_of_cells_that_are_not_derived(published, monkeypatch):
    monkeypatch.setenv("FRONTIER_HOME", str(published.home))
    monkeypatch.setenv("FRONTIER_PRICES", str(published.home / "prices.csv"))
    shutil.rmtree(published.home / "store/raw")
    assert CliRunner().invoke(app, ["import", str(PUBLISHED_READINGS)]).exit_code == 0
    assert found(published, dt.datetime.now(dt.UTC).date().isoformat()) == []
    assert "9000.0" in (published.home / "site/run/deepseek_v4_1_flash-on-b300/data.json").read_text()


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), older_version, lambda path: path.write_bytes(b"PAR1")])
def test_raw_results_that_are_gone_damaged_or_of_an_older_version_are_to_be_derived(published, damage):
    here, cell = audited(published), parse_cell("b300|2026-10-02")
    assert underived(here.result_store, here.sweep_store) == {}
    damage(here.result_store.path("raw", cell, POINTS))
    assert list(underived(here.result_store, here.sweep_store)) == [cell]
    published.derive(cell.key)
    assert found(published) == []


def test_the_command_names_what_is_stale_exits_with_1_and_mends_it(published, monkeypatch):
    monkeypatch.setenv("FRONTIER_HOME", str(published.home))
    monkeypatch.setenv("FRONTIER_PRICES", str(published.home / "prices.csv"))
    published.derive(published.seed((55.0, 9500.0), name="b.json", run_id="r2", run_date=dt.date(2026, 10, 5)))
    cell = parse_cell("b300|2026-10-02")
    published.store.write("frontier", cell, READINGS, published.store.read("frontier", cell, READINGS).slice(1))
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code == 1
    assert "pages of b300: " in result.stdout
    assert "3 things stale." in result.stdout
    result = CliRunner().invoke(app, ["check", "--mend"])
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "Every page is made from what is stored now.")


def test_the_checks_warn_and_run_once_a_day_and_not_with_their_asset(published):
    here = outside(published.home)
    clock = Clock(fixed_day="2026-12-01")
    result = measured_in_time(page_store=here.page_store, clock=clock)
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert result.description == "b300 was measured on 2026-10-02 and was due by 2026-11-01"
    assert measured_in_time(page_store=here.page_store, clock=Clock(fixed_day=AS_OF)).passed
    stores = {name: getattr(here, name) for name in ("result_store", "sweep_store", "page_store", "warehouse")}
    result = pages_are_current(**stores, publisher=here.publisher, prices=published.book, clock=clock)
    assert result.passed
    for job in (BUILD_PAGES, PUBLISH_SITE):
        names = {
            key.name for key in published.definitions.resolve_job_def(job).asset_layer.asset_graph.asset_check_keys
        }
        assert not names & {"pages_are_current", "measured_in_time"}


def test_a_day_later_the_automation_asks_for_both_checks_and_for_no_asset(published):
    start = dt.datetime(2026, 11, 1, 4, tzinfo=dt.UTC)
    first = dg.evaluate_automation_conditions(
        defs=published.definitions, instance=published.instance, evaluation_time=start
    )
    second = dg.evaluate_automation_conditions(
        defs=published.definitions,
        instance=published.instance,
        cursor=first.cursor,
        evaluation_time=start + dt.timedelta(hours=1),
    )
    asked = {result.key for result in second.results if result.true_subset.size}
    assert {"pages_are_current", "measured_in_time"} == {k.name for k in asked if isinstance(k, dg.AssetCheckKey)}


def test_the_measured_readings_of_a_page_count_and_imported_ones_do_not(graph):
    graph.derive(graph.seed(*CURVE, provenance="imported"))
    graph.publish()
    here = dataclasses.replace(audited(graph))
    assert measured_in_time(page_store=here.page_store, clock=Clock(fixed_day="2028-01-01")).passed
