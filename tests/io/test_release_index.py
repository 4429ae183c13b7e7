"""The newest release and its lock, from a folder of wheels that stands for the index; uv itself is the real one."""

import pytest

from pipeline.builds.plan import Plan
from pipeline.errors import BuildError
from resources.release_index import ReleaseIndex
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of


@pytest.fixture
def wheels(tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path, wheels):
    return ReleaseIndex(root_dir=str(tmp_path / "candidates"), wheels_dir=str(wheels))


def plan(wheels) -> Plan:
    return plan_of(lock_of(tiny=make_wheel(wheels)), releases="tiny")


def test_the_newest_is_the_highest_final_release(index, wheels):
    assert index.newest(plan(wheels)) == "1.0"
    for version in ("1.9", "1.10", "2.0rc1", "3.0.dev1"):
        make_wheel(wheels, version=version)
    assert index.newest(plan(wheels)) == "1.10"


def test_a_version_is_locked_once_with_every_requirement_and_hash(index, wheels, tmp_path):
    more = make_wheel(wheels, "more")
    tiny = make_wheel(wheels, version="2.0", requires="more")
    made = index.plan(plan(wheels), "2.0")
    assert {(pin.name, pin.version, pin.sha256) for pin in made.pins()} == {
        ("more", "1.0", (more,)), ("tiny", "2.0", (tiny,)),
    }  # fmt: skip
    assert (made.build.version, made.slug) == ("2.0", "tiny")
    [lock] = (tmp_path / "candidates").iterdir()
    assert lock.name == "tiny-2.0.lock"
    make_wheel(wheels, "more", version="1.1")
    assert index.plan(plan(wheels), "2.0") == made
    assert index.candidates(plan(wheels)) == {"2.0": made}


@pytest.mark.parametrize("version", ["", "1.0"])
def test_the_registrys_own_version_keeps_its_own_lock(index, wheels, version):
    assert index.plan(plan(wheels), version) == plan(wheels)
    assert index.candidates(plan(wheels)) == {}


def test_a_release_that_is_not_there_leaves_no_lock(index, wheels):
    with pytest.raises(BuildError, match=r"tiny==9\.0 has no lock \(exit code 1\)") as error:
        index.plan(plan(wheels), "9.0")
    assert "\n" not in str(error.value)
    assert index.candidates(plan(wheels)) == {}


def test_a_build_that_follows_no_releases_is_refused_before_anything_is_asked(index, wheels):
    pinned = plan_of(lock_of(tiny=make_wheel(wheels)))
    for ask in (index.newest, lambda p: index.plan(p, "2.0")):
        with pytest.raises(BuildError, match="follows no releases"):
            ask(pinned)


def test_an_index_that_does_not_answer_is_one_sentence(tmp_path, wheels, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    index = ReleaseIndex(root_dir=str(tmp_path / "candidates"))
    with pytest.raises(
        BuildError, match="tiny: the package index does not say what the newest tiny is; found "
    ) as error:
        index.newest(plan(wheels))
    assert "\n" not in str(error.value)
