"""Files that appear in the inbox: imported once they are whole, derived, and published by automation as any others."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipeline.automation.inbox_sensor import new_files
from pipeline.cell import parse_cell
from pipeline.definitions import build_defs, outside
from pipeline.tables.points import POINTS
from resources.inbox import Inbox
from tests.graph.conftest import Graph
from tests.graph.test_automation import requested
from tests.unit.imports.foreign import vllm_row

CELL = "h100|2026-06-07"
DECLARED = 'gpu = "h100"\nn_gpus = 4\nprecision = "bf16"\n'


@dataclasses.dataclass
class Box:
    """The graph with its inbox, and the sensor's cursor from one look to the next."""

    graph: Graph
    cursor: str | None = None

    @property
    def inbox(self) -> Inbox:
        return outside(self.graph.home).inbox

    def put(self, name: str, content: str) -> Path:
        path = Path(self.inbox.folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def look(self) -> dg.SensorResult | dg.SkipReason:
        resources = {"inbox": self.inbox}
        with dg.build_sensor_context(self.graph.instance, self.cursor, resources=resources) as context:
            result = new_files(context)
        self.cursor = getattr(result, "cursor", None) or self.cursor
        return result

    def run(self, request: dg.RunRequest) -> None:
        """Run a request to its end, as the daemon would; a failed run is an answer too."""
        job = self.graph.definitions.resolve_job_def(request.job_name)
        job.execute_in_process(
            instance=self.graph.instance,
            partition_key=request.partition_key,
            run_config=request.run_config,
            raise_on_error=False,
        )

    def settle(self) -> list[dg.RunRequest]:
        """Two looks: what is asked for at the second one."""
        self.look()
        return self.look().run_requests


@pytest.fixture
def box(graph) -> Iterator[Box]:
    return Box(graph)


def test_it_is_off_until_somebody_switches_it_on_and_its_folder_may_be_anywhere(tmp_path, monkeypatch):
    assert new_files.default_status == dg.DefaultSensorStatus.STOPPED
    assert outside(tmp_path).inbox.folder == str(tmp_path / "inbox")
    monkeypatch.setenv("FRONTIER_INBOX", "/srv/results")
    assert outside(tmp_path).inbox.folder == "/srv/results"


def test_an_inbox_that_is_not_there_asks_for_nothing(box):
    assert box.look().skip_reason.skip_message == "Nothing new among 0 files."


def test_a_file_is_imported_with_its_import_toml_then_its_cell_is_derived_and_its_pages_follow(box):
    box.graph.runs.run("observe_prices")
    cursor, _ = requested(box.graph)
    file = box.put("lab/result.json", json.dumps(vllm_row()))
    box.put("lab/import.toml", DECLARED)
    assert box.look().skip_reason.skip_message == "1 file may still grow: looked at again."
    (asked,) = box.look().run_requests
    assert asked.job_name == "import_results"
    assert asked.run_config == {"ops": {"imported_results": {"config": {"paths": [str(file)]}}}}
    box.run(asked)
    (derive,) = box.look().run_requests
    assert (derive.job_name, derive.partition_key) == ("derive_cell", CELL)
    box.run(derive)
    rows = box.graph.store.read("raw", parse_cell(CELL), POINTS).to_pylist()
    assert [(row["gpu"], row["precision"], row["n_gpus"], row["source_file"]) for row in rows] == [
        ("h100", "bf16", 4, "result.json")
    ]
    asked_for = {}
    for _ in range(2):
        cursor, found = requested(box.graph, cursor)
        asked_for |= found
    assert asked_for == {"page_data": {"h100"}}
    assert box.look().skip_reason.skip_message == "Nothing new among 1 file."
    assert file.read_text() == json.dumps(vllm_row())


def test_what_is_asked_for_is_what_the_jobs_take(box):
    box.put("result.json", json.dumps(vllm_row()))
    box.put("import.toml", DECLARED)
    asked = box.settle()
    box.run(asked[0])
    asked += box.look().run_requests
    definitions = build_defs(box.graph.home)
    for request in asked:
        dg.validate_run_config(definitions.resolve_job_def(request.job_name), request.run_config)


def test_a_broken_file_is_refused_once_in_a_note_beside_it_and_blocks_no_other(box):
    box.put("import.toml", DECLARED)
    good = box.put("good.json", json.dumps(vllm_row()))
    bad = box.put("bad.json", '{"truncated": ')
    half = box.put("half.json.part", "{")
    (asked,) = box.settle()
    assert asked.run_config["ops"]["imported_results"]["config"]["paths"] == [str(bad), str(good)]
    box.run(asked)
    assert [request.partition_key for request in box.look().run_requests] == [CELL]
    note = bad.with_name("bad.json.refused").read_text()
    assert "bad.json" in note
    assert note.count("\n") == 1
    assert not good.with_name("good.json.refused").exists()
    assert box.look().run_requests == []
    assert half.exists()
    half.rename(half.with_suffix(""))
    assert len(box.settle()) == 1


def test_a_file_without_a_declaration_is_tried_again_when_its_import_toml_comes(box):
    file = box.put("result.json", json.dumps(vllm_row()))
    (asked,) = box.settle()
    box.run(asked)
    assert box.look().run_requests == []
    assert "none of its rows could be imported, row 0: gpu_missing" in file.with_name("result.json.refused").read_text()
    box.put("import.toml", DECLARED)
    (asked,) = box.settle()
    box.run(asked)
    assert [request.partition_key for request in box.look().run_requests] == [CELL]
    assert not file.with_name("result.json.refused").exists()


def test_a_touched_file_is_not_imported_again_and_a_changed_one_is(box):
    box.put("import.toml", DECLARED)
    file = box.put("result.json", json.dumps(vllm_row()))
    box.run(box.settle()[0])
    box.look()
    file.touch()
    # its cells are handed on again, under the key of a run that was made before
    assert {request.job_name for request in box.settle()} <= {"derive_cell"}
    file.write_text(json.dumps(vllm_row(max_concurrency=3)))
    assert [request.job_name for request in box.settle()] == ["import_results"]


def test_while_an_import_runs_nothing_is_asked_for(box):
    box.put("result.json", "{}")
    box.look()
    run = dg.DagsterRun(job_name="import_results", status=dg.DagsterRunStatus.STARTED)
    box.graph.instance.add_run(run)
    assert box.look().skip_message == "An import runs; its files are looked at when it has ended."
    box.graph.instance.delete_run(run.run_id)
    assert len(box.look().run_requests) == 1


def test_a_file_that_ends_the_import_itself_is_imported_alone_and_then_given_up_with_a_note(box, monkeypatch):
    from pipeline.imports import reader

    def read(source, *rest):
        if source.name == "bad.json":
            raise MemoryError
        return reader.read_results(source, *rest)

    monkeypatch.setattr("assets.imported_results.read_results", read)
    box.put("import.toml", DECLARED)
    bad = box.put("bad.json", "{}")
    box.put("good.json", json.dumps(vllm_row()))
    (together,) = box.settle()
    box.run(together)
    alone = box.look().run_requests
    assert len({request.run_key for request in (together, *alone)}) == 3
    for request in alone:
        box.run(request)
    derive, again = sorted(box.look().run_requests, key=lambda request: request.job_name)
    assert (derive.partition_key, again.job_name) == (CELL, "import_results")
    box.run(again)
    assert box.look().run_requests == []
    assert "each of its imports ended without an answer" in bad.with_name("bad.json.refused").read_text()
    assert box.look().skip_reason.skip_message == "Nothing new among 2 files."
