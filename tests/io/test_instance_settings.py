import hashlib

import pytest

from pipeline.definitions import CHECKOUT
from resources.dagster_runs import prepare_instance
from resources.instance_settings import WRITTEN, lacking, shipped_settings

RETRIES = b"# A run whose process died"
LOST = "a run whose process died stays recorded as running and keeps its GPU in use"


def earlier_settings() -> bytes:
    """As the version before wrote them: without the block of retries, which is the last one."""
    return shipped_settings().partition(RETRIES)[0]


@pytest.fixture
def file(tmp_path, monkeypatch):
    for name in ("DAGSTER_HOME", "FRONTIER_INSTANCE"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "home" / "dagster" / "dagster.yaml"
    path.parent.mkdir(parents=True)
    return path


def prepared(file) -> bytes:
    prepare_instance(file.parents[1])
    return file.read_bytes()


def test_every_version_of_the_file_is_known_by_its_hash_and_this_one_is_the_last():
    assert hashlib.sha256(shipped_settings()).hexdigest() == WRITTEN[-1]
    assert hashlib.sha256(earlier_settings()).hexdigest() in WRITTEN[:-1]
    assert len(set(WRITTEN)) == len(WRITTEN)


def test_settings_that_an_earlier_version_wrote_become_those_of_this_one(file):
    file.write_bytes(earlier_settings())
    assert prepared(file) == shipped_settings()


def test_settings_that_somebody_edited_stay_and_so_do_those_of_a_folder_elsewhere(file, monkeypatch):
    edited = earlier_settings() + b"# ours\n"
    file.write_bytes(edited)
    assert prepared(file) == edited
    file.write_bytes(earlier_settings())
    monkeypatch.setenv("DAGSTER_HOME", str(file.parent))
    prepare_instance(file.parents[2] / "another home")
    assert file.read_bytes() == earlier_settings()


def test_what_edited_settings_lack_is_one_sentence_with_what_it_means_and_what_to_do(file):
    file.write_bytes(earlier_settings() + b"# ours\n")
    assert lacking(file) == (
        f"{file} has no run_retries: a requested sweep whose process died is not run again. Copy what it "
        "lacks from resources/dagster_instance.yaml, or move it aside and run frontier instance."
    )
    file.write_text("telemetry:\n  enabled: false\n")
    said = lacking(file) or ""
    assert "has no concurrency, run_monitoring, run_launcher and run_retries: two sweeps of one GPU may" in said
    assert f"may start at a time, {LOST} and a requested sweep" in said


def test_nothing_is_said_of_settings_that_have_all_nor_of_those_of_several_hosts_nor_of_none(file):
    file.write_bytes(shipped_settings() + b"# ours\n")
    assert lacking(file) is None
    file.write_bytes((CHECKOUT / "deploy" / "dagster_fleet.yaml").read_bytes())
    assert lacking(file) is None
    file.write_text("storage: {}\nrun_coordinator: {}\nrun_monitoring: {}\n")  # as Dagster's chart writes them
    assert lacking(file) is None
    file.unlink()
    assert lacking(file) is None
