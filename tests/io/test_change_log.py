import pytest

from pipeline.errors import StoreError
from pipeline.tables.changes import CHANGES
from resources.change_log import ChangeLog
from tests.unit.pages.test_changes import NEXT_DAY, one, publish


@pytest.fixture
def log(tmp_path):
    return ChangeLog(root_dir=str(tmp_path))


FIRST, _ = publish(CHANGES.empty(), one())


def test_a_log_is_empty_before_the_first_publication(log):
    assert log.read().num_rows == 0


def test_rows_come_back_as_they_were_and_the_same_log_is_not_written_again(log):
    assert log.write(FIRST)
    assert log.read().equals(FIRST)
    assert not log.write(FIRST)
    assert not log.write(log.read())


def test_a_longer_log_takes_its_place_and_a_rewritten_one_is_refused(log):
    log.write(FIRST)
    longer, _ = publish(FIRST, one(y=9900.0), day=NEXT_DAY)
    assert log.write(longer)
    with pytest.raises(StoreError, match="does not begin with the stored one"):
        log.write(FIRST)
    assert log.read().equals(longer)


def test_a_damaged_log_is_named(log):
    log.write(FIRST)
    log.path.write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"changes\.parquet: not a readable Parquet file") as error:
        log.read()
    assert "The last published copy is site/data/changes.parquet of the home folder" in str(error.value)
    assert "elete it and" not in str(error.value)
