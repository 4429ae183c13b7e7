"""A build is named by everything that it is made from, and proves itself against its block."""

import dataclasses

import pytest

from pipeline.builds.plan import HostPython, Plan, refuse_other_version, refuse_strangers
from pipeline.errors import BuildError
from pipeline.registry.builds import Build, Server
from tests.io.images import image_plan
from tests.io.tiny_wheels import lock_of, plan_of

HOST = HostPython("3.11.7", "linux-x86_64")
LOCK = lock_of(tiny="a" * 64)


def test_the_same_plan_on_the_same_host_has_the_same_hash():
    assert plan_of(LOCK).build_hash(HOST) == plan_of(LOCK).build_hash(HOST)
    assert len(plan_of(LOCK).build_hash(HOST)) == 16


@pytest.mark.parametrize(
    ("plan", "host"),
    [
        (plan_of(lock_of(tiny="b" * 64)), HOST),
        (plan_of(LOCK, no_deps=LOCK), HOST),
        (plan_of(LOCK, installer="pip"), HOST),
        (plan_of(LOCK, distribution="tiny_engine==1.0"), HOST),
        (plan_of(LOCK), HostPython("3.11.8", "linux-x86_64")),
        (plan_of(LOCK), HostPython("3.11.7", "linux-aarch64")),
    ],
    ids=["lock", "second lock", "installer", "distribution", "python", "platform"],
)
def test_each_thing_that_it_is_made_from_changes_the_hash(plan, host):
    assert plan.build_hash(host) != plan_of(LOCK).build_hash(HOST)


def test_what_is_not_installed_does_not_change_the_hash():
    plan = plan_of(LOCK)
    renamed = dataclasses.replace(plan, build=plan.build.model_copy(update={"name": "Tiny, renamed"}))
    asked = plan_of(LOCK, variables={"A": "1"}, parser_code="parser = 1")
    assert renamed.build_hash(HOST) == asked.build_hash(HOST) == plan.build_hash(HOST)


@pytest.mark.parametrize(("version", "reported"), [("1.0", "1.0"), ("1.0", "1.0+cpu"), ("1.0+cpu", "1.0")])
def test_a_local_part_of_a_version_does_not_matter(version, reported):
    refuse_other_version(plan_of(LOCK, version=version), reported)


@pytest.mark.parametrize("reported", ["1.0.1", "1", "", "1.0rc1"])
def test_another_version_is_refused(reported):
    with pytest.raises(BuildError, match=r"expected 1\.0, found"):
        refuse_other_version(plan_of(LOCK), reported)


def test_what_no_lock_pins_at_that_version_is_refused():
    refuse_strangers(plan_of(LOCK), {"tiny": "1.0"})
    with pytest.raises(BuildError, match=r"tiny 1\.1 was installed and is in no lock"):
        refuse_strangers(plan_of(LOCK), {"tiny": "1.1"})


def test_an_image_is_named_by_its_digest_and_platform_alone():
    plan, other = image_plan(), image_plan(reference="tiny/engine@sha256:" + "0" * 64)
    assert plan.build_hash(HOST) == plan.build_hash(HostPython("3.12.1", "linux-x86_64"))
    assert plan.build_hash(HOST) == image_plan(options=["--ipc=host"], variables={"A": "1"}).build_hash(HOST)
    hashes = {plan.build_hash(HOST), other.build_hash(HOST), plan.build_hash(HostPython("3.11.7", "linux-aarch64"))}
    assert len(hashes) == 3


def test_a_server_is_named_by_its_address_and_what_its_block_says():
    def build_hash(**server: object) -> str:
        named = {"url": "http://10.0.0.7:8000", **server}
        build = Build(name="S", role="engine", engine="vllm", version="1.0", host="cuda", server=Server(**named))
        return Plan("s", build, {}).build_hash(HOST)

    assert build_hash() == build_hash()
    changed = [build_hash(url="http://10.0.0.8:8000"), build_hash(model="m"), build_hash(facts={"gpus_held": "8"})]
    assert len({build_hash(), *changed}) == 4


def test_only_an_environment_asks_for_a_python():
    image_plan().refuse_other_python(HostPython("3.99.0", "linux-x86_64"))
