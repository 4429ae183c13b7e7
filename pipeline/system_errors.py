"""What the system under us says, as a sentence: a full disk, a folder that is read-only, damaged records of Dagster.

Belongs here: telling these from defects of ours, in the words of the kernel, of SQLite and of DuckDB. Everything that
we know of beforehand is a FrontierError where it happens.
"""

import errno
from collections.abc import Iterator

FULL = "no space is left on the disk of the home folder. Free some, then run the same command again."
READ_ONLY = "cannot be written. Correct its permissions or its mount, then run the same command again."
NO_RECORDS = (
    "Dagster's own records (dagster/ in the home folder) cannot be written: no space is left on the disk, or the "
    "folder is read-only. Free some, or correct its permissions or its mount, then run the same command again."
)
"""SQLite says no more than that it cannot."""

DAMAGED_RECORDS = (
    "Dagster's own records (dagster/ in the home folder) are damaged. Results and site are not in there: restore that "
    "folder from a backup, or move it aside to begin with empty records, then run the same command again."
)

_BY_NUMBER = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EROFS: READ_ONLY,
    errno.EACCES: READ_ONLY,
}
_BY_WORDS = {
    "disk is full": FULL,
    "No space left on device": FULL,
    "readonly database": READ_ONLY,
    "Read-only file system": READ_ONLY,
    "disk I/O error": NO_RECORDS,
    "unable to open database file": NO_RECORDS,
    "disk image is malformed": DAMAGED_RECORDS,
    "file is not a database": DAMAGED_RECORDS,
}


def sentence_of(error: BaseException) -> str | None:
    """What a person can do about an error of the system, None where it is none of those."""
    for behind in _chain(error):
        found = _sentence(behind)
        if found:
            place = getattr(behind, "filename", None) or "the home folder, or a folder in it,"
            return f"{place} {READ_ONLY}" if found == READ_ONLY else found
    return None


def _sentence(error: BaseException) -> str | None:
    number = getattr(error, "errno", None)
    if number in _BY_NUMBER:
        return _BY_NUMBER[number]
    said = str(error)
    return next((sentence for words, sentence in _BY_WORDS.items() if words in said), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and those behind it, each once: an error that is raised from what it caused makes a circle."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
