import datetime as dt
import xml.etree.ElementTree as ET

from pipeline.cell import GpuRun
from pipeline.pages.checks import dead_links, page_links
from pipeline.pages.feed import cells_behind, entries, feed_xml, render_changes
from pipeline.pages.inputs import SiteFacts
from pipeline.tables.changes import CHANGES
from pipeline.tables.verdicts import VERDICTS
from tests.unit.pages.pairs import pair_of, point, price
from tests.unit.pages.test_changes import DAY, NEXT_DAY, one, publish

ATOM = "{http://www.w3.org/2005/Atom}"
KNOWN = SiteFacts(base_url="https://example.org/f/")
LIVE = {("deepseek_v4_1_flash", "h100", "agentx", "measured"): "run/deepseek_v4_1_flash-on-h100/"}
LOG, _ = publish(CHANGES.empty(), one())
NO_VERDICT = VERDICTS.empty()
NEW_RUN = {"run_id": "run2", "run_date": dt.date(2026, 9, 30), "engine_build": "build-2"}
LONGER, _ = publish(LOG, one(y=9900.0, **NEW_RUN), day=NEXT_DAY)


def test_an_entry_says_what_it_was_what_it_is_and_why():
    newest = next(entry for entry in entries(LONGER, LIVE, 10, NO_VERDICT) if entry.target.startswith("50"))
    assert newest.title == (
        "DeepSeek V4.1 Flash on H100, AgentX agentic coding, at least 50 tokens/s per user: "
        "9,000 tokens/s per GPU → 9,900 tokens/s per GPU (+10.0%)"
    )
    assert newest.why == "Another build of the engine (build-1 → build-2)."
    assert newest.noise == "Whether the difference is noise is not known: a side was not repeated."
    # 1.17 x 1e6 / (9000 x 3600) = 0.0361 and / (9900 x 3600) = 0.0328
    assert newest.costs[0] == "Owning at Large Hyperscaler Volume: $0.0361 → $0.0328"
    assert "Cost per 1M total tokens, Owning at Large Hyperscaler Volume: $0.0361 → $0.0328; Retail" in newest.summary


def test_the_cost_of_a_bound_is_marked_and_rounded_up_as_on_the_run_page():
    bound = next(entry for entry in entries(LONGER, LIVE, 10, NO_VERDICT) if entry.target.startswith("30"))
    assert bound.old == "at least 9,000 tokens/s per GPU"
    # 1.17 x 1e6 / (9000 x 3600) = 0.036111 and / (9900 x 3600) = 0.032828, rounded up
    assert bound.costs[0] == "Owning at Large Hyperscaler Volume: ≤ $0.0362 → ≤ $0.0329"


def test_a_new_price_names_both_price_rows():
    newer = {**price("owning_hyperscaler", 1.20), "price_id": "h100/owning_hyperscaler/2026-10-01"}
    row = point(50.0, 9000.0, run_id="run1", engine_build="build-1")
    log, _ = publish(LOG, pair_of([row], [newer, price("retail", 2.0)]), day=NEXT_DAY)
    newest, *_ = entries(log, LIVE, 1, NO_VERDICT)
    assert newest.why == (
        "Another price row holds (h100/owning_hyperscaler/2026-07-31 → h100/owning_hyperscaler/2026-10-01)."
    )
    assert (newest.ratio, newest.noise) == ("", "")


ROW = {"run_id": "run1", "engine_build": "build-1"}
AT_2_05 = [price("owning_hyperscaler", 1.17), price("retail", 2.05)]
CORRECTED, _ = publish(LOG, pair_of([point(50.0, 9000.0, **ROW)], AT_2_05))


def test_a_corrected_price_row_is_named_and_those_beside_it_are_not():
    newest, *_ = entries(CORRECTED, LIVE, 10, NO_VERDICT)
    assert newest.why == "A price row was corrected (h100/retail/2026-07-31)."


def test_a_new_price_row_and_a_corrected_one_of_another_tier_are_both_named():
    newer = {**price("owning_hyperscaler", 1.20), "price_id": "h100/owning_hyperscaler/2026-10-01"}
    log, _ = publish(LOG, pair_of([point(50.0, 9000.0, **ROW)], [newer, price("retail", 2.05)]), day=NEXT_DAY)
    newest, *_ = entries(log, LIVE, 1, NO_VERDICT)
    assert newest.why == (
        "Another price row holds (h100/owning_hyperscaler/2026-07-31 → h100/owning_hyperscaler/2026-10-01); "
        "a price row was corrected (h100/retail/2026-07-31)."
    )


def test_within_a_day_the_newest_publication_comes_first_and_its_targets_ascend():
    found = [(e.first, e.target.partition(" ")[0]) for e in entries(CORRECTED, LIVE, 10, NO_VERDICT)]
    assert found == [(False, "30"), (False, "50"), (True, "30"), (True, "50")]


def test_readings_of_one_pair_that_are_new_are_one_line_that_opens():
    html = render_changes(entries(CORRECTED, LIVE, 10, NO_VERDICT), CORRECTED.num_rows, SiteFacts())
    assert html.count("<details>") == 1
    folded = html.partition("<details>")[2].partition("</details>")[0]
    assert "2 readings published for the first time" in folded
    assert all(entry.change_id in folded for entry in entries(LOG, LIVE, 10, NO_VERDICT))
    assert "4 readings changed" in html


def test_one_new_reading_is_a_line_of_its_own():
    html = render_changes(entries(LOG, LIVE, 1, NO_VERDICT), LOG.num_rows, SiteFacts())
    assert "<details>" not in html
    assert "Published for the first time." in html


def test_the_feed_is_valid_atom_with_absolute_links_where_the_address_is_known():
    root = ET.fromstring(feed_xml(entries(LONGER, LIVE, 10, NO_VERDICT), KNOWN, DAY))
    assert root.tag == f"{ATOM}feed"
    assert root.findtext(f"{ATOM}updated") == "2026-10-11T00:00:00Z"
    found = root.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}updated")[:10] for entry in found] == ["2026-10-11"] * 2 + ["2026-10-10"] * 2
    for entry in [root, *found]:
        assert all(entry.findtext(f"{ATOM}{name}") for name in ("title", "id", "updated"))
        assert all(link.get("href").startswith("https://example.org/f/") for link in entry.findall(f"{ATOM}link"))
    ids = [entry.findtext(f"{ATOM}id") for entry in found]
    assert len(set(ids)) == len(ids)
    assert all(text.startswith("urn:uuid:") for text in ids)


def test_a_later_publication_keeps_the_identity_of_older_entries():
    before = {entry.urn for entry in entries(LOG, LIVE, 10, NO_VERDICT)}
    assert before <= {entry.urn for entry in entries(LONGER, LIVE, 10, NO_VERDICT)}


def test_an_empty_log_gives_an_empty_feed_and_a_page_that_says_so():
    root = ET.fromstring(feed_xml([], KNOWN, DAY))
    assert root.findall(f"{ATOM}entry") == []
    assert root.findtext(f"{ATOM}updated") == "2026-10-10T00:00:00Z"
    assert "Nothing was published yet." in render_changes([], 0, KNOWN)


def test_text_from_data_stays_text_in_page_and_feed():
    hostile = "<script>x</script>\x00&"
    log, _ = publish(LOG, one(y=9900.0, **{**NEW_RUN, "engine_build": hostile}), day=NEXT_DAY)
    found = entries(log, LIVE, 10, NO_VERDICT)
    assert "<script>x" not in render_changes(found, log.num_rows, KNOWN)
    root = ET.fromstring(feed_xml(found, KNOWN, DAY))
    assert "<script>x</script>&" in root.find(f"{ATOM}entry").findtext(f"{ATOM}summary")


def test_a_change_of_a_page_that_is_gone_links_to_no_run_page():
    found = entries(LOG, {}, 10, NO_VERDICT)
    assert {entry.path for entry in found} == {None}
    html = render_changes(found, LOG.num_rows, SiteFacts())
    assert 'href="../run/' not in html


def test_the_page_links_only_to_what_exists_and_counts_what_it_leaves_out():
    html = render_changes(entries(LONGER, LIVE, 1, NO_VERDICT), LONGER.num_rows, SiteFacts())
    files = {"index.html", "style.css", "favicon.svg", "feed.xml", "changes/index.html", "data/index.html"}
    files |= {"data/changes.parquet", "run/deepseek_v4_1_flash-on-h100/index.html"}
    assert dead_links([page_links("changes/index.html", html)], files) == []
    assert "3 older changes in" in html


def verdict(target, state, target_verdict, ratio):
    """A VERDICTS row of run2, the new run of LONGER, against a run of 2026-09-24."""
    row = {"model": "deepseek_v4_1_flash", "gpu": "h100", "workload": "agentx", "provenance": "measured"}
    row |= {"engine": "vllm", "engine_family": "vllm", "speculative": False, "series_key": "s", "curve_id": "c2"}
    row |= {"run_id": "run2", "run_date": dt.date(2026, 9, 30), "repetition": 1, "verdict": "worse", "state": state}
    row |= {"against_run_date": dt.date(2026, 9, 24), "against_run_id": "run1", "against_curve_id": "c1"}
    row |= {"target_tok_s_user": target, "target_verdict": target_verdict, "ratio": ratio}
    return row | {"engine_builds": [], "against_engine_builds": []}


def said(*rows):
    found = entries(LONGER, LIVE, 10, VERDICTS.from_rows(list(rows)))
    return {entry.target.partition(" ")[0]: entry.verdict for entry in found if entry.published_on == NEXT_DAY}


def test_a_suspected_regression_is_said_where_the_target_is_worse_and_nowhere_else():
    words = said(verdict(50.0, "suspected", "worse", 0.9), verdict(30.0, "suspected", "within", 0.99))
    assert words == {
        "50": "Suspected regression against the run of 2026-09-24 (-10.0%). One more run will tell.",
        "30": "",
    }


def test_what_became_of_a_suspicion_is_said():
    assert said(verdict(50.0, "confirmed", "worse", 0.9))["50"].startswith("Confirmed regression against the run of")
    assert "is not confirmed: this one agrees with" in said(verdict(50.0, "not_confirmed", "within", 1.0))["50"]
    assert said(verdict(50.0, "recovered", "better", 1.1))["50"] == "Recovered from a confirmed regression (+10.0%)."
    assert said(verdict(50.0, None, "better", 1.1)) == {"50": "", "30": ""}


def test_verdicts_reach_the_page_and_the_feed():
    found = entries(LONGER, LIVE, 10, VERDICTS.from_rows([verdict(50.0, "suspected", "worse", 0.9)]))
    assert "<strong>Suspected regression against" in render_changes(found, LONGER.num_rows, KNOWN)
    assert "Suspected regression against" in feed_xml(found, KNOWN, DAY)


def test_only_the_cells_of_the_newest_changes_are_read():
    assert cells_behind(LONGER) == [GpuRun("h100", dt.date(2026, 9, 24)), GpuRun("h100", dt.date(2026, 9, 30))]
    assert cells_behind(LONGER, 2) == [GpuRun("h100", dt.date(2026, 9, 30))]


def test_a_tiny_change_is_said_in_per_cent_too():
    # 9000.36 / 9000 = 1.00004
    log, _ = publish(LOG, one(y=9000.36, **NEW_RUN), day=NEXT_DAY)
    newest = next(entry for entry in entries(log, LIVE, 10, NO_VERDICT) if entry.target.startswith("50"))
    assert newest.ratio == "+0.004%"
