"""The command line as a person meets it: one sentence for what is wrong, exit codes, nothing lost, runs kept."""

import json
import sys
from pathlib import Path

import pytest

from pipeline import cli
from pipeline.definitions import CHECKOUT
from resources.dagster_runs import open_instance

READINGS = CHECKOUT / "pipeline" / "imports" / "published_readings.csv"


@pytest.fixture
def frontier(tmp_path, monkeypatch, capsys):
    """Runs one command over a home of its own; returns exit code, standard output and standard error as lines."""
    (tmp_path / "prices.csv").write_text((CHECKOUT / "pipeline/registry/prices.csv").read_text())
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FRONTIER_PRICES", str(tmp_path / "prices.csv"))
    monkeypatch.delenv("FRONTIER_SIMULATOR_PYTHON", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, list[str]]:
        monkeypatch.setattr(sys, "argv", ["frontier", *arguments])
        code = 0
        try:
            cli.main()
        except SystemExit as ending:
            code = int(ending.code or 0)
        said = capsys.readouterr()
        return code, " ".join(said.out.split()), [line for line in said.err.splitlines() if line.strip()]

    return run


def stored(home: Path) -> dict[str, bytes]:
    folders = (home / "store", home / "site")
    files = [p for folder in folders for p in folder.rglob("*") if p.is_file() and p.suffix != ".duckdb"]
    return {str(p.relative_to(home)): p.read_bytes() for p in files}


def test_the_published_readings_give_the_corrected_headline(frontier, tmp_path):
    code, said, _ = frontier("import", str(READINGS))
    assert code == 0
    assert "19 rows read from 1 files: 16 imported, 0 invalid, 3 rejected; 0 files refused." in said
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
    assert jobs == {"import_results", "derive_cell", "build_pages", "publish_site"}


def test_importing_a_file_twice_changes_nothing(frontier, tmp_path):
    frontier("import", str(READINGS))
    first = stored(tmp_path / "home")
    frontier("import", str(READINGS))
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


def test_bad_files_give_one_line_each_and_lose_nothing(frontier, tmp_path):
    frontier("import", str(READINGS))
    before = stored(tmp_path / "home")
    hostile_files(tmp_path / "bad")
    code, said, lines = frontier("import", str(tmp_path / "bad"))
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
    (tmp_path / "mixed" / "good.csv").write_bytes(READINGS.read_bytes())
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
        (["sweep", "h100"], "builds/simulator/bin/python: the simulator's interpreter is not there."),
        (["sweep", "h100", "--run-date", "2026-01-01"], "the run date is past"),
        (["sweep", "h100", "--run-date", "soon"], "expected YYYY-MM-DD"),
        (["prices", "add", "h100", "retail", "2", "--from", "soon", "--source", "x"], "expected YYYY-MM-DD"),
        (["prices", "add", "h100", "retail", "-2", "--from", "2026-12-01", "--source", "x"], ""),
        (["import", str(READINGS), "--declare", "colour=red"], "unknown key 'colour'"),
    ],
)
def test_a_mistake_is_one_sentence_and_an_exit_code(frontier, arguments, words):
    code, _, lines = frontier(*arguments)
    assert code in (1, 2)
    assert words in " ".join(lines)
    assert not any("Traceback" in line for line in lines)


def test_a_new_price_changes_the_page_and_leaves_the_readings(frontier, tmp_path):
    frontier("import", str(READINGS))
    before = stored(tmp_path / "home")
    code, said, _ = frontier("prices", "add", "h100", "retail", "2.50", "--from", "2026-11-01", "--source", "quote")
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
