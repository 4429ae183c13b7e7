"""Old runs of an instance on PostgreSQL: the same rule and the same deletion as on the SQLite files of one host."""

import datetime as dt

import dagster as dg
import pytest
from dagster_postgres.event_log import PostgresEventLogStorage

from resources.dagster_runs import open_instance
from resources.run_history import RunHistory
from tests.graph.conftest import graph_at
from tests.graph.test_store_command import CURVE, LATER, status_of

pytestmark = pytest.mark.fleet

STORAGE = """
telemetry: {enabled: false}
storage: {postgres: {postgres_url: {env: FRONTIER_POSTGRES_URL}}}
"""


@pytest.fixture
def graph(services, tmp_path, monkeypatch):
    postgres, _ = services
    (tmp_path / "instance.yaml").write_text(STORAGE)
    monkeypatch.setenv("FRONTIER_INSTANCE", str(tmp_path / "instance.yaml"))
    monkeypatch.setenv("FRONTIER_POSTGRES_URL", postgres.url)
    with open_instance(tmp_path / "home") as instance:
        assert isinstance(instance.event_log_storage, PostgresEventLogStorage)
        yield graph_at(tmp_path / "home", instance)


def test_runs_that_status_comes_from_stay_and_the_others_go_with_their_events(graph):
    cell = graph.seed(*CURVE)
    for _ in range(2):
        graph.runs.run("observe_prices")
        graph.derive(cell)
    history, before = RunHistory(graph.instance, graph.home / "dagster"), status_of(graph.instance)
    assert history.removable(LATER - dt.timedelta(2)) == []
    old = history.removable(LATER)
    assert (len(graph.instance.get_runs()), len(old)) == (4, 2)
    history.remove(old)
    assert not set(old) & {run.run_id for run in graph.instance.get_runs()}
    assert [graph.instance.all_logs(run_id) for run_id in old] == [[], []]
    assert status_of(graph.instance) == before
    assert history.removable(LATER) == []
    assert len(graph.instance.fetch_materializations(dg.AssetKey("frontier"), limit=9).records) == 1
