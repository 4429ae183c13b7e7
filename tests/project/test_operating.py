"""What docs/operating.md says is run, in its order, on one home folder; what needs a service is parsed."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer

from pipeline import cli
from pipeline.definitions import CHECKOUT
from pipeline.registry.hosts import parse_hosts

HANDBOOK = CHECKOUT / "docs" / "operating.md"
TEXT = HANDBOOK.read_text(encoding="utf-8")
READINGS = CHECKOUT / "pipeline" / "imports" / "published_readings.csv"
FRONTIER = ".venv/bin/frontier"
PYTHON = ".venv/bin/python"


def lines_of(kind: str) -> list[str]:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
    return [line for name, block in blocks if name == kind for line in block.splitlines() if line.strip()]


def words_of(line: str) -> tuple[dict[str, str], str, list[str]]:
    """Variables in front of a command, its program, its arguments."""
    words = shlex.split(line)
    settings = [word for word in words if re.match(r"[A-Z_]+=", word)]
    program, *arguments = words[len(settings) :]
    return dict(word.split("=", 1) for word in settings), program, arguments


def named_commands() -> Iterator[list[str]]:
    """Arguments of every frontier command that the handbook names and no block runs."""
    for line in [*lines_of(""), *re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))]:
        found = re.search(r"(?:^|\s)(?:\.venv/bin/)?frontier ((?:[a-z-]+ ?).*)$", line)
        if found:
            yield shlex.split(found[1])


@pytest.fixture
def person(tmp_path, monkeypatch, capsys):
    """Types one line in a folder where data is the home; returns what was printed. The line must succeed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.csv").write_text((CHECKOUT / "pipeline/registry/prices.csv").read_text())
    monkeypatch.setenv("FRONTIER_PRICES", str(tmp_path / "prices.csv"))
    monkeypatch.setenv("COLUMNS", "200")

    def types(line: str) -> str:
        settings, program, arguments = words_of(line)
        if program == PYTHON:
            done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            return done.stdout
        assert program == FRONTIER, f"{line}: a block that is run holds only frontier and python"
        with monkeypatch.context() as patch:
            for name, value in {"FRONTIER_HOME": str(tmp_path / "data"), **settings}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["frontier", *arguments])
            with pytest.raises(SystemExit) as ending:
                cli.main()
        said = capsys.readouterr()
        assert not ending.value.code, f"{line}\n{said.err}"
        return said.out

    return types


@pytest.mark.week
def test_every_command_of_the_handbook_runs_as_written(person, tmp_path):
    head, *rows = READINGS.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "readings.csv").write_text("".join([head, *(row for row in rows if "h100" in row)]))
    person(f"{FRONTIER} import readings.csv")
    said = {line: " ".join(person(line).split()) for line in lines_of("sh")}
    assert len(said) >= 12
    restored = next(text for line, text in said.items() if "--home restored publish" in line)
    assert restored.startswith("1 page of 1 model and GPU pair: ")
    rows = next(text for line, text in said.items() if "source_row" in line)
    assert "11385" in rows
    query = next(text for line, text in said.items() if "recompute.sql" in line)
    assert "11385" in query


@pytest.mark.parametrize("arguments", list(named_commands()), ids=" ".join)
def test_every_command_that_is_only_named_exists_with_its_options(arguments):
    command, words = typer.main.get_command(cli.app), list(arguments)
    while hasattr(command, "get_command") and words:
        name = words.pop(0)
        command = command.get_command(typer.Context(command), name)
        assert command is not None, f"no command {name}"
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.partition("=")[0] for word in words if word.startswith("-")} <= known


def test_the_hosts_of_the_handbook_are_hosts_of_the_registry():
    hosts = parse_hosts("\n".join(lines_of("toml")), "hosts.toml")
    assert [host.kind for host in hosts.values()] == ["celery", "ssh", "slurm", "kubernetes"]


def test_the_handbook_has_no_path_of_one_machine_and_names_only_files_that_exist():
    assert not re.search(r"/(work|root|tmp|home)/|pypi|files\.pythonhosted", TEXT)
    for name in re.findall(r"`((?:pipeline|deploy|resources|docs)/[\w./@-]+)`", TEXT):
        assert (CHECKOUT / name).exists(), name


def test_every_make_target_that_the_handbook_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", TEXT)) <= targets | {"sure"}
