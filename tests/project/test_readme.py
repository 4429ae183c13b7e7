"""What the README says is run or compared."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.commands import exit_code_of
from tests.project.readme_parts import README, with_parts

TEXT = README.read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


VLLM_RESULT = {
    **{"date": "20261015-101500", "backend": "vllm", "model_id": "openai/gpt-oss-120b", "request_rate": "inf"},
    **{"num_prompts": 64, "max_concurrency": 8, "duration": 10.0, "completed": 64, "failed": 0},
    **{"total_input_tokens": 65536, "total_output_tokens": 65536, "request_throughput": 6.4},
    **{"mean_ttft_ms": 100.0, "median_ttft_ms": 90.0, "std_ttft_ms": 9.0, "p99_ttft_ms": 200.0},
    **{"mean_tpot_ms": 10.0, "median_tpot_ms": 10.0, "std_tpot_ms": 1.0, "p99_tpot_ms": 12.0},
}


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith(".venv/bin/")]


def test_the_tables_are_those_of_the_code_and_of_the_last_bench():
    assert with_parts(TEXT) == TEXT, "run make docs"


def test_the_readme_has_no_path_of_one_machine_and_no_registry_host():
    assert not re.search(r"/(work|root|tmp|home)/|pypi|files\.pythonhosted", TEXT)


def test_every_make_target_that_the_readme_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (README.parent / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", TEXT)) <= targets


def test_the_commands_run_as_written(tmp_path, monkeypatch, capsys):
    (tmp_path / "prices.csv").write_text((README.parent / "pipeline/registry/prices.csv").read_text())
    results = tmp_path / "results"
    results.mkdir()
    (results / "run.json").write_text(json.dumps(VLLM_RESULT))
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("FRONTIER_PRICES", str(tmp_path / "prices.csv"))
    monkeypatch.chdir(tmp_path)
    readings = README.parent / "pipeline/imports/published_readings.csv"
    first, *others = [f".venv/bin/frontier import {readings}", *commands()]
    assert len(others) == 6
    # One as the program that setup installs, the others by its entry point: each would load the same code again.
    output = stdout_of(words(first))
    for line in others:
        if words(line)[0] == str(BIN / "frontier"):
            assert exit_code_of(*words(line)[1:]) == 0, line
            output += capsys.readouterr().out
        else:
            output += stdout_of(words(line))
    assert "1 row read from 1 file: 1 imported" in " ".join(output.split())
    # 131,072 tokens / 10 s / 8 GPUs; 2.10 USD/h x 1e6 / (1638.4 x 3600)
    assert "1,638" in output
    assert "11385.0" in output


def stdout_of(arguments: list[str]) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def words(line: str) -> list[str]:
    """A command as the shell splits it, with the programs of this environment."""
    return shlex.split(line.replace(".venv/bin", str(BIN)))
