"""Which release is newer, and what a candidate shares with the build that it may replace."""

import pytest

from pipeline.builds.plan import HostPython
from pipeline.builds.releases import candidate, is_newer, newest_of, requirement
from pipeline.errors import BuildError
from tests.io.tiny_wheels import lock_of, plan_of

HOST = HostPython("3.11.7", "linux-x86_64")
LOCK, OTHER = lock_of(tiny="a" * 64), lock_of(tiny="b" * 64)


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.33.1", "0.33.0", True),
        ("0.100.0", "0.99.0", True),  # by number, not by letter
        ("0.33.0", "0.33.0", False),
        ("0.33", "0.33.0", False),
        ("0.32.9", "0.33.0", False),
        ("0.33.0.post1", "0.33.0", True),
        ("0.34.0rc1", "0.33.0", False),
        ("0.34.0.dev3", "0.33.0", False),
        ("0.33.0", None, True),
    ],
)
def test_a_final_release_above_the_other_is_newer(version, than, newer):
    assert is_newer(version, than) is newer


def test_the_newest_of_none_is_none():
    assert newest_of([]) is None
    assert newest_of(["0.9.0", "0.10.0", "0.10.0rc1"]) == "0.10.0"


def test_a_candidate_is_the_same_build_at_another_version_from_another_lock():
    plan = plan_of(LOCK, releases="tiny", parser_code="parser = 1")
    other = candidate(plan, "2.0", OTHER)
    assert (other.slug, other.build.version, other.lock_texts) == (plan.slug, "2.0", {"tiny.lock": OTHER})
    assert other.build.environment == plan.build.environment
    assert other.build_hash(HOST) != plan.build_hash(HOST)


def test_a_build_that_follows_no_releases_has_no_candidate():
    with pytest.raises(BuildError, match="tiny: follows no releases"):
        candidate(plan_of(LOCK), "2.0", OTHER)


def test_what_is_no_version_is_refused():
    assert requirement(plan_of(LOCK, releases="tiny"), "2.0") == "tiny==2.0"
    with pytest.raises(BuildError, match="tiny: not a version; found latest"):
        requirement(plan_of(LOCK, releases="tiny"), "latest")
