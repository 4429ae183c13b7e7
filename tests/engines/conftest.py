"""Real engine builds: FRONTIER_ENGINES_HOME is a home folder whose builds/ holds them. Nothing is built here."""

import os
from pathlib import Path

import pytest

from pipeline.registry.shipped import shipped_plan
from resources.built import Built
from resources.engine_builder import EngineBuilder


@pytest.fixture(scope="session")
def engines() -> EngineBuilder:
    home = os.environ.get("FRONTIER_ENGINES_HOME")
    if not home:
        pytest.skip("FRONTIER_ENGINES_HOME names no home folder with engine builds")
    return EngineBuilder(root_dir=str(Path(home) / "builds"))


@pytest.fixture(scope="session")
def built_of(engines):
    """The finished build of a slug, or a skip."""

    def find(slug: str) -> Built:
        built = engines.find(shipped_plan(slug))
        if built is None:
            pytest.skip(f"{slug} is not built in FRONTIER_ENGINES_HOME")
        return built

    return find
