"""What an operator types: runs and their failures, devices, a backup that becomes a home folder again."""

import json

import dagster as dg
import pytest

from resources.dagster_runs import open_instance
from tests.graph.test_command_line import stored

SWEEP = {"job_name": "run_sweep", "tags": {"dagster/partition": "h100|2026-11-01", "dagster/partition/gpu": "h100"}}


def test_a_failed_run_is_found_with_its_cell_and_told_in_its_own_words(frontier, tmp_path):
    assert frontier("runs")[0] == 0
    frontier("sweep", "mi300x", "--run-date", "2026-11-01", "--no-publish")
    code, said, _ = frontier("runs", "--failed")
    assert code == 0
    assert "│ run_sweep │ mi300x|2026-11-01 │ by hand │ failure │" in said
    with open_instance(tmp_path / "home") as instance:
        (run,) = instance.get_runs()
    _, said, _ = frontier("runs", run.run_id[:8])
    assert f"{run.run_id}: run_sweep mi300x|2026-11-01 failure, 20" in said
    assert "mi300x" in said.partition("by hand")[2]
    (row,) = json.loads(frontier("runs", "--failed", "--json")[1])
    assert (row["run_id"], row["partition"], row["status"]) == (run.run_id, "mi300x|2026-11-01", "failure")
    assert frontier("runs", "nope")[2] == ["error: runs nope: names no run. Take the id from frontier runs."]


def test_a_run_says_which_schedule_sensor_or_reason_asked_for_it(frontier, tmp_path):
    tags = [{"frontier/why": "cadence nightly"}, {"dagster/sensor_name": "inbox"}, {"dagster/asset_evaluation_id": "3"}]
    with open_instance(tmp_path / "home") as instance:
        for more in tags:
            instance.add_run(dg.DagsterRun(job_name="run_sweep", tags=more))
    _, said, _ = frontier("runs", "--last", "3")
    assert said.index("automation") < said.index("inbox") < said.index("cadence nightly")


def test_a_device_is_quarantined_with_a_reason_and_released(frontier):
    assert "│ cpu │ free │" in frontier("devices", "list")[1]
    assert frontier("devices", "list", "--csv")[1] == "device,state cpu,free"
    assert frontier("devices", "quarantine", "H100", "--reason", "fans")[1] == "h100 is quarantined: fans"
    assert "│ h100 │ quarantined: fans, since 20" in frontier("devices", "list")[1]
    code, _, lines = frontier("devices", "quarantine", "h100", "--reason", "noise")
    assert code == 1
    assert "h100: is quarantined already, and its reason stays; found fans, since 20" in lines[-1]
    assert "run frontier devices release h100 first" in lines[-1]
    assert "h100 is released; it was quarantined: fans, since 20" in frontier("devices", "release", "h100")[1]
    assert frontier("devices", "release", "h100")[1] == "h100 was not quarantined"
    assert "│ h100 │ free │" not in frontier("devices", "list")[1]
    assert "Did you mean 'h100'?" in frontier("devices", "quarantine", "h10", "--reason", "fans")[2][-1]
    assert "error: --reason: not one line of text" in frontier("devices", "quarantine", "h100", "--reason", " ")[2][-1]
    assert "│ h100 │ quarantined" not in frontier("devices", "list")[1]


def test_an_empty_argument_is_not_one_that_was_left_out(frontier):
    assert frontier("runs", "")[2] == ["error: runs '': names no run. Take the id from frontier runs."]
    for option in ("--as-of", "--corrections-until"):
        assert f"error: {option} '': not a day; expected YYYY-MM-DD" in frontier("publish", option, "")[2][-1]


def test_the_instance_says_what_edited_settings_lack(frontier, tmp_path):
    assert "has no" not in frontier("instance")[1]
    file = tmp_path / "home" / "dagster" / "dagster.yaml"
    before, _, after = file.read_text().partition("run_monitoring:\n")
    file.write_text(f"{before}concurrency:{after.partition('concurrency:')[2]}")
    assert f"{file} has no run_monitoring: a run whose process died stays recorded" in frontier("instance")[1]


def test_the_instance_refuses_variables_that_name_nothing(frontier, monkeypatch, tmp_path):
    for variable, value, words in (
        ("FRONTIER_RESULTS", "foo://bad", "FRONTIER_RESULTS: foo is no known protocol"),
        ("FRONTIER_TCO", str(tmp_path / "no.toml"), "no.toml: cannot read the inputs of computed prices (No such file"),
    ):
        monkeypatch.setenv(variable, value)
        code, _, lines = frontier("instance")
        assert code == 1
        assert words in lines[-1]


def test_a_home_that_cannot_be_made_is_not_a_matter_of_permissions(frontier):
    code, _, lines = frontier("--home", "/proc/x", "restore", __file__)
    assert code == 1
    assert "/proc/x: cannot be written (No such file or directory). No folder can be made there" in lines[-1]


def test_an_empty_home_is_no_home(frontier):
    for typed in (("--home", "", "runs"), ("--home", " ", "publish")):
        code, said, lines = frontier(*typed)
        assert (code, said) == (1, "")
        assert lines == [f"error: --home {typed[1]!r}: no folder is named. Name one, or leave it out."]


@pytest.mark.parametrize(
    "typed",
    [
        *("backup b.tar.gz", "build --list", "check", "cost h100 gpt2", "devices list", "prices check", "prices list"),
        *("prices tco", "publish", "runs", "serve", "show h100 gpt2", "store prune --older-than 3"),
    ],
)
def test_a_home_that_is_none_is_one_sentence_from_every_command_that_reads_it(frontier, tmp_path, typed):
    (tmp_path / "file").touch()
    for home, reason in (("file", "Not a directory"), ("file/x", "Not a directory"), ("no/home", "No such file or")):
        code, said, lines = frontier("--home", str(tmp_path / home), *typed.split())
        assert (code, said) == (1, "")
        assert [line for line in lines if f"{home}: is no home folder and none can be made there ({reason}" in line]
        assert len(lines) == 1
    assert not (tmp_path / "no").exists()
    assert frontier("--home", str(tmp_path / "file"), *typed.split()[:1], "--help")[0] == 0


@pytest.mark.week
def test_a_backup_taken_while_a_sweep_runs_publishes_the_same_bytes_and_locks_nothing(imported, tmp_path):
    home, new, archive = tmp_path / "home", tmp_path / "new", str(tmp_path / "b.tar.gz")
    frontier = imported
    half = home / "store/sweeps/h100/2026-11-01/abc.requests.parquet"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"rows of a point without its points file")
    with open_instance(home) as instance:
        instance.add_run(dg.DagsterRun(**SWEEP, status=dg.DagsterRunStatus.STARTED))
    before = stored(home)
    assert frontier("backup", archive)[0] == 0
    assert "holds something, and a backup never overwrites" in frontier("restore", archive)[2][-1]
    assert stored(home) == before
    code, said, _ = frontier("--home", str(new), "restore", archive)
    assert code == 0
    assert "was going on, is canceled now: run_sweep h100|2026-11-01" in said
    assert f"its prices: FRONTIER_PRICES={new / 'prices.csv'} FRONTIER_TCO={new / 'tco.toml'}" in said
    assert (new / "prices.csv").read_bytes() == (tmp_path / "prices.csv").read_bytes()
    with open_instance(new) as instance:
        statuses = {run.job_name: run.status for run in instance.get_runs()}
    assert statuses.pop("run_sweep") == dg.DagsterRunStatus.CANCELED
    assert set(statuses.values()) == {dg.DagsterRunStatus.SUCCESS}
    assert frontier("--home", str(new), "publish")[0] == 0
    assert stored(new) == before
