"""The command line as a person meets it: one sentence for what is wrong, exit codes, nothing lost, runs kept."""

import json
from pathlib import Path

import pytest

from resources.dagster_runs import open_instance
from tests.graph.conftest import PUBLISHED_READINGS


def stored(home: Path) -> dict[str, bytes]:
    folders = (home / "store", home / "site")
    files = [p for folder in folders for p in folder.rglob("*") if p.is_file() and p.suffix != ".duckdb"]
    return {str(p.relative_to(home)): p.read_bytes() for p in files}


def test_the_published_readings_give_the_corrected_headline(frontier, tmp_path):
    code, said, _ = frontier("import", str(PUBLISHED_READINGS))
    assert code == 0
    assert "19 rows read from 1 file: 16 imported, 0 invalid, 3 rejected; 0 files refused." in said
    page = json.loads((tmp_path / "home/site/run/deepseek_v4_1_flash-on-h100/data.json").read_text())
    headline = page["headline"]
    assert headline["throughput_tok_s_gpu"] >= 11_385
    assert headline["basis"] == "faster_config"
    assert headline["delivered_tok_s_user"] == 75
    assert page["provenance"] == "imported"
    assert {row["target_tok_s_user"]: row["at_target"]["throughput_tok_s_gpu"] for row in page["ladder"]} == {
        30: 2694, 50: 1995, 75: 11385, 100: 9711, 150: 7153, 200: 5126,
    }  # fmt: skip
    with open_instance(tmp_path / "home") as instance:
        jobs = {run.job_name for run in instance.get_runs()}
    assert jobs == {"observe_prices", "import_results", "derive_cell", "build_pages", "publish_site"}


def test_importing_a_file_twice_changes_nothing(imported, tmp_path):
    first = stored(tmp_path / "home")
    imported("import", str(PUBLISHED_READINGS))
    assert stored(tmp_path / "home") == first


def hostile_files(folder: Path) -> None:
    folder.mkdir()
    (folder / "truncated.json").write_text('[{"hw": "h100", "tp": 8, "conc":')
    (folder / "empty.json").write_bytes(b"")
    (folder / "binary.json").write_bytes(bytes(range(256)) * 10)
    (folder / "utf16.json").write_text('{"a": 1}', encoding="utf-16")
    (folder / "deep.json").write_text("[" * 200_000)
    (folder / "guidellm.json").write_text('{"metadata": {"guidellm_version": "0.5"}, "benchmarks": []}')
    with (folder / "huge.json").open("wb") as sparse:
        sparse.truncate(2**30)


def test_bad_files_give_one_line_each_and_lose_nothing(imported, tmp_path):
    before = stored(tmp_path / "home")
    hostile_files(tmp_path / "bad")
    code, said, lines = imported("import", str(tmp_path / "bad"))
    assert code == 1
    assert "7 files refused" in said
    refusals = {name: [line for line in lines if f"{name}.json" in line] for name in
                ("truncated", "empty", "binary", "utf16", "deep", "guidellm", "huge")}  # fmt: skip
    assert {name: len(found) for name, found in refusals.items()} == dict.fromkeys(refusals, 1)
    assert "UTF-16" in refusals["utf16"][0]
    assert "at most 512 MiB, found 1024 MiB" in refusals["huge"][0]
    assert "GuideLLM" in refusals["guidellm"][0]
    assert not any("Traceback" in line for line in lines)
    assert stored(tmp_path / "home") == before


def test_a_good_file_among_bad_ones_is_imported_and_the_exit_code_says_that_some_were_not(frontier, tmp_path):
    hostile_files(tmp_path / "mixed")
    (tmp_path / "mixed" / "good.csv").write_bytes(PUBLISHED_READINGS.read_bytes())
    code, said, _ = frontier("import", str(tmp_path / "mixed"))
    assert "16 imported" in said
    assert "7 files refused" in said
    assert code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import", "no/such/file.json"], "no/such/file.json: no such file or folder."),
        (["show", "h10", "x"], "unknown gpu 'h10'. Did you mean 'h100'?"),
        (["show", "h100", "DeepSeek R2"], "Did you mean"),
        (["show", "h100", "gpt2"], "no page of gpt2 on h100"),
        (["publish"], "no result is stored"),
        (["sweep", "h10"], "unknown gpu 'h10'. Did you mean 'h100'?"),
        (["sweep", "mi300x"], "sweep of mi300x: no recipe; expected one of b300, gb200, h100"),
        (["sweep", "h100"], "the simulator's interpreter is not there. Run frontier build simulator"),
        (["sweep", "h100", "--run-date", "2026-01-01"], "the run date is past"),
        (["sweep", "h100", "--run-date", "soon"], "expected YYYY-MM-DD"),
        (["prices", "add", "h100", "retail", "2", "--from", "soon", "--source", "x"], "expected YYYY-MM-DD"),
        (
            ["prices", "add", "h100", "retail", "-2", "--from", "2026-12-01", "--source", "x"],
            "a positive number, found -2",
        ),
        (["import", str(PUBLISHED_READINGS), "--declare", "colour=red"], "unknown key 'colour'"),
    ],
)
def test_a_mistake_is_one_sentence_and_an_exit_code(frontier, arguments, words):
    code, _, lines = frontier(*arguments)
    assert code in (1, 2)
    assert words in " ".join(lines)
    assert not any("Traceback" in line for line in lines)


def test_show_prints_bounds_as_bounds_and_names_the_workload(imported):
    code, said, _ = imported("show", "h100", "DeepSeek V4.1 Flash")
    assert code == 0
    assert "Running DeepSeek V4.1 Flash on H100 (imported): AgentX agentic coding workload, imported" in said
    assert "≥ 50 │ ≥ 11,385 │ ≤ $0.0286" in said
    assert "≥ 75 │ 11,385 │ $0.0285" in said


@pytest.mark.parametrize(
    ("width", "row"),
    [
        ("80", "│ ≥ 100 │ 9,711 │ $0.0335 │ $0.0572 │ published reading │"),
        ("120", "│ ≥ 100 │ 9,711 │ $0.0335 │ $0.0572 │ vllm │ fp4 │ published reading │"),
    ],
)
def test_show_breaks_no_word_in_a_terminal_of_usual_width(imported, monkeypatch, width, row):
    monkeypatch.setenv("COLUMNS", width)
    _, said, _ = imported("show", "h100", "deepseek_v4_1_flash")
    assert row in said
    assert ("Every row: engine vllm; precision fp4" in said) == (width == "80")


def test_show_prints_the_ladder_as_stored_in_csv_and_json(imported):
    rows = json.loads(imported("show", "h100", "deepseek_v4_1_flash", "--json")[1])
    assert [row["target_tok_s_user"] for row in rows] == [30, 50, 75, 100, 150, 200]
    assert rows[2]["throughput_tok_s_gpu"] == 11385
    assert rows[2]["cost_usd_mtok_retail"] == pytest.approx(2.00 / 3600 / 11385 * 1e6)
    assert 'imported",30.0,11385.0,75.0,' in imported("show", "h100", "deepseek_v4_1_flash", "--csv")[1]


def test_a_declared_workload_that_the_lengths_contradict_is_noted(frontier, tmp_path):
    (tmp_path / "run.json").write_text(vllm_result())
    _, said, _ = frontier("import", str(tmp_path / "run.json"), *DECLARED, "--workload", "fixed_8k1k")
    assert "1 row read from 1 file: 1 imported" in said
    assert "1 page of 1 model and GPU pair: " in said
    page = json.loads((tmp_path / "home/site/run/gpt_oss_120b-on-h100/data.json").read_text())
    assert "lengths_differ_from_workload=fixed_8k1k" in json.dumps(page["points"])


def test_a_new_price_changes_the_page_and_leaves_the_readings(imported, tmp_path):
    before = stored(tmp_path / "home")
    code, said, _ = imported("prices", "add", "h100", "retail", "2.50", "--from", "2026-11-01", "--source", "quote")
    assert code == 0
    assert "added h100/retail/2026-11-01: 2.50 USD/GPU/h" in said
    after = stored(tmp_path / "home")
    changed = {name for name in after if after[name] != before.get(name)}
    assert any(name.startswith("store/costs/h100/") for name in changed)
    assert not any(
        name.startswith(("store/raw/", "store/frontier/", "store/costs/b300", "store/imports")) for name in changed
    )
    page = json.loads(after["site/run/deepseek_v4_1_flash-on-h100/data.json"])
    retail = next(cost for cost in page["costs"] if cost["tier"] == "retail")
    # 2.50 x 1e6 / (11385 x 3600)
    assert round(retail["cost_usd_mtok"]["total"], 5) == 0.061


def vllm_result(**changes: object) -> str:
    body = {
        **{"date": "20261015-101500", "backend": "vllm", "model_id": "openai/gpt-oss-120b", "request_rate": "inf"},
        **{"num_prompts": 64, "max_concurrency": 8, "duration": 10.0, "completed": 64, "failed": 0},
        **{"total_input_tokens": 65536, "total_output_tokens": 65536, "request_throughput": 6.4},
        **{"mean_ttft_ms": 100.0, "median_ttft_ms": 90.0, "std_ttft_ms": 9.0, "p99_ttft_ms": 200.0},
        **{"mean_tpot_ms": 10.0, "median_tpot_ms": 10.0, "std_tpot_ms": 1.0, "p99_tpot_ms": 12.0},
    }
    return json.dumps(body | changes)


DECLARED = ("--gpu", "h100", "--gpus", "8", "--engine", "vllm", "--precision", "fp8")


def test_an_edited_price_file_is_followed_by_publish(imported, tmp_path):
    book = tmp_path / "prices.csv"
    book.write_text(book.read_text().replace("h100,retail,2.00,", "h100,retail,9.99,"))
    assert imported("publish")[0] == 0
    page = json.loads((tmp_path / "home/site/run/deepseek_v4_1_flash-on-h100/data.json").read_text())
    retail = next(cost for cost in page["costs"] if cost["tier"] == "retail")
    # 9.99 x 1e6 / (11385 x 3600)
    assert (retail["usd_per_gpu_hour"], round(retail["cost_usd_mtok"]["total"], 4)) == (9.99, 0.2437)
    book.write_text(book.read_text().splitlines()[0] + "\n")
    assert imported("publish")[0] == 0
    page = json.loads((tmp_path / "home/site/run/deepseek_v4_1_flash-on-h100/data.json").read_text())
    assert page["costs"] == []
    assert page["headline"]["cost_usd_mtok"] is None


def test_importing_again_without_the_declarations_takes_nothing_away(frontier, tmp_path):
    (tmp_path / "run.json").write_text(vllm_result())
    assert frontier("import", str(tmp_path / "run.json"), *DECLARED)[0] == 0
    before = stored(tmp_path / "home")
    code, _, lines = frontier("import", str(tmp_path / "run.json"))
    assert code == 1
    assert any("was imported before and gave more points; those stay" in line for line in lines)
    code, _, lines = frontier("import", str(tmp_path / "run.json"), *DECLARED, "--gpu", "h1000")
    assert (code, lines[-1]) == (1, "error: command line: unknown gpu 'h1000' is declared. Did you mean 'h100'?")
    assert stored(tmp_path / "home") == before


def test_a_day_without_a_cell_is_refused_in_one_sentence(frontier, tmp_path):
    (tmp_path / "old.json").write_text(vllm_result(date="20231231-101500"))
    (tmp_path / "late.json").write_text(vllm_result(date="29990101-101500"))
    code, _, lines = frontier("import", str(tmp_path / "old.json"), str(tmp_path / "late.json"), *DECLARED)
    assert code == 1
    assert [line.split(";")[0] for line in lines if "run date" in line] == [
        "old.json: a run date outside the days that can be stored",
        "late.json: a run date outside the days that can be stored",
    ]


def test_words_of_others_are_never_taken_for_markup(frontier, tmp_path):
    (tmp_path / "run[b].json").write_text(vllm_result(model_id="[/foo]"))
    code, _, lines = frontier("import", str(tmp_path / "run[b].json"), *DECLARED)
    assert code == 1
    assert any(line.startswith("run[b].json row 0: rejected, model_unknown: Unknown model '[/foo]'") for line in lines)
    assert frontier("prices", "add", "h100", "retail", "2.1", "--from", "2026-11-02", "--source", "[/b]")[0] == 0
    assert "[/b]" in frontier("prices", "list", "h100")[1]


def test_two_unrecorded_configurations_at_one_concurrency_are_two_points(frontier, tmp_path):
    (tmp_path / "a_tp8_dp1.json").write_text(vllm_result(median_tpot_ms=10.0))
    (tmp_path / "b_tp4_dp2.json").write_text(vllm_result(median_tpot_ms=12.5, duration=8.0))
    frontier("import", str(tmp_path / "a_tp8_dp1.json"), str(tmp_path / "b_tp4_dp2.json"), *DECLARED)
    page = json.loads((tmp_path / "home/site/run/gpt_oss_120b-on-h100/data.json").read_text())
    # 131,072 tokens on 8 GPUs in 10 s at 100 tok/s/user, and in 8 s at 80
    knots = [(k["interactivity_tok_s_user"], k["throughput_tok_s_gpu"]) for k in page["frontier"]]
    assert knots == [(80.0, 2048.0), (100.0, 1638.4)]


@pytest.mark.parametrize("day", ["2020-01-01", "2099-05-05"])
def test_a_sweep_of_a_day_that_cannot_be_is_one_sentence(frontier, day):
    code, _, said = frontier("sweep", "h100", "--kind", "simulated", "--run-date", day)
    assert code == 1
    assert said[-1].startswith(f"error: sweep h100|{day}: no sweep can be of that day; expected 2024-01-01 to ")


def test_a_full_disk_is_one_sentence(frontier, monkeypatch):
    def full(*_: object) -> None:
        raise RuntimeError("database or disk is full")

    monkeypatch.setattr("pipeline.launch.open_instance", full)
    code, _, said = frontier("publish")
    assert code == 1
    assert said == [
        "error: no space is left on the disk of the home folder. Free some, then run the same command again."
    ]


def test_a_command_that_is_stopped_says_that_it_goes_on(frontier, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dagster.JobDefinition.execute_in_process", stop)
    code, _, said = frontier("import", str(PUBLISHED_READINGS), "--no-publish")
    assert code == 130
    assert said[-1].endswith("stopped. What was finished is stored; run the same command again to go on.")
