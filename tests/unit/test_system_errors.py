import errno
import sqlite3

import duckdb
import pytest

from pipeline.system_errors import DAMAGED_RECORDS, FULL, NO_RECORDS, READ_ONLY, sentence_of

HOME = "the home folder, or a folder in it"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), FULL),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), FULL),
        (sqlite3.OperationalError("database or disk is full"), FULL),
        (duckdb.IOException('Could not write file "x": No space left on device'), FULL),
        (OSError(errno.EROFS, "Read-only file system", "/a/b"), f"/a/b {READ_ONLY}"),
        (sqlite3.OperationalError("attempt to write a readonly database"), f"{HOME}, {READ_ONLY}"),
        (sqlite3.OperationalError("disk I/O error"), NO_RECORDS),
        (sqlite3.OperationalError("unable to open database file"), NO_RECORDS),
        (sqlite3.DatabaseError("database disk image is malformed"), DAMAGED_RECORDS),
        (sqlite3.DatabaseError("file is not a database"), DAMAGED_RECORDS),
        (ValueError("a defect"), None),
    ],
)  # fmt: skip
def test_what_the_system_says_is_a_sentence_and_a_defect_is_none(error, sentence):
    assert sentence_of(error) == sentence


def test_errors_that_caused_each_other_are_looked_at_once():
    one, other = RuntimeError("one"), RuntimeError("other")
    one.__cause__, other.__cause__ = other, one
    assert sentence_of(one) is None


def test_the_cause_behind_another_error_is_found():
    error = RuntimeError("a step failed")
    error.__cause__ = OSError(errno.ENOSPC, "x")
    assert sentence_of(error) == FULL
