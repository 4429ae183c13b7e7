"""Dagster instances for tests, copied from one that a process makes once: laying out a new one takes a second."""

import functools
import shutil
import tempfile
from pathlib import Path

import dagster as dg

from resources.dagster_runs import open_instance


@functools.cache
def _made() -> tempfile.TemporaryDirectory:
    """A home folder with the product's instance in it, where nothing ran; it goes when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="frontier-instance-")
    with open_instance(Path(folder.name)) as instance:
        assert instance.get_runs_count() == 0
    return folder


def lay_instance(home: Path) -> None:
    """Put an instance into a home folder that has none, as its first command would."""
    shutil.copytree(Path(_made().name) / "dagster", home / "dagster")


def passing_instance(folder: Path) -> dg.DagsterInstance:
    """An instance in memory, whose captured logs are below the folder."""
    return dg.DagsterInstance.ephemeral(str(folder))
