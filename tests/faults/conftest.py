"""Failures, injected. FAULTS_ROUNDS=20 runs every test that takes a seed twenty times, each with its own seed."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import cli
from pipeline.definitions import CHECKOUT
from tests.faults.children import Children

ROUNDS = int(os.environ.get("FAULTS_ROUNDS", "1"))
FIRST_SEED = int(os.environ.get("FAULTS_SEED", "1"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker("faults")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(FIRST_SEED, FIRST_SEED + ROUNDS))


@pytest.fixture
def rng(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture(scope="session")
def children() -> Children:
    """Processes that have everything imported already: a kill at a random moment then hits work, not imports."""
    return Children()


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A home folder on a file system of 24 MiB of its own. Skipped where this user may not mount one."""
    folder = tmp_path / "home"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def frontier(tmp_path, monkeypatch, capsys) -> Callable[..., tuple[int, str, list[str]]]:
    """Runs one command over the home folder of the test; exit code, standard output, lines of standard error."""
    (tmp_path / "prices.csv").write_text((CHECKOUT / "pipeline/registry/prices.csv").read_text())
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FRONTIER_PRICES", str(tmp_path / "prices.csv"))
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


@pytest.fixture
def copied(tmp_path):
    """Copies a home folder into this test's own folder, hard links and all."""

    def copy(home: Path, name: str = "home") -> Path:
        return Path(shutil.copytree(home, tmp_path / name, symlinks=True))

    return copy
