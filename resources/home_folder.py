"""The home folder as a whole: whether it can be one. What is in it is told by those who read and write it."""

import os
import tempfile
from pathlib import Path

from pipeline.errors import StoreError
from resources.atomic_files import TEMP_PREFIX


def refuse_impossible_home(home: Path) -> None:
    """Raises StoreError for a home that is no folder, cannot be read, or is not there and cannot be made.

    One that is not there yet is an empty one, where the folder around it is there and can be written.
    """
    try:
        if home.exists():
            os.scandir(home).close()
        else:
            Path(tempfile.mkdtemp(prefix=TEMP_PREFIX, dir=home.parent)).rmdir()
    except OSError as error:
        raise StoreError(
            f"is no home folder and none can be made there ({error.strerror or error})",
            where=str(home),
            expected="a folder, or a new name in a folder that can be written",
            next_step="Name another with --home.",
        ) from error
