import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from resources.atomic_files import (
    ABANDONED_AFTER_S,
    TEMP_PREFIX,
    put_in_place,
    restore_folder,
    swap_folder,
    write_bytes,
    write_with,
)


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


def folders(tmp_path):
    new, live = tmp_path / ".tmp-new-site", tmp_path / "site"
    for folder, text in ((new, "new"), (live, "old")):
        folder.mkdir()
        (folder / "a").write_text(text)
    return new, live


def test_two_folders_change_places_in_one_step(tmp_path, monkeypatch):
    new, live = folders(tmp_path)
    monkeypatch.setattr(Path, "rename", None)  # not even asked for
    swap_folder(new, live)
    assert (live / "a").read_text() == "new"


def test_where_that_cannot_be_done_the_old_folder_is_moved_aside_and_gone_in_the_end(tmp_path, monkeypatch):
    new, live = folders(tmp_path)
    monkeypatch.setattr("resources.atomic_files._exchanged", lambda *_: False)
    swap_folder(new, live)
    assert (live / "a").read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_a_swap_that_was_killed_between_its_two_renames_is_undone(tmp_path):
    _, live = folders(tmp_path)
    live.rename(tmp_path / ".tmp-old-site")
    restore_folder(live)
    assert (live / "a").read_text() == "old"
    restore_folder(live)
    assert (live / "a").read_text() == "old"


def test_what_a_killed_writer_left_long_ago_is_removed_and_what_is_being_written_is_not(tmp_path):
    for name, age_s in ((".tmp-dead", ABANDONED_AFTER_S + 60), (".tmp-young", 0), ("old", ABANDONED_AFTER_S + 60)):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    write_bytes(tmp_path / "a", b"1")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".tmp-young", "a", "old"]


def test_a_place_where_no_folder_can_be_made_is_not_a_matter_of_permissions(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=r"cannot write \(.*\)\. There is no such folder and none can be made"):
        write_bytes(tmp_path / "file" / "x" / "y", b"content")


@pytest.fixture
def steps(tmp_path, monkeypatch) -> Iterator[list[str]]:
    """What reaches the disk, and the renames between: fsync of names below the folder, sync of its file system."""
    done: list[str] = []
    fsync, replace, rename = os.fsync, Path.replace, Path.rename

    def seen_fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().relative_to(tmp_path).as_posix()
        done.append(f"fsync {'temp' if TEMP_PREFIX in name else name}")
        fsync(descriptor)

    def renamed(how, path, to):
        done.append(f"rename to {to.relative_to(tmp_path)}")
        return how(path, to)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(Path, "replace", lambda path, to: renamed(replace, path, to))
    monkeypatch.setattr(Path, "rename", lambda path, to: renamed(rename, path, to))
    monkeypatch.setattr("resources.atomic_files._sync_files", lambda folder: done.append("sync files"))
    return done


def test_a_file_is_on_the_disk_before_its_name_is_and_its_name_before_the_next_is_written(tmp_path, steps):
    write_bytes(tmp_path / "a", b"1")
    write_bytes(tmp_path / "a", b"2")
    assert steps == ["fsync temp", "rename to a", "fsync ."] * 2
    write_bytes(tmp_path / "a", b"2")
    assert len(steps) == 6


def test_new_folders_are_on_the_disk_with_their_file(tmp_path, steps):
    write_bytes(tmp_path / "b" / "c" / "a", b"1")
    assert steps == ["fsync temp", "rename to b/c/a", "fsync b/c", "fsync b", "fsync ."]


def test_a_file_that_cannot_be_put_on_the_disk_is_not_renamed_and_the_old_one_stays(tmp_path, monkeypatch):
    write_bytes(tmp_path / "a", b"old")

    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StoreError, match="Input/output error"):
        write_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_file_system_that_knows_no_fsync_of_folders_is_written_to_as_any(tmp_path, monkeypatch):
    fsync = os.fsync

    def only_files(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").is_dir():
            raise OSError(22, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    assert write_bytes(tmp_path / "a", b"new") is True


def test_the_files_of_a_folder_are_on_the_disk_before_it_is_swapped_in_and_the_old_one_goes_last(
    tmp_path, monkeypatch, steps
):
    new, live = folders(tmp_path)
    monkeypatch.setattr("resources.atomic_files._exchanged", lambda *_: not steps.append("exchange"))
    monkeypatch.setattr("shutil.rmtree", lambda folder, **_: steps.append(f"remove {folder.name}"))
    swap_folder(new, live)
    assert steps == ["sync files", "exchange", "fsync .", "remove .tmp-new-site"]


def test_without_an_exchange_the_old_folder_goes_last_as_well(tmp_path, monkeypatch, steps):
    new, live = folders(tmp_path)
    monkeypatch.setattr("resources.atomic_files._exchanged", lambda *_: False)
    monkeypatch.setattr("shutil.rmtree", lambda folder, **_: steps.append(f"remove {folder.name}"))
    swap_folder(new, live)
    moved = ["rename to .tmp-old-site", "rename to site", "fsync .", "remove .tmp-old-site"]
    assert steps == ["sync files", "remove .tmp-old-site", *moved]


def test_what_is_put_in_a_place_is_on_the_disk_first(tmp_path, steps):
    (tmp_path / "new").mkdir()
    put_in_place(tmp_path / "new", tmp_path / "model")
    assert steps == ["sync files", "rename to model", "fsync ."]


def test_a_file_system_is_put_on_its_disk_by_one_call_or_all_are(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    monkeypatch.setattr(os, "sync", lambda: asked.append("all"))
    (tmp_path / "new").write_bytes(b"1")
    put_in_place(tmp_path / "new", tmp_path / "a")
    assert asked == ["all"]
    monkeypatch.undo()
    put_in_place(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"1"
