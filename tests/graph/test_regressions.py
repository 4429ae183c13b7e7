"""Verdicts through the graph: stored a cell, a check on frontier, a line on what changed, and notices told once."""

import datetime as dt
import json

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.automation.notice_sensors import NOT_SET_UP, failed_runs, verdict_notices
from pipeline.automation.regression_sensor import confirm_regressions
from pipeline.cell import parse_cell
from pipeline.errors import NoticeError
from pipeline.frontier.verdict_rows import curve_verdicts
from pipeline.tables.verdicts import VERDICTS
from resources.clock import Clock
from resources.notifier import Notifier
from resources.verdict_store import VERDICT
from tests.graph.conftest import AS_OF, Graph

CURVE = ((60.0, 9000.0), (90.0, 7000.0), (150.0, 3000.0))
REPEATED = {"n_repeats": 3, "throughput_std_tok_s_gpu": 50.0, "interactivity_std_tok_s_user": 0.1}
DAYS = [dt.date(2026, 10, day) for day in range(2, 12)]


def seed(graph: Graph, day: int, factor: float, **columns: object) -> str:
    """One run of the curve, all of its throughputs times a factor."""
    pairs = [(x, y * factor) for x, y in CURVE]
    about = {"name": f"{day}.json", "run_id": f"r{day}", "run_date": DAYS[day]}
    return graph.seed(*pairs, **{**about, **REPEATED, **columns})


def derived(graph: Graph, *factors: float) -> list[str]:
    """One run a day."""
    cells = [seed(graph, day, factor) for day, factor in enumerate(factors)]
    for cell in cells:
        graph.derive(cell)
    return cells


def states(graph: Graph, cells: list[str]) -> list[str | None]:
    tables = [graph.store.read(VERDICT, parse_cell(cell), VERDICTS) for cell in cells]
    return [verdict.state for table in tables for verdict in curve_verdicts(table)]


def checked(graph: Graph) -> dg.AssetCheckEvaluation:
    """The newest evaluation of the check."""
    key = dg.AssetCheckKey(dg.AssetKey("frontier"), "no_regression")
    (record,) = graph.instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
    return record.event.dagster_event.event_specific_data


def test_a_run_that_is_worse_fails_the_check_with_a_warning_that_names_each_target(graph):
    derived(graph, 1.0)
    assert checked(graph).passed
    derived(graph, 1.0, 0.9)
    evaluation = checked(graph)
    assert (evaluation.passed, evaluation.severity) == (False, dg.AssetCheckSeverity.WARN)
    (words,) = evaluation.metadata["regressions"].value
    assert words.startswith(
        "Suspected regression: one more run will tell. deepseek_v4_1_flash on b300, agentx, vllm fp4"
    )
    # 9,000 at 60 tok/s/user serves 30 and 50 as well; times 0.9 it is 8,100
    assert "at 50 tok/s/user 9,000 → 8,100 tok/s/GPU (-10.0%)" in words
    assert "| suspected regression |" in evaluation.metadata["readings"].value


def test_the_page_of_what_changed_says_suspected_and_then_confirmed(graph):
    cells = derived(graph, 1.0)
    graph.publish()
    cells = derived(graph, 1.0, 0.9)
    graph.publish()
    page = graph.home / "site/changes/index.html"
    assert "Suspected regression against the run of 2026-10-02 (-10.0%). One more run will tell." in page.read_text()
    cells = derived(graph, 1.0, 0.9, 0.895)
    graph.publish()
    assert "Confirmed regression against the run of 2026-10-02 (-10.5%)." in page.read_text()
    assert states(graph, cells) == [None, "suspected", "confirmed"]


def test_the_verdicts_on_every_curve_are_among_the_downloads(graph):
    cells = derived(graph, 1.0, 0.9, 0.895)
    graph.publish()
    data = graph.home / "site/data"
    with duckdb.connect(str(data / "published.duckdb"), read_only=True) as connection:
        rows = connection.sql(
            "SELECT run_date, state, ratio FROM verdicts WHERE target_tok_s_user = 50 ORDER BY run_date"
        ).fetchall()
    ratios = [None, pytest.approx(0.9), pytest.approx(0.895)]
    assert rows == list(zip(DAYS, [None, "suspected", "confirmed"], ratios, strict=False))
    stored = pa.concat_tables([graph.store.read(VERDICT, parse_cell(cell), VERDICTS) for cell in cells])
    assert pq.read_table(data / "verdicts.parquet").to_pylist() == VERDICTS.sorted(stored).to_pylist()
    assert (data / "verdicts.csv").read_text().count("\n") == 1 + stored.num_rows
    assert '<details id="verdicts">' in (data / "index.html").read_text()


def test_a_day_that_is_derived_again_changes_the_verdicts_of_the_days_after_it(graph):
    cells = derived(graph, 1.0, 0.9)
    assert states(graph, cells) == [None, "suspected"]
    graph.derive(
        seed(graph, 0, 0.9, name="0b.json", run_id="r0b", run_started_at=dt.datetime(2026, 10, 2, tzinfo=dt.UTC))
    )
    assert states(graph, cells[1:]) == ["confirmed"]


def test_cells_judged_in_one_run_are_judged_as_one_by_one(graph):
    cells = derived(graph, 1.0, 0.9, 1.0, 0.99)
    before = [graph.store.path(VERDICT, parse_cell(cell), VERDICTS).read_bytes() for cell in cells]
    for cell in reversed(cells):
        graph.derive(cell)
    assert [graph.store.path(VERDICT, parse_cell(cell), VERDICTS).read_bytes() for cell in cells] == before


def test_imported_curves_are_judged_and_never_swept_again(graph):
    cells = [seed(graph, day, factor, provenance="imported") for day, factor in enumerate((1.0, 0.9))]
    for cell in cells:
        graph.derive(cell)
    assert states(graph, cells) == [None, "suspected"]
    with dg.build_sensor_context(
        instance=graph.instance, resources={"result_store": graph.store, "clock": Clock(fixed_day=AS_OF)}
    ) as context:
        assert confirm_regressions(context).skip_message == "No curve is suspected of a regression."


def telling(*fails: str) -> tuple[Notifier, list[tuple[str, list[str]]]]:
    """A notifier of two channels that keeps what it is told; those that fail say so."""
    kept: list[tuple[str, list[str]]] = []

    class Told(Notifier):
        def channels(self):
            return ("webhook", "mail")

        def send(self, channel, subject, lines, facts=()):
            if channel in fails:
                raise NoticeError("the mail server answered 554", where="FRONTIER_SMTP_*", next_step="Correct it.")
            kept.append((channel, list(lines)))

    return Told(), kept


def look(graph: Graph, notifier: Notifier, cursor: str | None = None) -> tuple[str, str]:
    """One look of the sensor: what it says, and its cursor afterwards."""
    resources = {"result_store": graph.store, "notifier": notifier}
    with dg.build_sensor_context(instance=graph.instance, resources=resources, cursor=cursor) as context:
        return verdict_notices(context).skip_message, context.cursor


def test_each_verdict_is_told_once_a_channel_and_what_failed_is_tried_again(graph):
    derived(graph, 1.0, 0.9)
    said, cursor = look(graph, telling("mail")[0])
    assert said.startswith("webhook: told of 1 verdict. mail: FRONTIER_SMTP_*: the mail server answered 554.")
    again, kept = telling()
    _, cursor = look(graph, again, cursor)
    ((channel, (line,)),) = kept
    assert channel == "mail"
    assert line.startswith("Suspected regression: ")
    assert look(graph, again, cursor)[0] == "webhook: told of 0 verdicts. mail: told of 0 verdicts."
    assert len(kept) == 1
    derived(graph, 1.0, 0.9, 0.9)
    later, kept = telling()
    _, cursor = look(graph, later, cursor)
    assert [line.split(":")[0] for _, (line,) in kept] == ["Confirmed regression"] * 2
    assert {len(names) for names in json.loads(cursor).values()} == {1}


def test_without_a_channel_nothing_is_told_and_the_reason_says_what_to_set(graph, monkeypatch):
    for name in ("FRONTIER_WEBHOOK_URL", "FRONTIER_SMTP_HOST"):
        monkeypatch.delenv(name, raising=False)
    assert look(graph, Notifier())[0] == NOT_SET_UP
    for sensor in (verdict_notices, failed_runs, confirm_regressions):
        assert sensor.default_status == dg.DefaultSensorStatus.STOPPED


def test_a_failed_run_is_told_with_its_cause(graph):
    notifier, kept = telling()
    cell = f"h100|{AS_OF}"
    job = graph.definitions.resolve_job_def("run_sweep")
    result = job.execute_in_process(
        instance=graph.instance,
        partition_key=cell,
        run_config={"ops": {"sweep": {"config": {"kind": "measured"}}}},
        raise_on_error=False,
    )
    with dg.build_run_status_sensor_context(
        sensor_name="failed_runs",
        dagster_instance=graph.instance,
        dagster_run=result.dagster_run,
        dagster_event=result.get_run_failure_event(),
        resources={"notifier": notifier},
    ).for_run_failure() as context:
        failed_runs(context)
    assert [channel for channel, _ in kept] == ["webhook", "mail"]
    lines = kept[0][1]
    assert lines[0] == f"run_sweep {cell} failed. Run {result.run_id}."
    assert "this host has no such device" in lines[1]
