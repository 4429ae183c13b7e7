"""Writing a file so that a reader sees the old one or the new one, never half of one.

Temp file in the same folder + fsync + rename. Temp names start with .tmp-, which no reader lists.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from pipeline.errors import StoreError

TEMP_PREFIX = ".tmp-"


def write_bytes(path: Path, content: bytes) -> bool:
    """Write the file unless it already holds these bytes. Returns whether it was written. Raises StoreError."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return False

    def fill(temp: Path) -> None:
        temp.write_bytes(content)

    write_with(path, fill)
    return True


def write_with(path: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write a temp file, then fsync it and rename it to the path. Raises StoreError."""
    temp = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=TEMP_PREFIX, dir=path.parent)
        temp = Path(name)
        os.close(descriptor)
        temp.chmod(0o644)
        fill(temp)
        with temp.open("rb") as handle:
            os.fsync(handle.fileno())
        temp.replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write ({error.strerror or error})",
            where=str(path),
            next_step="Free space or correct the permissions, then run the same command again.",
        ) from error
    finally:
        if temp is not None:
            temp.unlink(missing_ok=True)


def swap_folder(new: Path, live: Path) -> None:
    """Put a finished folder where the live one is: the old one stays until the new one is complete.

    Raises StoreError, and then the old folder is in its place.
    """
    old = live.with_name(f"{TEMP_PREFIX}old-{live.name}")
    try:
        shutil.rmtree(old, ignore_errors=True)
        if live.exists():
            live.rename(old)
        try:
            new.rename(live)
        except OSError:
            if old.exists():
                old.rename(live)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"cannot swap the finished folder in ({error.strerror or error})",
            where=str(live),
            next_step="Correct the permissions, then publish again.",
        ) from error


def sha256_of(content: bytes) -> str:
    """Hex SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()
