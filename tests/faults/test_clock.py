"""The clock is stepped, or the day ends, in between: what was measured and published stays, and nothing is re-dated."""

import datetime as dt

import pytest

from pipeline.errors import SweepRefusedError
from tests.faults import acts
from tests.faults.site_states import files_of, is_whole
from tests.graph.conftest import AS_OF, DAY

DAY_BEFORE, DAY_AFTER = ((dt.date.fromisoformat(AS_OF) + dt.timedelta(days=n)).isoformat() for n in (-1, 1))


def test_a_clock_that_went_back_publishes_and_the_log_keeps_its_order(tmp_path):
    home = tmp_path / "home"
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.OLD))
        graph.publish()
        before = files_of(home / "site")
        log = (home / "store/changes/changes.parquet").read_bytes()
    with acts.opened(home, DAY_BEFORE) as graph:
        graph.publish()
        assert is_whole(home / "site")
        assert (home / "store/changes/changes.parquet").read_bytes() == log
    with acts.opened(home) as graph:
        graph.publish()
    assert files_of(home / "site") == before


def test_a_change_that_is_noticed_while_the_clock_is_behind_is_kept_with_the_others(tmp_path):
    home = tmp_path / "home"
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.OLD))
        first = graph.publish()
    with acts.opened(home, DAY_BEFORE) as graph:
        graph.derive(graph.seed(*acts.NEW, name="b.json", run_id="r2", run_date=DAY.replace(day=5)))
        second = graph.publish()
    assert first["n_changes"] == second["n_changes"] == 5
    with acts.opened(home) as graph:
        assert graph.publish()["n_changes"] == 0
    feed = (home / "site/feed.xml").read_text()
    assert feed.count("<entry>") == 10


def test_a_day_that_ends_between_plan_and_publication_leaves_the_cell_on_the_day_of_its_sweep(tmp_path, monkeypatch):
    home = tmp_path / "home"
    acts.prepare_sweep(home)
    with acts.opened(home) as graph:
        acts.measured_graph(graph, monkeypatch.setattr).runs.run(
            "run_sweep", partition=f"cpu|{AS_OF}", config={"sweep": {"recipes": ["cpu_vllm_fixed"]}}
        )
    with acts.opened(home, DAY_AFTER) as graph:
        graph.derive(f"cpu|{AS_OF}")
        graph.publish("cpu")
        assert f'"last": "{AS_OF}"' in (home / "site/run/small_random_28m-on-cpu/data.json").read_text()
        with pytest.raises(SweepRefusedError, match=f"the run date is past.*expected {DAY_AFTER}, found {AS_OF}"):
            graph.runs.run("run_sweep", partition=f"cpu|{AS_OF}", config={"sweep": {}})
