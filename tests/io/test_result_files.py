"""Result files as they lie in folders: with what belongs to them."""

import pytest

from pipeline.errors import UnreadableFileError
from resources.result_files import ResultFiles

RESULT = "D100_11_text-to-text_num_concurrency_2_time_4s.json"


def test_what_belongs_to_a_file_is_read_with_it(tmp_path):
    (tmp_path / RESULT).write_text("{}")
    (tmp_path / "experiment_metadata.json").write_text('{"cmd": ""}')
    (tmp_path / "other.json").write_text("[]")
    source = ResultFiles().read(tmp_path / RESULT)
    assert source.beside == {"experiment_metadata.json": b'{"cmd": ""}'}
    assert ResultFiles().read(tmp_path / "other.json").beside == {}


def test_what_is_not_there_is_not_missed(tmp_path):
    (tmp_path / RESULT).write_text("{}")
    (tmp_path / "experiment_metadata.json").mkdir()
    assert ResultFiles().read(tmp_path / RESULT).beside == {}


def test_what_belongs_to_a_file_has_the_same_limit(tmp_path):
    (tmp_path / RESULT).write_text("{}")
    with (tmp_path / "experiment_metadata.json").open("wb") as sparse:
        sparse.truncate(2 * 2**20)
    with pytest.raises(UnreadableFileError, match=r"experiment_metadata\.json: too large"):
        ResultFiles(max_mib=1).read(tmp_path / RESULT)
