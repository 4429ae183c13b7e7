"""A disk that is full at a random moment, and folders that cannot be written: one sentence, and nothing is lost."""

import shutil
import subprocess
from pathlib import Path

import pytest

from resources.device_lock import Devices
from tests.faults import acts
from tests.faults.site_states import files_of, is_whole
from tests.graph.conftest import DAY

MIB = 2**20


def seeded(home: Path, name: str, pairs: tuple[tuple[float, float], ...], **columns: object) -> None:
    with acts.opened(home) as graph:
        graph.derive(graph.seed(*pairs, name=name, **columns))


def fill(disk: Path, n_free: int) -> Path:
    """A file that leaves so many bytes."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        file.write(bytes(max(shutil.disk_usage(disk).free - n_free, 0)))
    return ballast


def sentence(lines: list[str]) -> str:
    assert not any("Traceback" in line for line in lines), lines
    return lines[-1]


def test_a_publication_on_a_full_disk_is_a_sentence_and_keeps_the_old_site(small_disk, frontier, rng):
    seeded(small_disk, "a.json", acts.OLD)
    assert frontier("publish")[0] == 0
    old = files_of(small_disk / "site")
    seeded(small_disk, "b.json", acts.NEW, run_id="r2", run_date=DAY.replace(day=5))
    ballast = fill(small_disk, rng.choice((0, rng.randrange(64 * 1024), rng.randrange(2 * MIB))))
    code, _, lines = frontier("publish")
    if code:
        assert any(words in sentence(lines) for words in ("No space left on device", "no space is left on the disk"))
        assert "again" in sentence(lines)
        assert files_of(small_disk / "site") == old
    assert is_whole(small_disk / "site")
    ballast.unlink()
    assert frontier("publish")[0] == 0
    new = files_of(small_disk / "site")
    assert new != old
    assert frontier("publish")[0] == 0
    assert files_of(small_disk / "site") == new
    assert [p.name for p in small_disk.glob(".tmp-*")] == []


def test_a_sweep_on_a_full_disk_ends_its_server_and_is_taken_up_when_there_is_space(small_disk, children, rng):
    acts.prepare_sweep(small_disk)
    ballast = fill(small_disk, rng.randrange(MIB))
    child = children.start(acts.sweep, small_disk)
    child.join(120)
    assert child.exitcode in (0, 1)
    ballast.unlink()
    children.run(acts.sweep, small_disk)
    assert len(list((small_disk / "store/sweeps").rglob("*.points.parquet"))) == 3
    devices = Devices(root_dir=str(small_disk / "devices"))
    assert devices.quarantined("cpu") is None
    with devices.hold("cpu", lambda _: None):
        pass


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


def test_a_read_only_home_is_a_sentence_and_is_as_it_was(small_disk, frontier):
    seeded(small_disk, "a.json", acts.OLD)
    assert frontier("publish")[0] == 0
    before = files_of(small_disk)
    remount(small_disk, "ro")
    try:
        code, _, lines = frontier("publish")
    finally:
        remount(small_disk, "rw")
    assert code == 1
    assert sentence(lines) == (
        f"error: {small_disk}: cannot be written (Read-only file system). "
        "Correct its permissions, or name another folder with --home."
    )
    assert files_of(small_disk) == before
    assert frontier("publish")[0] == 0


@pytest.mark.parametrize("folder", ["store", "dagster", "site"])
def test_a_read_only_folder_of_a_home_is_a_sentence_and_the_site_stays(small_disk, frontier, folder):
    seeded(small_disk, "a.json", acts.OLD)
    assert frontier("publish")[0] == 0
    old = files_of(small_disk / "site")
    seeded(small_disk, "b.json", acts.NEW, run_id="r2", run_date=DAY.replace(day=5))
    place = small_disk / folder
    subprocess.run(["mount", "--bind", str(place), str(place)], check=True)
    try:
        remount(place, "bind,ro")
        code, _, lines = frontier("publish")
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert code == 1
    assert "permissions" in sentence(lines)
    assert files_of(small_disk / "site") == old
    assert frontier("publish")[0] == 0
    assert files_of(small_disk / "site") != old


def test_a_home_below_a_file_is_a_sentence(tmp_path, frontier):
    (tmp_path / "home").write_text("a file")
    code, _, lines = frontier("publish")
    assert code == 1
    assert "is no home folder and none can be made there (Not a directory)" in sentence(lines)
    assert (tmp_path / "home").read_text() == "a file"
