"""What becomes of runs that a backup was taken in the middle of."""

import dagster as dg
import pytest

from resources.dagster_runs import open_instance
from resources.interrupted_runs import cancel_interrupted, has_own_history

SWEEP = {"job_name": "run_sweep", "tags": {"dagster/partition": "h100|2026-11-01"}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with open_instance(tmp_path) as instance:
        for status in ("NOT_STARTED", "STARTED", "CANCELING", "SUCCESS", "FAILURE"):
            instance.add_run(dg.DagsterRun(**SWEEP, status=dg.DagsterRunStatus[status]))
    return tmp_path


def statuses(home) -> list[str]:
    with open_instance(home) as instance:
        return sorted(run.status.value for run in instance.get_runs())


def test_what_had_not_ended_is_canceled_and_what_had_stays(home):
    assert cancel_interrupted(home) == ["run_sweep h100|2026-11-01"] * 3
    assert statuses(home) == ["CANCELED", "CANCELED", "CANCELED", "FAILURE", "SUCCESS"]
    assert cancel_interrupted(home) == []


def test_a_database_that_others_use_is_not_even_asked(home):
    settings = home / "dagster" / "dagster.yaml"
    shipped = settings.read_text()
    assert has_own_history(home)
    settings.write_text(shipped + "storage:\n  postgres:\n    postgres_url: postgresql://nobody@127.0.0.1:1/none\n")
    assert not has_own_history(home)
    assert cancel_interrupted(home) == []
    settings.write_text(shipped)
    assert statuses(home).count("CANCELED") == 0


def test_an_instance_somewhere_else_is_left_alone(home, tmp_path, monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", str(home / "dagster"))
    assert has_own_history(home)
    assert not has_own_history(tmp_path / "restored")
    assert cancel_interrupted(tmp_path / "restored") == []
    monkeypatch.delenv("DAGSTER_HOME")
    assert statuses(home).count("CANCELED") == 0


def test_a_service_whose_dagster_home_is_that_of_its_home_gets_the_shipped_settings_too(tmp_path, monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    assert has_own_history(tmp_path)
    assert "tag_concurrency_limits" in (tmp_path / "dagster" / "dagster.yaml").read_text()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "other"))
    assert not has_own_history(tmp_path)
    assert not (tmp_path / "other").exists()
