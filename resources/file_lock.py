"""A lock between processes: a file that one of them holds. Children that inherit its descriptor hold it too."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import StoreError

_PERMISSIONS = "Correct its permissions, or name another folder with --home."
_SPACE = "Free some space, or name a folder on another disk with --home."
_NEXT_STEPS = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _PERMISSIONS),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _SPACE),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "A file is where a folder should be: name another with --home."),
}


@contextmanager
def held(path: Path, waiting: Callable[[], None]) -> Iterator[int]:
    """Hold the lock inside the block; its descriptor is for children that may outlive this process.

    ``waiting`` is called once where somebody else holds it. The lock ends when the last holder's descriptor is
    closed, so it is closed and never unlocked: a child that goes on keeps everybody else out. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def cannot_be_written(home: Path, error: OSError) -> StoreError:
    """What is said of a home folder whose lock cannot be taken, with the next step that fits the reason."""
    next_step = _NEXT_STEPS.get(error.errno or 0, "No folder can be made there: name another with --home.")
    return StoreError(f"cannot be written ({error.strerror or error})", where=str(home), next_step=next_step)
