"""A lock between processes: a file that one of them holds. Children that inherit its descriptor hold it too."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


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
