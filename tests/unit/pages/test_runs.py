"""Runs behind a page: published, and in the words of its method section."""

import dataclasses
import datetime as dt
import json

import jsonschema

from pipeline.pages.build import build_sections
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.method import method_facts
from pipeline.pages.page import to_json
from pipeline.pages.pairs import pairs
from pipeline.pages.run_page import run_files
from pipeline.pages.schema import page_schema
from pipeline.tables.runs import RUNS
from tests.unit.pages.pairs import pair_of, point

ROWS = [point(50.0, 900.0)]


def run(**changes):
    same = ("model", "gpu", "workload", "engine", "precision", "provenance", "run_id", "run_date", "topology")
    row = {name: ROWS[0][name] for name in same}
    own = {
        "recipe": "r",
        "engine_build": "vllm_cuda 0.33.0 abc",
        "started_at": dt.datetime(2026, 10, 2, 9, tzinfo=dt.UTC),
        "device_name": "NVIDIA H100",
        "driver": "580.65",
        "launch_line": "--max-num-seqs 8 --chat-template 'a<b'",
        "stopped_below": "one_request",
        "stopped_above": "plateau",
        "n_points": 1,
        "measured_s": 36.0,
        "wall_s": 90.0,
    }
    return row | own | changes


def page_of(*runs):
    pair = dataclasses.replace(pair_of(ROWS), runs=RUNS.from_rows(list(runs)))
    return build_sections(pair)[0]


def test_a_page_holds_the_runs_of_its_points_and_follows_the_schema():
    page = page_of(run(), run(run_id="of no point here"), run(workload="fixed_8k1k"))
    assert [(r.run_id, r.engine_name, r.wall_s, r.reason) for r in page.runs] == [
        (ROWS[0]["run_id"], "vLLM", 90.0, None)
    ]
    assert jsonschema.Draft202012Validator(page_schema()).is_valid(json.loads(to_json(page)))


def test_why_the_sweep_stopped_is_in_words():
    found = {fact.term: fact.text for fact in method_facts(page_of(run()))}
    assert found["Why the sweep stopped"] == (
        f"vLLM, {ROWS[0]['topology']}: Nothing at a higher concurrency was measured: "
        "the highest concurrency added almost no throughput. Nothing at a lower concurrency was measured: "
        "one request at a time is the lowest concurrency."
    )
    assert found["Driver of the device, or kernel of the host"] == "580.65"
    assert found["Arguments of the server"].endswith("--max-num-seqs 8 --chat-template 'a<b'")


def test_a_launch_line_is_text_and_not_markup():
    html = run_files((page_of(run()),), SiteFacts())["index.html"]
    assert "a&lt;b" in html
    assert "a<b" not in html


def test_what_a_run_does_not_say_is_null_with_its_reason_and_no_fact():
    page = page_of(run(driver=None, launch_line=None, stopped_above="ladder_ends"))
    assert page.runs[0].reason
    terms = [fact.term for fact in method_facts(page)]
    assert "Arguments of the server" not in terms
    assert "Why the sweep stopped" in terms


def test_without_runs_nothing_is_said_of_them():
    page = build_sections(pair_of(ROWS))[0]
    assert page.runs == ()
    assert "Why the sweep stopped" not in [fact.term for fact in method_facts(page)]


def test_runs_go_with_their_model():
    gpu = dataclasses.replace(pair_of(ROWS), runs=RUNS.from_rows([run(), run(model="another")]))
    (pair,) = pairs(gpu)
    assert pair.runs["model"].to_pylist() == [ROWS[0]["model"]]
