"""Backups: whole files while others write, nothing over what is there, nothing out of a damaged or hostile archive."""

import datetime as dt
import io
import json
import os
import sqlite3
import tarfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from resources.atomic_files import sha256_of, write_bytes
from resources.backup import LIST, PRICES, read_backup, write_backup

NOW = dt.datetime(2026, 11, 1, 12, 30, tzinfo=dt.UTC)
SQUARES = [(n, n * n) for n in range(50)]


@pytest.fixture
def home(tmp_path) -> Path:
    """One file of each kind, one database, and what is left out."""
    home = tmp_path / "home"
    for name in ("store/raw/h100/2026-11-01/points.parquet", "site/index.html", "candidates/vllm_cuda/0.34.0.lock"):
        write_bytes(home / name, name.encode() * 1000)
    write_bytes(home / "devices/h100.quarantine.json", b'{"reason": "fans"}')
    left_out = ("devices/h100.lock", "devices/h100.holder.json", "builds/b/x", "models/m/x", "load/x", "servers/s.log")
    for name in (*left_out, "store/raw/h100/2026-11-01/.tmp-abc", ".frontier.lock", "dagster/runs.db-wal"):
        write_bytes(home / name, b"of this host")
    (home / "dagster/runs.db-wal").unlink()
    with closing(sqlite3.connect(home / "dagster/runs.db")) as database, database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE squares (n, square)")
        database.executemany("INSERT INTO squares VALUES (?, ?)", SQUARES)
    (tmp_path / "book.csv").write_text("gpu,tier\n")
    return home


@pytest.fixture
def archive(home, tmp_path) -> Path:
    write_backup(home, {PRICES: tmp_path / "book.csv"}, tmp_path / "b.tar.gz", NOW, nobody)
    return tmp_path / "b.tar.gz"


def nobody() -> None:
    raise AssertionError("somebody else is at work")


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {
        ".frontier.lock",
        ".site.lock",
    }


def test_what_is_restored_is_what_was_stored_without_what_is_of_the_host_or_made_again(home, archive, tmp_path):
    done = read_backup(archive, tmp_path / "new", nobody)
    assert done.made_at == NOW
    kept = {"store/raw/h100/2026-11-01/points.parquet", "site/index.html", "candidates/vllm_cuda/0.34.0.lock"}
    kept |= {"devices/h100.quarantine.json"}
    assert names(tmp_path / "new") == kept | {"dagster/runs.db", PRICES} == done.files.keys()
    for name in kept:
        assert (tmp_path / "new" / name).read_bytes() == (home / name).read_bytes()
    assert (tmp_path / "new" / PRICES).read_text() == "gpu,tier\n"
    with closing(sqlite3.connect(tmp_path / "new/dagster/runs.db")) as database:
        assert database.execute("SELECT * FROM squares").fetchall() == SQUARES


def test_files_that_are_replaced_and_rows_that_are_added_meanwhile_are_whole(home, tmp_path):
    file, stop = home / "store/raw/h100/2026-11-01/points.parquet", threading.Event()

    def write() -> None:
        n = 0
        with closing(sqlite3.connect(home / "dagster/runs.db", timeout=60)) as database:
            while not stop.is_set():
                n += 1
                write_bytes(file, str(n).encode() * 100_000)
                with database:  # both rows or none
                    database.executemany("INSERT INTO squares VALUES (?, ?)", [(n, n), (n, -n)])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for n in range(5):
            write_backup(home, {PRICES: tmp_path / "book.csv"}, tmp_path / f"{n}.tar.gz", NOW, nobody)
    finally:
        stop.set()
        writer.join()
    for n in range(5):
        read_backup(tmp_path / f"{n}.tar.gz", tmp_path / f"new{n}", nobody)
        text = (tmp_path / f"new{n}" / file.relative_to(home)).read_text()
        assert text == text[: len(text) // 100_000] * 100_000
        with closing(sqlite3.connect(tmp_path / f"new{n}/dagster/runs.db")) as database:
            total = sum(square for _, square in SQUARES)
            assert database.execute("SELECT sum(square) FROM squares").fetchall() == [(total,)]


def test_a_backup_waits_for_a_command_that_is_at_work(home, tmp_path):
    import fcntl

    waited = []
    with (home / ".frontier.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_backup(
            home,
            {PRICES: tmp_path / "book.csv"},
            tmp_path / "b.tar.gz",
            NOW,
            lambda: (waited.append(1), fcntl.flock(lock, fcntl.LOCK_UN)),
        )
    assert waited == [1]


def test_a_backup_overwrites_nothing_and_is_not_kept_where_it_would_be_lost(home, archive, tmp_path):
    before = archive.read_bytes()
    for target, words in ((archive, "is there already"), (home / "store/b.tar.gz", "is lost with it")):
        with pytest.raises(StoreError, match=words):
            write_backup(home, {PRICES: tmp_path / "book.csv"}, target, NOW, nobody)
    assert archive.read_bytes() == before
    with pytest.raises(StoreError, match="nothing is stored"):
        write_backup(tmp_path / "none", {PRICES: tmp_path / "book.csv"}, tmp_path / "c.tar.gz", NOW, nobody)
    assert not (tmp_path / "none").exists()


def test_a_failed_backup_leaves_no_file(home, tmp_path):
    (home / "dagster/broken.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"broken\.db: not a readable database"):
        write_backup(home, {PRICES: tmp_path / "book.csv"}, tmp_path / "b.tar.gz", NOW, nobody)
    assert {path.name for path in tmp_path.iterdir()} == {"home", "book.csv"}


def test_a_home_that_holds_something_is_left_alone(home, archive):
    before = {name: (home / name).read_bytes() for name in names(home)}
    with pytest.raises(StoreError, match="holds something, and a backup never overwrites; found builds, candidates"):
        read_backup(archive, home, nobody)
    assert {name: (home / name).read_bytes() for name in names(home)} == before


@pytest.mark.parametrize("n_missing_bytes", [1, 8, 20, 500, 1500])
def test_a_truncated_archive_restores_nothing(archive, tmp_path, n_missing_bytes):
    archive.write_bytes(archive.read_bytes()[:-n_missing_bytes])
    with pytest.raises(StoreError, match="is damaged, or no backup; nothing was restored"):
        read_backup(archive, tmp_path / "in/new", nobody)
    assert not (tmp_path / "in").exists()


def test_an_empty_home_that_was_there_is_still_there_after_a_refusal(archive, tmp_path):
    archive.write_bytes(archive.read_bytes()[:-20])
    (tmp_path / "new").mkdir()
    with pytest.raises(StoreError, match="is damaged"):
        read_backup(archive, tmp_path / "new", nobody)
    assert names(tmp_path / "new") == set()
    assert (tmp_path / "new").is_dir()


def test_a_flipped_byte_of_the_checksum_restores_nothing(archive, tmp_path):
    content = bytearray(archive.read_bytes())
    content[-6] ^= 1
    archive.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged, or no backup"):
        read_backup(archive, tmp_path / "new", nobody)
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_no_archive_or_none_is_one_sentence(tmp_path):
    (tmp_path / "b.tar.gz").write_bytes(os.urandom(1000))
    with pytest.raises(StoreError, match="is damaged, or no backup"):
        read_backup(tmp_path / "b.tar.gz", tmp_path / "new", nobody)
    with pytest.raises(StoreError, match="no such file"):
        read_backup(tmp_path / "c.tar.gz", tmp_path / "new", nobody)
    with pytest.raises(StoreError, match="is a folder; expected a file that frontier backup wrote"):
        read_backup(tmp_path, tmp_path / "new", nobody)


def handmade(path: Path, members: list[tarfile.TarInfo], listed: dict[str, bytes], **changes: object) -> Path:
    """An archive of members, whose content is their name, and a list of files that follows them."""
    entries = {name: {"sha256": sha256_of(content), "bytes": len(content)} for name, content in listed.items()}
    text = json.dumps({"format": 1, "made_at": NOW.isoformat(), "files": entries, **changes}).encode()
    last = tarfile.TarInfo(LIST)
    last.size = len(text)
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(member.name.encode()[: member.size]))
        tar.addfile(last, io.BytesIO(text))
    return path


def regular(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = len(name.encode())
    return member


def link(kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo("store/link")
    member.type, member.linkname = kind, "../../../outside"
    return member


@pytest.mark.parametrize(
    "member",
    [regular("../outside"), regular("store/../../outside"), link(tarfile.SYMTYPE), link(tarfile.LNKTYPE)],
    ids=lambda member: f"{member.name} {member.type!r}",
)
def test_nothing_is_written_outside_the_home_folder(tmp_path, member):
    archive = handmade(tmp_path / "b.tar.gz", [regular("store/a"), member], {"store/a": b"store/a"})
    with pytest.raises(StoreError, match="is nothing that a backup holds"):
        read_backup(archive, tmp_path / "in" / "new", nobody)
    assert names(tmp_path) == {"b.tar.gz"}
    assert not (tmp_path / "in").exists()


def test_an_absolute_name_is_refused(tmp_path):
    name = str(tmp_path / "outside")
    archive = handmade(tmp_path / "b.tar.gz", [regular(name)], {name: name.encode()})
    with pytest.raises(StoreError, match="is nothing that a backup holds"):
        read_backup(archive, tmp_path / "new", nobody)
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("listed", "changes", "words"),
    [
        ({"store/a": b"store/b"}, {}, "store/a is not what the backup's list says"),
        ({"store/a": b"store/a", "store/b": b""}, {}, "store/b is not what the backup's list says"),
        ({}, {}, "store/a is not what the backup's list says"),
        ({"store/a": b"store/a"}, {"format": 2}, "it is of format 2, and this version reads 1"),
        ({"store/a": b"store/a"}, {"files": ["store/a"]}, "is damaged, or no backup"),
    ],
)
def test_a_file_that_is_not_what_the_list_says_restores_nothing(tmp_path, listed, changes, words):
    archive = handmade(tmp_path / "b.tar.gz", [regular("store/a")], listed, **changes)
    with pytest.raises(StoreError, match=words):
        read_backup(archive, tmp_path / "new", nobody)
    assert names(tmp_path / "new") == set()


def test_a_restore_that_was_killed_does_not_keep_the_next_one_out(archive, tmp_path):
    write_bytes(tmp_path / "new/.tmp-restore/store/half", b"ha")
    assert len(read_backup(archive, tmp_path / "new", nobody).files) == 6
    assert not (tmp_path / "new/.tmp-restore").exists()
