from pathlib import Path

import pytest

from pipeline.errors import StoreError
from resources.home_folder import refuse_impossible_home


def test_a_folder_and_a_name_in_one_are_homes_and_nothing_is_made(tmp_path):
    refuse_impossible_home(tmp_path)
    refuse_impossible_home(tmp_path / "home")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("home", "reason"),
    [
        ("file", "Not a directory"),
        ("file/home", "Not a directory"),
        ("no/home", "No such file or directory"),
        ("/proc/home", "No such file or directory"),
    ],
)
def test_a_file_a_folder_that_is_not_there_and_one_that_takes_nothing_are_none(tmp_path, home, reason):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=rf"is no home folder and none can be made there \({reason}\)"):
        refuse_impossible_home(tmp_path / home)


@pytest.mark.parametrize("home", ["shut", "shut/home"])
def test_a_folder_that_cannot_be_read_is_none(tmp_path, monkeypatch, home):
    """Permissions mean nothing to root, so the kernel's answer is put in place."""
    (tmp_path / "shut").mkdir()

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", refused)
    monkeypatch.setattr("tempfile.mkdtemp", refused)
    with pytest.raises(StoreError, match="Permission denied"):
        refuse_impossible_home(Path(tmp_path / home))
