"""Publishing as a whole: what is recorded, what is written again, what the query gives, what a failure leaves."""

import dataclasses
import datetime as dt
import json
import weakref

import duckdb
import pytest

from pipeline.definitions import build_defs
from pipeline.errors import FrontierError, StoreError
from resources.change_log import ChangeLog
from resources.clock import Clock
from resources.page_renderer import Drawer, PageRenderer
from resources.site import SiteFolder
from tests.graph.conftest import AS_OF

CURVE = ((60.0, 9000.0), (90.0, 7000.0), (150.0, 3000.0))


def published(graph, *pairs, **columns):
    graph.derive(graph.seed(*pairs, **columns))
    return graph.publish()


def site_of(graph):
    root = graph.home / "site"
    return {str(p.relative_to(root)): p for p in root.rglob("*") if p.is_file()}


def test_publishing_twice_records_nothing_new_and_writes_no_file_again(graph):
    first = published(graph, *CURVE)
    assert first["n_changes"] == 5
    inodes = {name: path.stat().st_ino for name, path in site_of(graph).items()}
    log = ChangeLog(root_dir=str(graph.home / "store")).path
    before = log.read_bytes()
    second = graph.publish()
    assert (second["n_changes"], second["n_files_written"]) == (0, 0)
    assert {name: path.stat().st_ino for name, path in site_of(graph).items()} == inodes
    assert log.read_bytes() == before


def two_pairs(graph):
    published(graph, *CURVE)
    published(graph, *CURVE, model="gpt_oss_120b", name="b.json", run_id="r2")
    return {name: path.read_bytes() for name, path in site_of(graph).items()}


def test_a_pair_is_drawn_again_only_where_its_page_changed(graph):
    before = two_pairs(graph)
    assert graph.publish()["n_pairs_drawn"] == 0
    graph.derive(graph.seed((55.0, 9500.0), name="c.json", run_id="r3"))
    done = graph.publish()
    assert (done["n_pairs_drawn"], done["n_pairs"]) == (1, 2)
    after = {name: path.read_bytes() for name, path in site_of(graph).items()}
    mine = {name for name in before if name.startswith("run/gpt_oss_120b-on-b300/")}
    assert len(mine) > 5
    assert all(after[name] == before[name] for name in mine)
    assert after["run/deepseek_v4_1_flash-on-b300/data.json"] != before["run/deepseek_v4_1_flash-on-b300/data.json"]


def test_no_page_is_held_after_the_next_one_has_come(graph, monkeypatch):
    published(graph, *CURVE)
    pages = graph.home / "store/pages/b300"
    text = (pages / "deepseek_v4_1_flash.json").read_text()
    for n in range(5):
        (pages / f"m{n}.json").write_text(text.replace('"slug": "deepseek_v4_1_flash"', f'"slug": "m{n}"'))
    given, n_alive = [], []

    def watched(drawer, files, pairs=Drawer.pairs):
        for pair in pairs(drawer, files):
            given.extend(map(weakref.ref, pair.sections))
            n_alive.append(sum(page() is not None for page in given))
            yield pair

    monkeypatch.setattr(Drawer, "pairs", watched)
    assert graph.runs.run("publish_site")["n_pages"] == 6
    assert len(n_alive) == 6
    assert max(n_alive) == 2
    assert all(page() is None for page in given)


def test_a_changed_template_a_changed_file_and_a_lost_memory_are_drawn_again(graph, monkeypatch):
    before = two_pairs(graph)
    page = graph.home / "site/run/gpt_oss_120b-on-b300/index.html"
    page.write_text("changed by hand")
    assert graph.publish()["n_pairs_drawn"] == 1
    (graph.home / ".site.drawings.json").write_text('{"b300/gpt_oss_120b": "no drawing"}')
    assert graph.publish()["n_pairs_drawn"] == 2
    monkeypatch.setattr("resources.page_renderer.drawing_code", lambda: "another template")
    assert graph.publish()["n_pairs_drawn"] == 2
    assert {name: path.read_bytes() for name, path in site_of(graph).items()} == before


def test_a_page_that_was_taken_over_still_has_to_lead_somewhere(graph, monkeypatch):
    published(graph, *CURVE)
    with monkeypatch.context() as patch:
        patch.setattr("assets.site.site_files", lambda *_: iter([]))
        with pytest.raises(StoreError, match="leads nowhere"):
            graph.publish()


def test_a_new_price_is_in_the_feed_with_the_price_row_that_it_comes_from(graph):
    cell = graph.seed(*CURVE)
    graph.derive(cell)
    graph.publish()
    row = {"gpu": "b300", "tier": "retail", "usd_per_gpu_hour": 5.0, "source": "test"}
    graph.book.add({**row, "valid_from": dt.date(2026, 10, 20)})
    graph.runs.run("price_cell", partition=cell)
    done = graph.publish()
    assert done["n_changes"] == 5
    feed = (graph.home / "site/feed.xml").read_text()
    assert "Another price row holds (b300/retail/2026-08-15 → b300/retail/2026-10-20)." in feed
    assert "b300/retail/2026-10-20" in (graph.home / "site/changes/index.html").read_text()


def test_another_build_of_a_newer_run_is_in_the_feed(graph):
    published(graph, *CURVE, engine_build="vllm 1")
    later = [(x, y * 1.1) for x, y in CURVE]
    published(graph, *later, name="b.json", run_id="r2", run_date=dt.date(2026, 10, 5), engine_build="vllm 2")
    feed = (graph.home / "site/feed.xml").read_text()
    assert "at least 9,000 tokens/s per GPU → at least 9,900 tokens/s per GPU (+10.0%)" in feed
    assert "Another build of the engine (vllm 1 → vllm 2)." in feed


def test_a_failed_build_leaves_the_old_site_and_the_old_log(graph, monkeypatch):
    published(graph, *CURVE)
    before = {name: path.read_bytes() for name, path in site_of(graph).items()}
    log = ChangeLog(root_dir=str(graph.home / "store")).read()
    monkeypatch.setattr(SiteFolder, "pages", lambda *_: iter([("index.html", '<a href="nowhere/">x</a>')]))
    graph.derive(graph.seed((55.0, 9500.0), name="c.json", run_id="r3"))
    with pytest.raises(StoreError, match="nowhere/ leads nowhere"):
        graph.publish()
    assert {name: path.read_bytes() for name, path in site_of(graph).items()} == before
    assert ChangeLog(root_dir=str(graph.home / "store")).read().equals(log)


def test_the_published_copy_of_a_damaged_log_takes_its_place(graph):
    published(graph, *CURVE)
    log = ChangeLog(root_dir=str(graph.home / "store"))
    before = log.read()
    log.path.write_bytes(log.path.read_bytes()[:100])
    with pytest.raises(StoreError, match="put that in its place"):
        graph.publish()
    log.path.write_bytes((graph.home / "site/data/changes.parquet").read_bytes())
    assert graph.publish()["n_changes"] == 0
    assert log.read().equals(before)


@pytest.mark.parametrize("day", ["2026-11-02", "9999-12-31", "soon", "1900-01-01"])
def test_pages_as_of_a_day_after_today_or_before_any_run_are_refused_and_others_made(graph, day):
    graph.derive(graph.seed(*CURVE))
    with pytest.raises(FrontierError, match=r"as of .*expected YYYY-MM-DD, 2024-01-01 to 2026-11-01 \(today, UTC\)"):
        graph.runs.run("build_pages", partition="b300", config={"page_data": {"as_of": day}})
    for fine in (AS_OF, "2026-10-31"):
        assert graph.runs.run("build_pages", partition="b300", config={"page_data": {"as_of": fine}})["as_of"] == fine


def test_the_published_query_gives_the_numbers_of_the_published_page(graph):
    published(graph, *CURVE)
    data = graph.home / "site" / "data"
    page = json.loads((graph.home / "site/run/deepseek_v4_1_flash-on-b300/data.json").read_text())
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SET file_search_path = '{data}'")
        rows = connection.sql((data / "recompute.sql").read_text()).to_arrow_table().to_pylist()
    found = {}
    for row in rows:
        if row["reading"] == "at_least":
            costs = found.setdefault(row["target_tok_s_user"], (row["throughput_tok_s_gpu"], {}))[1]
            costs |= {row["tier"]: row["usd_mtok_total"]} if row["tier"] else {}
    expected = {
        row["target_tok_s_user"]: (row["at_least"]["throughput_tok_s_gpu"], row["at_least"]["cost_usd_mtok"] or {})
        for row in page["ladder"]
    }
    assert found == expected


def test_pages_drawn_by_several_processes_are_those_drawn_by_one(graph):
    published(graph, *CURVE)
    alone = {name: path.read_bytes() for name, path in site_of(graph).items()}
    renderer = PageRenderer(n_processes=2, n_pages_alone=0)
    others = {"prices": graph.book, "clock": Clock(fixed_day=AS_OF), "page_renderer": renderer}
    done = dataclasses.replace(graph, definitions=build_defs(graph.home, others)).publish()
    assert done["n_files_written"] == 0
    assert {name: path.read_bytes() for name, path in site_of(graph).items()} == alone
