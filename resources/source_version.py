"""Which code and which registry are running, as hashes of the files that a page depends on."""

import functools
import hashlib
from importlib import resources
from pathlib import Path

CODE_FOLDERS = ("cost", "frontier", "measure", "pages", "tables")
"""What numbers and words of a stored page come from; templates and styles shape the site only."""

REGISTRY_FILES = ("engines", "gpus", "models", "tiers", "workloads")


@functools.cache
def code_version() -> str:
    """Hash of the Python and SQL files behind a stored page."""
    root = _root()
    return _hashed(
        [path for name in CODE_FOLDERS for path in (root / name).rglob("*") if path.suffix in (".py", ".sql")]
    )


@functools.cache
def registry_version() -> str:
    """Hash of the registry's files that a page reads."""
    return _hashed([_root() / "registry" / f"{name}.toml" for name in REGISTRY_FILES])


def _root() -> Path:
    return Path(str(resources.files("pipeline")))


def _hashed(files: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(path.relative_to(_root()).as_posix().encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]
