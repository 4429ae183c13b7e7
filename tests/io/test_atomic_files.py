import pytest

from pipeline.errors import StoreError
from resources.atomic_files import TEMP_PREFIX, swap_folder, write_bytes, write_with


def test_the_same_bytes_are_not_written_again(tmp_path):
    path = tmp_path / "a" / "b.txt"
    assert write_bytes(path, b"one") is True
    before = path.stat().st_mtime_ns
    assert write_bytes(path, b"one") is False
    assert path.stat().st_mtime_ns == before


def test_a_failed_write_leaves_the_old_file_and_no_temp_file(tmp_path):
    path = tmp_path / "b.txt"
    path.write_bytes(b"old")

    def full_disk(temp):
        temp.write_bytes(b"ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match="No space left on device"):
        write_with(path, full_disk)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["b.txt"]


def test_a_folder_is_swapped_in_whole(tmp_path):
    live, new = tmp_path / "site", tmp_path / ".tmp-new"
    live.mkdir()
    (live / "old.html").write_text("old")
    new.mkdir()
    (new / "new.html").write_text("new")
    swap_folder(new, live)
    assert [p.name for p in live.iterdir()] == ["new.html"]
    assert not list(tmp_path.glob(f"{TEMP_PREFIX}*"))


def test_a_swap_that_fails_puts_the_old_folder_back(tmp_path):
    live = tmp_path / "site"
    live.mkdir()
    (live / "old.html").write_text("old")
    with pytest.raises(StoreError, match="cannot swap"):
        swap_folder(tmp_path / "absent", live)
    assert (live / "old.html").read_text() == "old"
