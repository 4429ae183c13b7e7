"""Fixtures for every test: where the real result files are, and a fresh DuckDB connection."""

import os
from pathlib import Path

import duckdb
import pytest
from hypothesis import settings

os.environ["COLUMNS"] = "200"  # before a console is made: it keeps the width that it finds

settings.register_profile("untimed", deadline=None)  # a busy machine is not a failed test
settings.load_profile("untimed")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of real result files and reference pages beside the checkout."""
    if not (SHARED / "data" / "INDEX.csv").exists():
        pytest.skip(f"the real result files are not here: {SHARED} is absent")
    return SHARED


@pytest.fixture
def connection():
    with duckdb.connect(":memory:") as fresh:
        yield fresh
