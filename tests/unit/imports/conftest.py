"""Reading a few bytes as an import does: content, a name and declarations in; an outcome out."""

import json

import pytest

from pipeline.imports.reader import read_results
from pipeline.imports.source import Declared, SourceFile
from pipeline.registry.shipped import shipped_registry


@pytest.fixture(scope="session")
def registry():
    return shipped_registry()


@pytest.fixture(scope="session")
def read(registry):
    def read_(content, name="result.json", **declared):
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        return read_results(SourceFile(name, content), Declared(**declared), registry)

    return read_


@pytest.fixture(scope="session")
def point(read):
    """The one point of a file that is one row."""

    def point_(content, name="result.json", **declared):
        outcome = read(content, name, **declared)
        assert outcome.rejected == ()
        assert outcome.points.num_rows == 1
        return outcome.points.to_pylist()[0]

    return point_


@pytest.fixture(scope="session")
def rejection(read):
    """The one rejected row of a file that is one row."""

    def rejection_(content, name="result.json", **declared):
        outcome = read(content, name, **declared)
        assert outcome.points.num_rows == 0
        return outcome.rejected[0]

    return rejection_
